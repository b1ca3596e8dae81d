// SPDX-License-Identifier: Apache-2.0
/*
 * Permits: Leases, of which an agent has to hold one while its Node has the taint. So no more Nodes
 * have it at once than there are Leases, however many agents find their node sick. The Leases come
 * with the installation of the agents, and a label lists them: there is one request, however many
 * there are. An agent takes one that has no holder, or whose holder did not renew it in time;
 * renews it with each look at the Node; and gives it back when the taint is gone. It writes with
 * the version that it has read, so that of several that take the same one the API lets one through.
 *
 * Where there is no permit, the Node does not get the taint, and loses one that it has. This is no
 * failure: the status says so, and the next look asks again.
 */
#include <string.h>

#include "rna/base/hash.h"
#include "rna/base/parse.h"

#include "json/json_writer.h"
#include "view/text.h"

#include "round.h"

#define GROUP "/apis/coordination.k8s.io/v1/namespaces/"
#define LABEL "rdma-node-agent/leases"
#define ADVICE                                                                                     \
	"; check that a Role allows the agent to list and patch the Leases of "                    \
	"kubernetes.taint_leases"

enum {
	TRIES_MAX = 3,
	LOOKS = 3, /* at the Node, in the time of a Lease: two of them come for certain */
};

/* -- What is wanted ---------------------------------------------------------------------------- */

static bool asks_for_taint(const struct rna_kube_round *round)
{
	return round->desired->taint && !round->api.options->taint_dry_run;
}

bool rna_kube_wants_taint(const struct rna_kube_round *round, const struct rna_kube_node *node)
{
	if (!asks_for_taint(round) || !round->api.options->taint_leases)
		return asks_for_taint(round);
	return round->permit == RNA_KUBE_PERMIT_UNKNOWN ? node->tainted
							: round->permit == RNA_KUBE_PERMIT_HELD;
}

/* A Node that has the taint has a permit for it, which an agent before this one may have taken. */
static bool may_hold_permit(const struct rna_kube_round *round)
{
	return round->permit == RNA_KUBE_PERMIT_HELD || round->node.tainted || round->cleanup;
}

bool rna_kube_has_permit(const struct rna_kube_round *round)
{
	return round->desired && round->desired->taint_decided &&
	       round->api.options->taint_leases &&
	       (asks_for_taint(round) || may_hold_permit(round));
}

bool rna_kube_lacks_permit(const struct rna_kube_round *round)
{
	return asks_for_taint(round) && round->permit == RNA_KUBE_PERMIT_UNKNOWN;
}

bool rna_kube_keeps_permit(const struct rna_kube_round *round)
{
	return !asks_for_taint(round) && may_hold_permit(round);
}

static void decide(struct rna_kube_round *round, enum rna_withheld why)
{
	round->permit =
		why == RNA_WITHHELD_NOTHING ? RNA_KUBE_PERMIT_HELD : RNA_KUBE_PERMIT_REFUSED;
	round->status.taint_withheld = why;
}

void rna_kube_review_permit(struct rna_kube_round *round)
{
	if (!round->desired || !round->desired->taint_decided)
		return;
	if (round->desired->taint && round->api.options->taint_dry_run)
		round->status.taint_withheld = RNA_WITHHELD_DRY_RUN;
	if (round->desired->taint)
		return;
	round->status.taint_withheld = RNA_WITHHELD_NOTHING;
	if (round->permit == RNA_KUBE_PERMIT_REFUSED)
		round->permit = RNA_KUBE_PERMIT_UNKNOWN;
}

/* -- Leases ------------------------------------------------------------------------------------ */

static bool is_held_by(const json_t *lease, const char *node)
{
	return rna_same_text(rna_json_text_of(json_object_get(lease, "spec"), "holderIdentity"),
			     node);
}

