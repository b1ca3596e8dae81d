// SPDX-License-Identifier: Apache-2.0
#include "peer_facts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rna/base/json_document.h"
#include "rna/base/parse.h"

enum {
	QPN_MAX = 0xffffff,
	LID_MAX = 0xbfff, /* of a port: IBTA 4.1.1 */
	MTU_MIN = 256,
	MTU_MAX = 4096,
	PORT_MAX = 254,
	TCP_PORT_MAX = 65535,
};

static const struct rna_json_limits limits = {
	.bytes = RNA_PEER_FACTS_BYTES,
	.memory = 1 << 20,
	.levels = 5,
	.flags = JSON_REJECT_DUPLICATES,
};

static int wrong(struct rna_error *error, const char *what)
{
	return rna_error_say(error, -EBADMSG, "%s is missing or wrong", what);
}

/* -- Members of objects ------------------------------------------------------------------------ */

static bool get_text(const json_t *object, const char *name, char *ret, size_t size)
{
	const json_t *member = json_object_get(object, name);
	const char *text = json_string_value(member);

	if (!text || json_string_length(member) >= size || strlen(text) >= size)
		return false;
	memcpy(ret, text, strlen(text) + 1);
	return true;
}

static bool get_number(const json_t *object, const char *name, uint64_t min, uint64_t max,
		       uint64_t *ret)
{
	const json_t *member = json_object_get(object, name);
	json_int_t value = json_integer_value(member);

	if (!json_is_integer(member) || value < 0 || (uint64_t)value < min || (uint64_t)value > max)
		return false;
	*ret = (uint64_t)value;
	return true;
}

static bool get_session(const json_t *object, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(object, "session"));

	return text && strspn(text, "0123456789abcdef") == 16 && text[16] == '\0' &&
	       rna_parse_hex_u64(text, ret) == 0 && *ret != 0;
}

/* -- Ports ------------------------------------------------------------------------------------- */

static bool get_qpns(const json_t *object, struct rna_probe_address *address)
{
	const json_t *list = json_object_get(object, "qpns");

	if (!json_is_array(list) || json_array_size(list) == 0 ||
	    json_array_size(list) > RNA_PROBE_QPS_MAX)
		return false;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_int_t qpn = json_integer_value(json_array_get(list, i));

		if (qpn < 2 || qpn > QPN_MAX) /* 0 and 1 are of the subnet manager and of CM */
			return false;
		address->qpns[address->qpn_count++] = (uint32_t)qpn;
	}
	return true;
}

static bool get_address(const json_t *object, struct rna_peer_port *port)
{
	const char *gid = json_string_value(json_object_get(object, "gid"));
	uint64_t lid, mtu;

	if (!gid || inet_pton(AF_INET6, gid, port->address.gid) != 1 ||
	    !get_number(object, "lid", 0, LID_MAX, &lid) ||
	    !get_number(object, "mtu", MTU_MIN, MTU_MAX, &mtu) || (port->infiniband && lid == 0) ||
	    !get_qpns(object, &port->address) || !get_session(object, &port->session))
		return false;
	port->address.lid = (uint16_t)lid;
	port->address.mtu = (uint32_t)mtu;
	return true;
}

static bool get_port(const json_t *object, struct rna_peer_port *ret)
{
	const char *use = json_string_value(json_object_get(object, "use"));
	const char *layer = json_string_value(json_object_get(object, "link_layer"));
	uint64_t number, rail = RNA_PROBE_RAIL_UNKNOWN;

	if (!get_text(object, "device", ret->device, sizeof(ret->device)) ||
	    ret->device[0] == '\0' || !get_number(object, "port", 1, PORT_MAX, &number) || !use ||
	    !layer || !get_text(object, "leaf", ret->leaf, sizeof(ret->leaf)))
		return false;
	if (json_object_get(object, "rail") &&
	    !get_number(object, "rail", 0, RNA_PROBE_RAIL_UNKNOWN - 1, &rail))
		return false;
	ret->port = (unsigned)number;
	ret->rail = (unsigned)rail;
	ret->infiniband = strcmp(layer, "infiniband") == 0;
	ret->open = strcmp(use, rna_probe_use_name(RNA_PROBE_OPEN)) == 0;
	return !ret->open || get_address(object, ret);
}

static int get_ports(const json_t *root, struct rna_peer_facts *ret, struct rna_error *error)
{
	const json_t *list = json_object_get(root, "ports");

	if (!json_is_array(list) || json_array_size(list) > RNA_PEER_PORTS_MAX)
		return wrong(error, "its list of ports");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!get_port(json_array_get(list, i), &ret->ports[ret->port_count++]))
			return rna_error_say(error, -EBADMSG, "its port %zu is described wrongly",
					     i);
	return 0;
}

/* -- The answer -------------------------------------------------------------------------------- */

static int check_version(const json_t *root, struct rna_error *error)
{
	const json_t *version = json_object_get(root, "version");

	if (!json_is_integer(version))
		return wrong(error, "the version of its answer");
	if (json_integer_value(version) != RNA_PROBE_VERSION)
		return rna_error_say(error, -EOPNOTSUPP,
				     "it speaks version %lld of probes, and this agent %d",
				     (long long)json_integer_value(version), RNA_PROBE_VERSION);
	return 0;
}

/* The port is absent where bandwidth is false. */
static bool get_bandwidth(const json_t *root, unsigned *ret)
{
	uint64_t port = 0;

	if (json_is_true(json_object_get(root, "bandwidth")) &&
	    !get_number(root, "bandwidth_port", 1, TCP_PORT_MAX, &port))
		return false;
	*ret = (unsigned)port;
	return true;
}

bool rna_peer_facts_tell_leaves(const struct rna_peer_facts *facts)
{
	for (size_t i = 0; i < facts->port_count; i++)
		if (facts->ports[i].leaf[0] != '\0')
			return true;
	return false;
}

bool rna_peer_facts_have_leaf(const struct rna_peer_facts *facts, const char *leaf)
{
	for (size_t i = 0; leaf[0] != '\0' && i < facts->port_count; i++)
		if (strcmp(facts->ports[i].leaf, leaf) == 0)
			return true;
	return false;
}

int rna_peer_facts_parse(const char *text, size_t len, struct rna_peer_facts *ret,
			 struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *root = NULL;
	const char *state;
	int status = rna_json_parse(text, len, &limits, &root, error);

	*ret = (struct rna_peer_facts){0};
	if (status == 0)
		status = check_version(root, error);
	if (status < 0)
		return status;
	state = json_string_value(json_object_get(root, "state"));
	if (!get_text(root, "node", ret->node, sizeof(ret->node)) || ret->node[0] == '\0')
		return wrong(error, "the name of its node");
	if (!get_text(root, "group", ret->group, sizeof(ret->group)) ||
	    !get_text(root, "key_check", ret->key_check, sizeof(ret->key_check)))
		return wrong(error, "its group or key");
	if (!state || !get_text(root, "why", ret->why, sizeof(ret->why)))
		return wrong(error, "the state of its prober");
	ret->runs = strcmp(state, "running") == 0;
	ret->late = json_is_true(json_object_get(root, "late"));
	if (!get_bandwidth(root, &ret->bandwidth_port))
		return wrong(error, "its TCP port for bandwidth");
	return get_ports(root, ret, error);
}
