// SPDX-License-Identifier: Apache-2.0
/*
 * The words for our enumerations, in one place: metric labels, JSON and tables show them, so they
 * are as stable as metric names. A code that we do not know gets "?" or "unknown", never a guess.
 */
#include <errno.h>

#include "rna/model/device.h"
#include "rna/model/expectation.h"
#include "rna/model/finding.h"
#include "rna/model/gid.h"
#include "rna/model/netdev.h"
#include "rna/model/node_status.h"
#include "rna/model/origin.h"
#include "rna/model/part.h"
#include "rna/model/value.h"
#include "rna/model/web_status.h"

/* names[index], or fallback where there is none. */
static const char *pick(const char *const *names, size_t count, uint64_t index,
			const char *fallback)
{
	return index < count && names[index] ? names[index] : fallback;
}

#define PICK(names, index, fallback) pick(names, RNA_ARRAY_SIZE(names), index, fallback)

const char *rna_function_name(enum rna_function function)
{
	static const char *const names[] = {
		[RNA_FUNCTION_PF] = "pf",
		[RNA_FUNCTION_VF] = "vf",
		[RNA_FUNCTION_SF] = "sf",
		[RNA_FUNCTION_VIRTUAL] = "virtual",
		[RNA_FUNCTION_SWITCH_MANAGEMENT] = "switch-management",
	};

	return PICK(names, function, "?");
}

const char *rna_node_type_name(enum rna_node_type type)
{
	static const char *const names[] = {
		[RNA_NODE_TYPE_CA] = "ca",
		[RNA_NODE_TYPE_SWITCH] = "switch",
		[RNA_NODE_TYPE_ROUTER] = "router",
		[RNA_NODE_TYPE_RNIC] = "rnic",
		[RNA_NODE_TYPE_USNIC] = "usnic",
		[RNA_NODE_TYPE_USNIC_UDP] = "usnic_udp",
		[RNA_NODE_TYPE_UNSPECIFIED] = "unspecified",
	};

	return PICK(names, type, "unknown");
}

/* The words of sysfs link_layer. */
const char *rna_link_layer_name(enum rna_link_layer layer)
{
	static const char *const names[] = {
		[RNA_LINK_LAYER_INFINIBAND] = "InfiniBand",
		[RNA_LINK_LAYER_ETHERNET] = "Ethernet",
	};

	return PICK(names, layer, "Unknown");
}

/* The words of sysfs state, as ibstat users know them. */
bool rna_port_is_up(const struct rna_port_state_value *port)
{
	return port && rna_value_is_known(port->state) &&
	       (port->state.number == RNA_PORT_ACTIVE ||
		port->state.number == RNA_PORT_ACTIVE_DEFER);
}

const char *rna_port_state_name(uint64_t state)
{
	static const char *const names[] = {
		[RNA_PORT_NOP] = "NOP",       [RNA_PORT_DOWN] = "DOWN",
		[RNA_PORT_INIT] = "INIT",     [RNA_PORT_ARMED] = "ARMED",
		[RNA_PORT_ACTIVE] = "ACTIVE", [RNA_PORT_ACTIVE_DEFER] = "ACTIVE_DEFER",
	};

	return PICK(names, state, "?");
}

/* The words of sysfs phys_state. */
const char *rna_physical_state_name(uint64_t state)
{
	static const char *const names[] = {
		[RNA_PHYSICAL_SLEEP] = "Sleep",
		[RNA_PHYSICAL_POLLING] = "Polling",
		[RNA_PHYSICAL_DISABLED] = "Disabled",
		[RNA_PHYSICAL_TRAINING] = "PortConfigurationTraining",
		[RNA_PHYSICAL_LINK_UP] = "LinkUp",
		[RNA_PHYSICAL_RECOVERY] = "LinkErrorRecovery",
		[RNA_PHYSICAL_TEST] = "Phy Test",
	};

	return PICK(names, state, "?");
}

/* The words of sysfs class/net/X/operstate. */
const char *rna_operstate_name(enum rna_operstate state)
{
	static const char *const names[] = {
		[RNA_OPER_UNKNOWN] = "unknown", [RNA_OPER_NOTPRESENT] = "notpresent",
		[RNA_OPER_DOWN] = "down",       [RNA_OPER_LOWERLAYERDOWN] = "lowerlayerdown",
		[RNA_OPER_TESTING] = "testing", [RNA_OPER_DORMANT] = "dormant",
		[RNA_OPER_UP] = "up",
	};

	return PICK(names, state, "unknown");
}

const char *rna_netdev_source_name(enum rna_netdev_source source)
{
	static const char *const names[] = {
		[RNA_NETDEV_BY_NETLINK] = "netlink",   [RNA_NETDEV_BY_GID] = "gid",
		[RNA_NETDEV_BY_DEV_PORT] = "dev_port", [RNA_NETDEV_BY_PARENT] = "parent",
		[RNA_NETDEV_BY_IPOIB] = "ipoib",
	};

	return PICK(names, source, "?");
}

/* Labels have the words of show_gids' users; sysfs has "IB/RoCE v1" for two of them. */
const char *rna_gid_type_name(enum rna_gid_type type)
{
	static const char *const names[] = {
		[RNA_GID_TYPE_IB] = "IB",
		[RNA_GID_TYPE_ROCE_V1] = "RoCE v1",
		[RNA_GID_TYPE_ROCE_V2] = "RoCE v2",
	};

	return PICK(names, type, "unknown");
}