/* One whose holder has no times is held by a person, and for ever. */
static bool is_free(const json_t *lease, rna_usec now)
{
	const json_t *spec = json_object_get(lease, "spec");
	const char *holder = rna_json_text_of(spec, "holderIdentity");
	rna_usec renewed = rna_text_parse_time(rna_json_text_of(spec, "renewTime"));
	json_int_t seconds = json_integer_value(json_object_get(spec, "leaseDurationSeconds"));

	if (!holder || *holder == '\0')
		return true;
	return renewed > 0 && seconds > 0 &&
	       rna_usec_since(renewed, now) / RNA_USEC_PER_SEC > (uint64_t)seconds;
}

/* Agents that ask at the same time try different ones. */
static uint64_t preference(const char *node, const json_t *lease)
{
	const char *name = rna_json_text_of(json_object_get(lease, "metadata"), "name");

	return rna_hash_text(rna_hash_number(rna_hash_text(RNA_HASH_INIT, node), 0),
			     name ? name : "");
}

/* The one that the Node holds, else a free one if one is to be taken; NULL: there is none. */
static const json_t *choose(const json_t *leases, const char *node, bool take, rna_usec now)
{
	const json_t *chosen = NULL;

	for (size_t i = 0; i < json_array_size(leases); i++) {
		const json_t *lease = json_array_get(leases, i);

		if (is_held_by(lease, node))
			return lease;
		if (take && is_free(lease, now) &&
		    (!chosen || preference(node, lease) < preference(node, chosen)))
			chosen = lease;
	}
	return chosen;
}

static json_int_t duration_of(const struct rna_kubernetes_options *options)
{
	rna_usec look = options->look > 0 ? options->look : RNA_KUBERNETES_LOOK;

	return (json_int_t)((LOOKS * look + RNA_USEC_PER_SEC - 1) / RNA_USEC_PER_SEC);
}

/* A time of a Lease has microseconds (MicroTime), all six digits. */
static void write_time(rna_usec now, struct rna_strbuf *out)
{
	rna_text_add_time(out, now);
	if (rna_strbuf_ok(out))
		out->len--; /* the Z */
	rna_strbuf_puts(out, ".000000Z");
}

static void write_patch(const struct rna_kube_round *round, const json_t *lease, bool take,
			struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf time = RNA_STRBUF_INIT;
	struct rna_json_writer writer = {0};
	const char *node = round->api.node;
	json_t *spec, *metadata = json_object();

	write_time(round->now.realtime, &time);
	if (!take)
		spec = json_pack("{s:n, s:n, s:n, s:n}", "holderIdentity", "acquireTime",
				 "renewTime", "leaseDurationSeconds");
	else
		spec = json_pack("{s:s, s:s, s:I}", "holderIdentity", node, "renewTime", time.data,
				 "leaseDurationSeconds", duration_of(round->api.options));
	if (take && !is_held_by(lease, node))
		rna_json_set_text(&writer, spec, "acquireTime", time.data);
	rna_json_set_text(&writer, metadata, "resourceVersion",
			  rna_json_text_of(json_object_get(lease, "metadata"), "resourceVersion"));
	rna_json_write(&writer, json_pack("{s:o, s:o}", "metadata", metadata, "spec", spec),
		       RNA_JSON_INDENT, out);
}

/* -- Requests ---------------------------------------------------------------------------------- */

static void write_path(const struct rna_kube_api *api, struct rna_strbuf *out)
{
	const char *leases = api->options->taint_leases;

	rna_strbuf_printf(out, GROUP "%.*s/leases", (int)strcspn(leases, "/"), leases);
}

/* fresh: not from the API server's memory, which may lag: few hold a permit, and many ask. */
static enum rna_kubernetes_result list_leases(struct rna_kube_api *api, bool fresh,
					      struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	const struct rna_kube_request request = {.method = "GET", .path = &path, .advice = ADVICE};
	const char *name = strchr(api->options->taint_leases, '/');

	write_path(api, &path);
	rna_strbuf_puts(&path, "?labelSelector=");
	rna_strbuf_add_encoded(&path, LABEL "=");
	rna_strbuf_add_encoded(&path, name ? name + 1 : "");
	rna_strbuf_puts(&path, fresh ? "" : "&resourceVersion=0");
	return rna_kube_call(api, &request, answer);
}

