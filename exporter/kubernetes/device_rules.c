// SPDX-License-Identifier: Apache-2.0
/*
 * Taints of devices (DRA): for each device in the ResourceSlices of this Node that is a NIC of the
 * desired, or a virtual function of one, a DeviceTaintRule. Its selector has no expressions since
 * v1beta2, but names one device by driver, pool and name (Kubernetes 1.36,
 * staging/src/k8s.io/api/resource/v1beta2/types.go); so the devices are found by their attributes
 * here: resource.kubernetes.io/pciBusID, dra.net/pciAddress and dra.net/rdmaDevice, and what other
 * drivers call so. The pool is the Node's own: drivers of devices on a node name it so
 * (k8s.io/dynamic-resource-allocation/kubeletplugin), and the admission policy of the chart allows
 * no other.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "rna/base/hash.h"
#include "rna/base/json_document.h"
#include "rna/base/parse.h"

#include "json/json_writer.h"

#include "round.h"

#define GROUP         "/apis/resource.k8s.io/"
#define PREFIX        "rdma-node-agent-"
#define OWNER         "rdma-node-agent"
#define NODE_LABEL    "rdma-node-agent/node"
#define MANAGER_LABEL "app.kubernetes.io/managed-by"
#define ADVICE                                                                                     \
	"; check that a ClusterRole allows the agent to list resourceslices, and to list, "        \
	"create, "                                                                                 \
	"patch and delete devicetaintrules (resource.k8s.io)"

enum { ARENA = 16 * 1024, NAME_SIZE = 64, LABEL_MAX = 63 };

/* A rule that is there, or shall be. */
struct rule {
	struct rule *next;
	char name[NAME_SIZE];
	const char *driver, *pool, *device; /* that it selects */
	const char *value, *effect;         /* of its taint */
	const char *owner;                  /* UID of the Node with which it goes, or NULL */
	bool wanted;                        /* one that is there */
};

struct rules {
	struct rna_arena *arena;
	size_t count;
	struct rule *first;
	bool failed; /* no memory */
};

/* NULL: no memory. */
static struct rule *new_rule(struct rules *rules, const char *name)
{
	struct rule *rule = rna_arena_alloc(rules->arena, sizeof(*rule));

	rules->failed |= !rule;
	if (!rule)
		return NULL;
	(void)snprintf(rule->name, sizeof(rule->name), "%s", name);
	rule->next = rules->first;
	rules->first = rule;
	rules->count++;
	return rule;
}

static struct rule *find_rule(const struct rules *rules, const char *name)
{
	struct rule *rule = rules->first;

	while (rule && strcmp(rule->name, name) != 0)
		rule = rule->next;
	return rule;
}

/* -- Texts ------------------------------------------------------------------------------------- */

/* The value of the label by which the rules of a Node are listed: its name, or a hash of that. */
static void write_node_value(const char *node, struct rna_strbuf *out)
{
	if (strlen(node) <= LABEL_MAX)
		rna_strbuf_puts(out, node);
	else
		rna_strbuf_printf(out, "%016" PRIx64, rna_hash_text(RNA_HASH_INIT, node));
}

/* Names of rules are the cluster's: the same device always has the same. */
static void name_rule(const char *node, struct rule *rule)
{
	uint64_t hash = rna_hash_number(rna_hash_text(RNA_HASH_INIT, node), 0);

	hash = rna_hash_number(rna_hash_text(hash, rule->driver), 0);
	hash = rna_hash_text(hash, rule->device);
	(void)snprintf(rule->name, sizeof(rule->name), PREFIX "%016" PRIx64, hash);
}

/*
 * Owned by the Node, so that the garbage collector deletes it with the Node; as no owner that
 * blocks, because an agent may not update nodes/finalizers (OwnerReferencesPermissionEnforcement).
 */
static void write_rule(const struct rna_kube_api *api, const struct rule *rule,
		       struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf version = RNA_STRBUF_INIT, node = RNA_STRBUF_INIT;
	struct rna_json_writer writer = {0};
	json_t *metadata, *selector, *taint;

	rna_strbuf_printf(&version, "resource.k8s.io/%s", api->rules_version);
	write_node_value(api->node, &node);
	metadata = json_pack("{s:s, s:{s:s, s:s}, s:[{s:s, s:s, s:s, s:s}]}", "name", rule->name,
			     "labels", MANAGER_LABEL, OWNER, NODE_LABEL, node.data,
			     "ownerReferences", "apiVersion", "v1", "kind", "Node", "name",
			     api->node, "uid", rule->owner);
	selector = json_pack("{s:s, s:s, s:s}", "driver", rule->driver, "pool", rule->pool,
			     "device", rule->device);
	taint = json_pack("{s:s, s:s, s:s}", "key", api->options->device_taint_key, "value",
			  rule->value, "effect", rule->effect);
	rna_json_write(&writer,
		       json_pack("{s:s, s:s, s:o, s:{s:o, s:o}}", "apiVersion", version.data,
				 "kind", "DeviceTaintRule", "metadata", metadata, "spec",
				 "deviceSelector", selector, "taint", taint),
		       RNA_JSON_INDENT, out);
}