const char *rna_gid_family_name(enum rna_gid_family family)
{
	static const char *const names[] = {
		[RNA_GID_IPV4] = "ipv4",
		[RNA_GID_IPV6] = "ipv6",
	};

	return PICK(names, family, "?");
}

const char *rna_source_name(enum rna_source source)
{
	static const char *const names[] = {
		[RNA_SOURCE_POLL] = "poll",       [RNA_SOURCE_RTNETLINK] = "rtnetlink",
		[RNA_SOURCE_UEVENT] = "uevent",   [RNA_SOURCE_VERBS] = "verbs",
		[RNA_SOURCE_COUNTER] = "counter",
	};

	return PICK(names, source, "?");
}

const char *rna_expectation_reason_name(enum rna_expectation_reason reason)
{
	static const char *const names[] = {
		[RNA_EXPECTATION_NONE] = "unknown",
		[RNA_EXPECTATION_CONFIGURED] = "configured",
		[RNA_EXPECTATION_ACCEPTED] = "accepted",
		[RNA_EXPECTATION_REMEMBERED] = "remembered",
		[RNA_EXPECTATION_SIBLINGS] = "siblings",
	};

	return PICK(names, reason, "?");
}

const char *rna_whereabouts_name(enum rna_whereabouts whereabouts)
{
	static const char *const names[] = {
		[RNA_WHEREABOUTS_LOST] = "lost",
		[RNA_WHEREABOUTS_UNBOUND] = "unbound",
		[RNA_WHEREABOUTS_MOVED] = "moved",
		[RNA_WHEREABOUTS_UNKNOWN] = "unknown",
	};

	return PICK(names, whereabouts, "?");
}

const char *rna_severity_name(enum rna_severity severity)
{
	static const char *const names[] = {
		[RNA_SEVERITY_INFO] = "info",
		[RNA_SEVERITY_WARNING] = "warning",
		[RNA_SEVERITY_CRITICAL] = "critical",
	};

	return PICK(names, severity, "?");
}

const char *rna_value_state_name(enum rna_value_state state)
{
	static const char *const names[] = {
		[RNA_VALUE_ABSENT] = "absent",
		[RNA_VALUE_OK] = "ok",
		[RNA_VALUE_UNREADABLE] = "unreadable",
		[RNA_VALUE_SATURATED] = "saturated",
	};

	return PICK(names, state, "?");
}

const char *rna_reason_name(enum rna_reason reason)
{
	static const char *const names[RNA_REASON_COUNT] = {
		[RNA_REASON_INVALID] = "invalid",
		[RNA_REASON_DENIED] = "denied",
		[RNA_REASON_IO] = "io",
		[RNA_REASON_GONE] = "gone",
		[RNA_REASON_UNSUPPORTED] = "unsupported",
		[RNA_REASON_TIMEOUT] = "timeout",
		[RNA_REASON_FORMAT] = "format",
		[RNA_REASON_OTHER] = "other",
	};

	return PICK(names, reason, "other");
}

enum rna_reason rna_reason_from_errno(int error)
{
	switch (error < 0 ? -error : error) {
	case EINVAL:
		return RNA_REASON_INVALID;
	case EACCES:
	case EPERM:
		return RNA_REASON_DENIED;
	case EIO:
		return RNA_REASON_IO;
	case ENODEV:
	case ENOENT:
	case ENXIO:
		return RNA_REASON_GONE;
	case EOPNOTSUPP:
	case ENOSYS:
	case EPROTONOSUPPORT:
		return RNA_REASON_UNSUPPORTED;
	case ETIMEDOUT:
	case EAGAIN:
		return RNA_REASON_TIMEOUT;
	/* What our own parsers say of text that was read but is not as documented. */
	case EBADMSG:
	case EILSEQ:
	case EMSGSIZE:
	case ERANGE:
		return RNA_REASON_FORMAT;
	default:
		return RNA_REASON_OTHER;
	}
}

const char *rna_kubernetes_result_name(enum rna_kubernetes_result result)
{
	static const char *const names[] = {
		[RNA_KUBERNETES_OK] = "ok",
		[RNA_KUBERNETES_REFUSED] = "refused",
		[RNA_KUBERNETES_UNAUTHORIZED] = "unauthorized",
		[RNA_KUBERNETES_FORBIDDEN] = "forbidden",
		[RNA_KUBERNETES_THROTTLED] = "throttled",
		[RNA_KUBERNETES_FAILED] = "failed",
		[RNA_KUBERNETES_UNREACHABLE] = "unreachable",
	};

	return names[result];
}

const char *rna_node_backend_name(enum rna_node_backend_id id)
{
	static const char *const names[RNA_NODE_BACKEND_COUNT] = {
		[RNA_NODE_BACKEND_API] = "api",
		[RNA_NODE_BACKEND_NFD] = "nfd",
	};

	return names[id];
}

const char *rna_login_name(enum rna_login login)
{
	static const char *const names[RNA_LOGIN_COUNT] = {
		[RNA_LOGIN_OK] = "ok",
		[RNA_LOGIN_REFUSED] = "refused",
		[RNA_LOGIN_LIMITED] = "limited",
	};

	return names[login];
}