static enum rna_kubernetes_result patch_lease(struct rna_kube_round *round, const json_t *lease,
					      bool take, struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT, body = RNA_STRBUF_INIT;
	const char *name = rna_json_text_of(json_object_get(lease, "metadata"), "name");
	const struct rna_kube_request request = {
		.method = "PATCH",
		.path = &path,
		.body = &body,
		.type = "application/merge-patch+json",
		.advice = ADVICE,
	};

	write_path(&round->api, &path);
	rna_strbuf_add_char(&path, '/');
	rna_strbuf_add_encoded(&path, name ? name : "");
	rna_strbuf_puts(&path, "?fieldManager=rdma-node-agent");
	write_patch(round, lease, take, &body);
	return rna_kube_call(&round->api, &request, answer);
}

/* Takes or renews a permit, or gives it back. */
static enum rna_kubernetes_result try_permit(struct rna_kube_round *round, bool take, bool fresh,
					     struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_json_free_p) json_t *list = NULL;
	const json_t *leases, *lease;

	if (list_leases(&round->api, fresh, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	list = rna_kube_parse(answer);
	if (!list)
		return rna_kube_fail_memory(answer);
	leases = json_object_get(list, "items");
	lease = choose(leases, round->api.node, take, round->now.realtime);
	if (lease && patch_lease(round, lease, take, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	if (take)
		decide(round, lease                         ? RNA_WITHHELD_NOTHING
			      : json_array_size(leases) > 0 ? RNA_WITHHELD_LIMIT
							    : RNA_WITHHELD_NO_LEASES);
	return RNA_KUBERNETES_OK;
}

/* Until one is taken that no other agent takes at the same time. */
static enum rna_kubernetes_result change_permit(struct rna_kube_round *round, bool take,
						struct rna_kube_answer *answer)
{
	for (int i = 0; i < TRIES_MAX; i++)
		if (try_permit(round, take, i > 0 || may_hold_permit(round), answer) ==
			    RNA_KUBERNETES_OK ||
		    answer->reply.status != RNA_KUBE_CONFLICT)
			break;
	return answer->result;
}

/* An API server that starts denies everything for a moment: a second refusal counts. */
enum rna_kubernetes_result rna_kube_take_permit(struct rna_kube_round *round,
						struct rna_kube_answer *answer)
{
	if (!asks_for_taint(round))
		return RNA_KUBERNETES_OK; /* rna_kube_return_permit() does what is to be done */
	(void)change_permit(round, true, answer);
	if (rna_kube_is_refusal(answer->result) && round->waits[RNA_KUBE_TASK_PERMIT].failures > 0)
		decide(round, answer->reply.status == RNA_KUBE_CONFLICT ? RNA_WITHHELD_LIMIT
									: RNA_WITHHELD_DENIED);
	round->open[RNA_KUBE_TASK_TAINT] |= rna_kube_is_task_behind(round, RNA_KUBE_TASK_TAINT);
	return answer->result;
}

/* While the Node has the taint still, it counts. What the API refuses ends with the Lease's time.
 */
enum rna_kubernetes_result rna_kube_return_permit(struct rna_kube_round *round,
						  struct rna_kube_answer *answer)
{
	if (asks_for_taint(round) || round->node.tainted)
		return RNA_KUBERNETES_OK;
	if (change_permit(round, false, answer) == RNA_KUBERNETES_OK ||
	    rna_kube_is_refusal(answer->result)) {
		round->permit = RNA_KUBE_PERMIT_UNKNOWN;
		answer->result = RNA_KUBERNETES_OK;
	}
	return answer->result;
}