/* -- Requests ---------------------------------------------------------------------------------- */

static enum rna_kubernetes_result ask(struct rna_kube_api *api, const char *method,
				      const struct rna_strbuf *path, const struct rna_strbuf *body,
				      struct rna_kube_answer *answer)
{
	const struct rna_kube_request request = {
		.method = method,
		.path = path,
		.type = "application/apply-patch+yaml",
		.body = body,
		.advice = ADVICE,
	};

	return rna_kube_call(api, &request, answer);
}

static enum rna_kubernetes_result list_rules_of(struct rna_kube_api *api, const char *version,
						const char *selector,
						struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	rna_strbuf_printf(&path, GROUP "%s/devicetaintrules?labelSelector=", version);
	rna_strbuf_add_encoded(&path, selector);
	return ask(api, "GET", &path, NULL, answer);
}

/* v1 since Kubernetes 1.37, v1beta2 since 1.36; before that, selectors were others. */
static enum rna_kubernetes_result list_rules(struct rna_kube_api *api, const char *selector,
					     struct rna_kube_answer *answer)
{
	static const char *const versions[] = {"v1", "v1beta2"};

	if (api->rules_version &&
	    (list_rules_of(api, api->rules_version, selector, answer) == RNA_KUBERNETES_OK ||
	     answer->reply.status != RNA_KUBE_NOT_FOUND))
		return answer->result;
	api->rules_version = NULL;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(versions); i++) {
		if (list_rules_of(api, versions[i], selector, answer) == RNA_KUBERNETES_OK)
			api->rules_version = versions[i];
		if (answer->reply.status != RNA_KUBE_NOT_FOUND)
			return answer->result;
	}
	(void)rna_error_say(&answer->error, -ENOTSUP,
			    "the cluster has no DeviceTaintRules (resource.k8s.io v1 or v1beta2, "
			    "Kubernetes 1.36 and later, where that version is served); set "
			    "kubernetes.device_taints to off");
	return answer->result;
}

static enum rna_kubernetes_result list_slices(struct rna_kube_api *api,
					      struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	rna_strbuf_puts(&path, GROUP "v1/resourceslices?resourceVersion=0&fieldSelector=");
	rna_strbuf_printf(&path, "spec.nodeName%%3D%s", api->node);
	return ask(api, "GET", &path, NULL, answer);
}

static void write_path(const struct rna_kube_api *api, const struct rule *rule,
		       struct rna_strbuf *out)
{
	rna_strbuf_printf(out, GROUP "%s/devicetaintrules/%s", api->rules_version, rule->name);
}

static enum rna_kubernetes_result apply_rule(struct rna_kube_api *api, const struct rule *rule,
					     struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT, body = RNA_STRBUF_INIT;

	write_path(api, rule, &path);
	rna_strbuf_puts(&path, "?fieldManager=rdma-node-agent&force=true");
	write_rule(api, rule, &body);
	return ask(api, "PATCH", &path, &body, answer);
}

/* One that is gone already is as good. */
static enum rna_kubernetes_result delete_rule(struct rna_kube_api *api, const struct rule *rule,
					      struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	write_path(api, rule, &path);
	if (ask(api, "DELETE", &path, NULL, answer) != RNA_KUBERNETES_OK &&
	    answer->reply.status == RNA_KUBE_NOT_FOUND)
		answer->result = RNA_KUBERNETES_OK;
	return answer->result;
}

/* -- Replies ----------------------------------------------------------------------------------- */

static const char *keep(struct rules *rules, const json_t *object, const char *name)
{
	return rna_arena_keep(rules->arena, rna_json_text_of(object, name), &rules->failed);
}

/* Only those of our own pool: a label alone does not make a rule ours. pool: NULL: of any. */
static void read_rule(const json_t *object, const struct rna_kube_api *api, const char *pool,
		      struct rules *ret)
{
	const json_t *spec = json_object_get(object, "spec");
	const json_t *selector = json_object_get(spec, "deviceSelector");
	const json_t *taint = json_object_get(spec, "taint");
	const json_t *metadata = json_object_get(object, "metadata");
	const json_t *owners = json_object_get(metadata, "ownerReferences");
	const char *name = rna_json_text_of(metadata, "name");
	struct rule *rule;

