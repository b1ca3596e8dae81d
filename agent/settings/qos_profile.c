// SPDX-License-Identifier: Apache-2.0
#include "qos_profile.h"

#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/device_filter.h"
#include "rna/model/qos.h"

enum { VALUE_MAX = 32 };

/* -- Values ------------------------------------------------------------------------------------ */

static bool take_priorities(const char *text, uint64_t *ret)
{
	*ret = 0;
	if (strcmp(text, "none") == 0)
		return true;
	for (;; text += 2) {
		if (text[0] < '0' || text[0] >= '0' + RNA_PRIORITY_COUNT)
			return false;
		*ret |= UINT64_C(1) << (text[0] - '0');
		if (text[1] == '\0')
			return true;
		if (text[1] != ',')
			return false;
	}
}

static bool take_trust(const char *text, uint64_t *ret)
{
	for (enum rna_trust trust = RNA_TRUST_PCP; trust <= RNA_TRUST_DSCP; trust++)
		if (strcmp(text, rna_trust_name(trust)) == 0) {
			*ret = trust;
			return true;
		}
	return false;
}

static bool take_priority(const char *text, uint64_t *ret)
{
	return rna_parse_u64(text, ret) == 0 && *ret < RNA_PRIORITY_COUNT;
}

static bool take_mtu(const char *text, uint64_t *ret)
{
	return rna_parse_u64(text, ret) == 0 && *ret >= 68 /* RFC 791 */ && *ret <= 65535;
}

static bool take_class(const char *text, uint64_t *ret)
{
	if (strcmp(text, "none") == 0) {
		*ret = RNA_QOS_PLAN_NONE;
		return true;
	}
	return rna_parse_u64(text, ret) == 0 && *ret <= UINT8_MAX;
}

static bool take_tos(const char *text, uint64_t *ret)
{
	return rna_parse_u64(text, ret) == 0 && *ret <= UINT8_MAX;
}

/* -- Entries ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	bool (*take)(const char *text, uint64_t *ret);
	const char *allowed;
} plans[RNA_QOS_PLAN_COUNT] = {
	[RNA_QOS_PLAN_PFC] = {"pfc", take_priorities,
			      "priorities 0 to 7 such as 3 or 3,4, or none"},
	[RNA_QOS_PLAN_ECN] = {"ecn", take_priorities,
			      "priorities 0 to 7 such as 3 or 3,4, or none"},
	[RNA_QOS_PLAN_TRUST] = {"trust", take_trust, "pcp or dscp"},
	[RNA_QOS_PLAN_DSCP] = {"dscp", take_priority, "a priority, 0 to 7"}, /* and its number */
	[RNA_QOS_PLAN_MTU] = {"mtu", take_mtu, "bytes, 68 to 65535"},
	[RNA_QOS_PLAN_TRAFFIC_CLASS] = {"traffic_class", take_class, "0 to 255, or none"},
	[RNA_QOS_PLAN_CM_TOS] = {"cm_tos", take_tos, "0 to 255"},
};

static bool take_dscp(const char *name, unsigned *ret)
{
	static const size_t prefix = sizeof("dscp") - 1;
	uint64_t number;

	if (strncmp(name, "dscp", prefix) != 0 || rna_parse_u64(name + prefix, &number) < 0 ||
	    number >= RNA_DSCP_COUNT)
		return false;
	*ret = (unsigned)number;
	return true;
}

static bool find_plan(const char *name, struct rna_qos_expectation *ret)
{
	for (enum rna_qos_plan what = 0; what < RNA_QOS_PLAN_COUNT; what++) {
		bool found = what == RNA_QOS_PLAN_DSCP ? take_dscp(name, &ret->dscp)
						       : strcmp(name, plans[what].name) == 0;

		ret->what = what;
		if (found)
			return true;
	}
	return false;
}

/* Everything but the value, which stays a text. */
static bool take_apart(const char *entry, struct rna_qos_expectation *ret, char value[VALUE_MAX])
{
	const char *equals = strchr(entry, '='), *blank = strchr(entry, ' ');
	const char *end = blank ? blank : entry + strlen(entry);
	char name[VALUE_MAX];

	*ret = (struct rna_qos_expectation){.glob = blank ? blank + 1 : NULL};
	if (!equals || equals > end || equals - entry >= VALUE_MAX || end - equals > VALUE_MAX)
		return false;
	memcpy(name, entry, (size_t)(equals - entry));
	name[equals - entry] = '\0';
	memcpy(value, equals + 1, (size_t)(end - equals - 1));
	value[end - equals - 1] = '\0';
	return find_plan(name, ret) && (!ret->glob || rna_device_glob_is_valid(ret->glob));
}

bool rna_qos_expectation_parse(const char *entry, struct rna_qos_expectation *ret)
{
	char value[VALUE_MAX];

	return take_apart(entry, ret, value) && plans[ret->what].take(value, &ret->value);
}

bool rna_qos_expectation_is_valid(const char *entry)
{
	struct rna_qos_expectation ignored;

	return rna_qos_expectation_parse(entry, &ignored);
}

void rna_qos_expectation_explain(const char *entry, struct rna_strbuf *out)
{
	struct rna_qos_expectation expectation;
	char value[VALUE_MAX];

	if (take_apart(entry, &expectation, value) &&
	    !plans[expectation.what].take(value, &expectation.value))
		rna_strbuf_printf(out, "%s wants %s", plans[expectation.what].name,
				  plans[expectation.what].allowed);
}