	if (!name || strlen(name) >= NAME_SIZE || strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    (pool && !rna_same_text(rna_json_text_of(selector, "pool"), pool)))
		return;
	rule = new_rule(ret, name);
	if (!rule)
		return;
	rule->driver = keep(ret, selector, "driver");
	rule->pool = keep(ret, selector, "pool");
	rule->device = keep(ret, selector, "device");
	rule->value = keep(ret, taint, "value");
	rule->owner = keep(ret, json_array_get(owners, 0), "uid");
	/* with a key of former settings it is written again */
	if (rna_same_text(rna_json_text_of(taint, "key"), api->options->device_taint_key))
		rule->effect = keep(ret, taint, "effect");
}

static void read_rules(const struct rna_kube_answer *answer, const struct rna_kube_api *api,
		       const char *pool, struct rules *ret)
{
	RNA_CLEANUP(rna_json_free_p) json_t *list = rna_kube_parse(answer);
	const json_t *items = json_object_get(list, "items");

	ret->failed |= !list;
	for (size_t i = 0; i < json_array_size(items); i++)
		read_rule(json_array_get(items, i), api, pool, ret);
}

/* "resource.kubernetes.io/pciBusID" is called "pciBusID". */
static bool is_called(const char *attribute, const char *name)
{
	const char *slash = strrchr(attribute, '/');

	return strcmp(slash ? slash + 1 : attribute, name) == 0;
}

static bool has_address(const struct rna_node_device_taint *taint, const char *address)
{
	if (taint->pci_address && strcasecmp(taint->pci_address, address) == 0)
		return true;
	return RNA_ANY(i, taint->function_count, strcasecmp(taint->functions[i], address) == 0);
}

static bool is_device(const struct rna_node_device_taint *taint, json_t *attributes)
{
	const char *name;
	json_t *value;

	json_object_foreach (attributes, name, value) {
		const char *text = rna_json_text_of(value, "string");

		if (!text)
			continue;
		if ((is_called(name, "pciBusID") || is_called(name, "pciAddress")) &&
		    has_address(taint, text))
			return true;
		if (is_called(name, "rdmaDevice") && strcmp(text, taint->device) == 0)
			return true;
	}
	return false;
}

static const struct rna_node_device_taint *taint_of(const struct rna_desired_node *desired,
						    const json_t *device)
{
	json_t *attributes = json_object_get(device, "attributes");

	return RNA_FIND(i, desired->device_taints, desired->device_taint_count,
			is_device(&desired->device_taints[i], attributes));
}

/* -- The task ---------------------------------------------------------------------------------- */

/* At the end of all, taints of devices go that former settings asked for, too. */
bool rna_kube_has_devices(const struct rna_kube_round *round)
{
	return round->desired && (round->api.options->device_taint_effect || round->cleanup);
}

/* A list that may lack devices, while a new one is still letting its links come up, is no news. */
bool rna_kube_lacks_devices(const struct rna_kube_round *round)
{
	return round->desired->device_taints_complete && !round->devices_only;
}

void rna_kube_write_devices(const struct rna_kube_words *words, struct rna_strbuf *out)
{
	const struct rna_desired_node *desired = words->desired;

	rna_strbuf_puts(out, "devices:\n"); /* even none is something that was written */
	RNA_EACH (taint, desired->device_taints, desired->device_taint_count) {
		rna_strbuf_printf(out, "%s %s %s", taint->device,
				  taint->pci_address ? taint->pci_address : "-", taint->reason);
		for (size_t j = 0; j < taint->function_count; j++)
			rna_strbuf_printf(out, " %s", taint->functions[j]);
		rna_strbuf_add_char(out, '\n');
	}
}

static bool is_as_desired(const struct rule *there, const struct rule *desired)
{
	return there && rna_same_text(there->value, desired->value) &&
	       rna_same_text(there->effect, desired->effect) &&
	       rna_same_text(there->owner, desired->owner) &&
	       rna_same_text(there->driver, desired->driver) &&
	       rna_same_text(there->device, desired->device);
}

/* A device may be in two generations of a pool: its rule is written once. */
static enum rna_kubernetes_result apply_to_device(struct rna_kube_round *round, const char *driver,
						  const json_t *device, struct rules *rules,
						  struct rna_kube_answer *answer)
{
	const struct rna_node_device_taint *taint = taint_of(round->desired, device);
	struct rule desired = {
		.driver = driver,
		.pool = round->api.node,
		.device = rna_json_text_of(device, "name"),
		.value = taint ? taint->reason : NULL,
		.effect = round->api.options->device_taint_effect,
		.owner = round->node.uid,
	};
	struct rule *there;

	if (!taint || !desired.device)
		return RNA_KUBERNETES_OK;
	name_rule(round->api.node, &desired);
	there = find_rule(rules, desired.name);
	if (!(there && there->wanted) && !is_as_desired(there, &desired) &&
	    apply_rule(&round->api, &desired, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	if (!there) {
		there = new_rule(rules, desired.name);
		round->status.device_taints++;
	}
	if (there)
		there->wanted = true;
	return RNA_KUBERNETES_OK;
}

/* To the devices in the slices that were answered. */
static enum rna_kubernetes_result apply_rules(struct rna_kube_round *round, struct rules *rules,
					      struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_json_free_p) json_t *list = rna_kube_parse(answer);
	const json_t *items = json_object_get(list, "items");

	rules->failed |= !list;
	for (size_t i = 0; i < json_array_size(items); i++) {
		const json_t *spec = json_object_get(json_array_get(items, i), "spec");
		const json_t *devices = json_object_get(spec, "devices");
		const char *driver = rna_json_text_of(spec, "driver");

		if (!driver ||
		    !rna_same_text(rna_json_text_of(json_object_get(spec, "pool"), "name"),
				   round->api.node))
			continue;
		for (size_t j = 0; j < json_array_size(devices); j++)
			if (apply_to_device(round, driver, json_array_get(devices, j), rules,
					    answer) != RNA_KUBERNETES_OK)
				return answer->result;
	}
	return RNA_KUBERNETES_OK;
}

static enum rna_kubernetes_result delete_rules(struct rna_kube_api *api, const struct rules *there,
					       size_t *left, struct rna_kube_answer *answer)
{
	for (const struct rule *rule = there->first; rule; rule = rule->next) {
		if (rule->wanted)
			continue;
		if (delete_rule(api, rule, answer) != RNA_KUBERNETES_OK)
			return answer->result;
		--*left;
	}
	return answer->result;
}

static enum rna_kubernetes_result list_own(struct rna_kube_round *round,
					   struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf selector = RNA_STRBUF_INIT;

	rna_strbuf_puts(&selector, NODE_LABEL "=");
	write_node_value(round->api.node, &selector);
	if (!rna_strbuf_ok(&selector))
		return rna_kube_fail_memory(answer);
	return list_rules(&round->api, selector.data, answer);
}

/* What was never allowed, or never there, left nothing behind. */
static bool is_nothing_to_clean(const struct rna_kube_round *round,
				const struct rna_kube_answer *answer)
{
	return round->cleanup && !round->api.options->device_taint_effect &&
	       (answer->reply.status == RNA_KUBE_NOT_FOUND ||
		answer->result == RNA_KUBERNETES_FORBIDDEN);
}

static enum rna_kubernetes_result make_rules(struct rna_kube_round *round, struct rna_arena *arena,
					     struct rna_kube_answer *answer)
{
	struct rules rules = {.arena = arena};

	if (list_own(round, answer) != RNA_KUBERNETES_OK)
		return is_nothing_to_clean(round, answer) ? RNA_KUBERNETES_OK : answer->result;
	read_rules(answer, &round->api, round->api.node, &rules);
	round->status.device_taints = rules.count;
	if (round->desired->device_taint_count > 0 &&
	    (rna_kube_know_node(round, answer) != RNA_KUBERNETES_OK ||
	     list_slices(&round->api, answer) != RNA_KUBERNETES_OK ||
	     apply_rules(round, &rules, answer) != RNA_KUBERNETES_OK))
		return answer->result;
	if (rules.failed)
		return rna_kube_fail_memory(answer);
	return round->desired->device_taints_complete
		       ? delete_rules(&round->api, &rules, &round->status.device_taints, answer)
		       : answer->result;
}

enum rna_kubernetes_result rna_kube_send_devices(struct rna_kube_round *round,
						 struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);

	if (!arena)
		return rna_kube_fail_memory(answer);
	if (make_rules(round, arena, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	round->devices_only = round->desired->device_taints_complete;
	return RNA_KUBERNETES_OK;
}

/* names: each with a null byte behind it. */
static bool is_among(const char *name, const struct rna_strbuf *names)
{
	for (size_t at = 0; name && at < names->len; at += strlen(names->data + at) + 1)
		if (strcmp(names->data + at, name) == 0)
			return true;
	return false;
}

enum rna_kubernetes_result rna_kube_delete_device_rules(struct rna_kube_api *api,
							const struct rna_strbuf *nodes,
							bool dry_run, size_t *ret,
							struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rules there = {.arena = arena};
	size_t left;

	if (!arena)
		return rna_kube_fail_memory(answer);
	if (list_rules(api, MANAGER_LABEL "=" OWNER, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	read_rules(answer, api, NULL, &there);
	if (there.failed)
		return rna_kube_fail_memory(answer);
	left = there.count;
	for (struct rule *rule = there.first; nodes && rule; rule = rule->next) {
		rule->wanted = !is_among(rule->pool, nodes);
		left -= rule->wanted;
	}
	*ret = left;
	return dry_run ? answer->result : delete_rules(api, &there, &left, answer);
}
