// SPDX-License-Identifier: Apache-2.0
/*
 * The MAD backend: management datagrams that a node sends to its own InfiniBand ports, through
 * /dev/infiniband/umadN, opened, used and closed within one call.
 *
 * Two things are asked: PortInfo of the subnet management agent, for what the link could do beside
 * what it does, and the counters of the performance management agent (PMA). A PMA is reached by
 * LID, so its port has to be ACTIVE, and each round begins with PortInfo: a LID that was kept from
 * an earlier one may be another node's by now, whose counters would pass as ours.
 *
 * libibumad opens, sends and receives. umad_open_port() with a port number finds the node in /dev
 * by reading sys/class/infiniband_mad/umadN/{ibdev,port}, which ask nothing of a device; what
 * would, umad_get_ca() and umad_get_port(), is not called. libibmad knows the layouts. Its mad_rpc
 * functions are left out: they write their failures to stderr, and their transaction numbers come
 * from a counter that threads would share.
 */
#include "mad.h"

#include "rate.h"

#include <errno.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <string.h>

/* Without it umad_open_port() complains on stderr. */
#define UMAD_ABI "sys/class/infiniband_mad/abi_version"

/* A port answers itself within a millisecond. Both tries fit below the default poll.handover. */
enum { TIMEOUT_MS = 100, RETRIES = 1, PATIENCE_MS = TIMEOUT_MS * (RETRIES + 1) + 25 };

/* -- What the bytes say ------------------------------------------------------------------------ */

bool rna_mad_can_name(const char *device)
{
	return strlen(device) < UMAD_CA_NAME_LEN;
}

/* The most lanes among the bits of a width mask. */
static struct rna_value most_lanes(uint32_t mask)
{
	unsigned most = 0;

	for (uint32_t bit = 1; bit <= 16; bit *= 2) {
		unsigned lanes = mask & bit ? rna_lanes_from_code(bit) : 0;

		most = lanes > most ? lanes : most;
	}
	return most ? rna_value_ok(most) : (struct rna_value){0};
}

/* Bits of the two fields of a speed: SDR, DDR, QDR, and FDR and faster. */
struct speed_bits {
	uint32_t base;
	uint32_t extended;
};

/* The fastest speed among them, as a code of verbs. */
static struct rna_value fastest(struct speed_bits bits)
{
	enum { EXTENDED_SHIFT = 4 }; /* bit 0 is FDR, whose code is 16; FDR10 has no bit */
	uint32_t codes = bits.extended << EXTENDED_SHIFT | (bits.base & 7);

	return codes ? rna_value_ok(1U << (31 - __builtin_clz(codes))) : (struct rna_value){0};
}

static struct rna_value field(uint8_t *data, enum MAD_FIELDS id)
{
	return rna_value_ok(mad_get_field(data, 0, id));
}

static void read_speeds(uint8_t *info, struct rna_mad_port *ret)
{
	enum { HAS_EXTENDED = 1 << 14, EXTENDED_DISABLED = 30 };
	struct speed_bits active = {.base = mad_get_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F)};
	struct speed_bits enabled = {.base = mad_get_field(info, 0, IB_PORT_LINK_SPEED_ENABLED_F)};
	struct speed_bits supported = {
		.base = mad_get_field(info, 0, IB_PORT_LINK_SPEED_SUPPORTED_F),
	};

	/* Without the capability these bits are reserved. */
	if (ret->capability_mask.number & HAS_EXTENDED) {
		active.extended = mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
		enabled.extended = mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_ENABLED_F);
		supported.extended = mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F);
	}
	if (enabled.extended == EXTENDED_DISABLED)
		enabled.extended = 0;
	ret->speed_code = fastest(active);
	ret->speed_enabled = fastest(enabled);
	ret->speed_supported = fastest(supported);
}

void rna_mad_read_port_info(uint8_t *info, struct rna_mad_port *ret)
{
	*ret = (struct rna_mad_port){
		.state = field(info, IB_PORT_STATE_F),
		.physical_state = field(info, IB_PORT_PHYS_STATE_F),
		.lid = field(info, IB_PORT_LID_F),
		.sm_lid = field(info, IB_PORT_SMLID_F),
		.sm_sl = field(info, IB_PORT_SMSL_F),
		.lmc = field(info, IB_PORT_LMC_F),
		.capability_mask = field(info, IB_PORT_CAPMASK_F),
		.lanes = most_lanes(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F)),
		.lanes_enabled = most_lanes(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_ENABLED_F)),
		.lanes_supported =
			most_lanes(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_SUPPORTED_F)),
	};
	read_speeds(info, ret);
}

/* The counters by their names in sysfs, and the fields of the two attributes that have them. */
static const struct {
	const char *file;
	enum MAD_FIELDS plain;
	enum MAD_FIELDS extended; /* IB_NO_FIELD: it has none */
} layout[] = {
	{"port_xmit_data", IB_PC_XMT_BYTES_F, IB_PC_EXT_XMT_BYTES_F},
	{"port_rcv_data", IB_PC_RCV_BYTES_F, IB_PC_EXT_RCV_BYTES_F},
	{"port_xmit_packets", IB_PC_XMT_PKTS_F, IB_PC_EXT_XMT_PKTS_F},
	{"port_rcv_packets", IB_PC_RCV_PKTS_F, IB_PC_EXT_RCV_PKTS_F},
	{"unicast_xmit_packets", IB_NO_FIELD, IB_PC_EXT_XMT_UPKTS_F},
	{"unicast_rcv_packets", IB_NO_FIELD, IB_PC_EXT_RCV_UPKTS_F},
	{"multicast_xmit_packets", IB_NO_FIELD, IB_PC_EXT_XMT_MPKTS_F},
	{"multicast_rcv_packets", IB_NO_FIELD, IB_PC_EXT_RCV_MPKTS_F},
	{"port_xmit_wait", IB_PC_XMT_WAIT_F, IB_NO_FIELD},
	{"symbol_error", IB_PC_ERR_SYM_F, IB_NO_FIELD},
	{"link_error_recovery", IB_PC_LINK_RECOVERS_F, IB_NO_FIELD},
	{"link_downed", IB_PC_LINK_DOWNED_F, IB_NO_FIELD},
	{"port_rcv_errors", IB_PC_ERR_RCV_F, IB_NO_FIELD},
	{"port_rcv_remote_physical_errors", IB_PC_ERR_PHYSRCV_F, IB_NO_FIELD},
	{"port_rcv_switch_relay_errors", IB_PC_ERR_SWITCH_REL_F, IB_NO_FIELD},
	{"port_xmit_discards", IB_PC_XMT_DISCARDS_F, IB_NO_FIELD},
	{"port_xmit_constraint_errors", IB_PC_ERR_XMTCONSTR_F, IB_NO_FIELD},
	{"port_rcv_constraint_errors", IB_PC_ERR_RCVCONSTR_F, IB_NO_FIELD},
	{"local_link_integrity_errors", IB_PC_ERR_LOCALINTEG_F, IB_NO_FIELD},
	{"excessive_buffer_overrun_errors", IB_PC_ERR_EXCESS_OVR_F, IB_NO_FIELD},
	{"VL15_dropped", IB_PC_VL15_DROPPED_F, IB_NO_FIELD},
};

_Static_assert(RNA_ARRAY_SIZE(layout) == RNA_MAD_COUNTERS, "one row each");

void rna_mad_init_counters(struct rna_mad_counters *counters)
{
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++)
		counters->items[i] = (struct rna_mad_counter){.file = layout[i].file};
}

/* What both attributes have is traffic: 32 bits here, which stick at their maximum. */
void rna_mad_read_counters(uint8_t *counters, struct rna_mad_counters *ret)
{
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++) {
		struct rna_value *value = &ret->items[i].value;

		if (layout[i].plain == IB_NO_FIELD)
			continue;
		if (layout[i].plain == IB_PC_XMT_WAIT_F &&
		    !(ret->capability.number & RNA_PMA_TRANSMIT_WAIT))
			continue;
		*value = field(counters, layout[i].plain);
		if (layout[i].extended != IB_NO_FIELD && value->number == UINT32_MAX)
			value->state = RNA_VALUE_SATURATED;
	}
}

void rna_mad_read_extended(uint8_t *extended, struct rna_mad_counters *ret)
{
	bool has_unicast = ret->capability.number & RNA_PMA_EXTENDED;

	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++) {
		bool only_here = layout[i].plain == IB_NO_FIELD;

		if (layout[i].extended != IB_NO_FIELD && (has_unicast || !only_here))
			ret->items[i].value =
				rna_value_ok(mad_get_field64(extended, 0, layout[i].extended));
	}
}

/* -- Asking ------------------------------------------------------------------------------------ */

/* A port that is open, and its answer to the newest question. */
struct session {
	int umad;  /* an open descriptor */
	int class; /* that agent is registered for; 0: none yet */
	int agent;
	uint64_t transaction;
	uint8_t answer[IB_MAD_SIZE];
};

static void close_session(struct session *session)
{
	if (session->umad >= 0)
		(void)umad_close_port(session->umad); /* its agents go with it */
}

static bool serves(const struct rna_root *root, const struct rna_device *device, unsigned port)
{
	RNA_FREE char *path = NULL;
	char text[32];

	if (!rna_mad_can_name(device->name) || !rna_root_exists(root, UMAD_ABI))
		return false;
	if (asprintf(&path, "%s/ports/%u/link_layer", device->sysfs_path, port) < 0) {
		path = NULL;
		return false;
	}
	return rna_root_read(root, path, text, sizeof(text)) > 0 && strcmp(text, "InfiniBand") == 0;
}

/* libibumad says only EIO; errno is still what open(2) left. Like verbs: no way to it is normal. */
static int open_session(const struct rna_root *root, const struct rna_device *device, unsigned port,
			struct session *session)
{
	if (!serves(root, device, port))
		return -ENOENT;
	errno = 0;
	session->umad = umad_open_port(device->name, (int)port);
	if (session->umad >= 0)
		return 0;
	switch (errno) {
	case 0: /* it found no umadN of that port */
	case EACCES:
	case EPERM:
	case ENOENT:
		return -ENOENT;
	default:
		return -errno;
	}
}

/* What the status of an answer means, IBTA 13.4.7. */
static int answer_error(uint32_t status)
{
	enum { BUSY = 1 << 0, REDIRECT = 1 << 1, INVALID_FIELDS = 7 << 2 };

	if (status & (INVALID_FIELDS | REDIRECT))
		return -EOPNOTSUPP;
	return status & BUSY ? -EAGAIN : -EIO;
}

/*
 * Waits for the answer to the newest question. The kernel hands a MAD that was not answered back,
 * with a status; a device that hangs keeps even that from coming.
 */
static int receive(struct session *session, void *umad, const ib_rpc_t *rpc)
{
	enum MAD_FIELDS status_field =
		rpc->mgtclass == IB_SMI_DIRECT_CLASS ? IB_DRSMP_STATUS_F : IB_MAD_STATUS_F;
	uint8_t *mad = umad_get_mad(umad);
	uint32_t status;

	do {
		int length = IB_MAD_SIZE;
		int agent = umad_recv(session->umad, umad, &length, PATIENCE_MS);

		if (agent < 0)
			return errno ? -errno : agent;
		if (umad_status(umad))
			return -umad_status(umad);
	} while ((uint32_t)mad_get_field64(mad, 0, IB_MAD_TRID_F) != (uint32_t)rpc->trid);
	status = mad_get_field(mad, 0, status_field);
	if (status)
		return answer_error(status);
	memcpy(session->answer, mad, sizeof(session->answer));
	return 0;
}

/* A port without that kind of management refuses: RoCE, rxe, a virtual function. */
static int need_agent(struct session *session, int class)
{
	if (session->class == class)
		return 0;
	session->agent = umad_register(session->umad, class, 1, 0, NULL);
	session->class = session->agent < 0 ? 0 : class;
	return session->agent < 0 ? -EOPNOTSUPP : 0;
}

/* Get of an attribute; the answer's data are at offset rpc->dataoffs of session->answer. */
static int ask(struct session *session, ib_rpc_t *rpc, ib_portid_t *to, void *data)
{
	RNA_FREE void *umad = umad_alloc(1, umad_size() + IB_MAD_SIZE);
	int status = umad ? need_agent(session, rpc->mgtclass) : -ENOMEM;

	if (status < 0)
		return status;
	rpc->method = IB_MAD_METHOD_GET;
	rpc->trid = ++session->transaction;
	if (mad_build_pkt(umad, rpc, to, NULL, data) < 0)
		return -EINVAL;
	if (umad_send(session->umad, session->agent, umad, IB_MAD_SIZE, TIMEOUT_MS, RETRIES) < 0)
		return -errno;
	return receive(session, umad, rpc);
}

static int ask_port_info(struct session *session, unsigned port, struct rna_mad_port *ret)
{
	ib_rpc_t rpc = {
		.mgtclass = IB_SMI_DIRECT_CLASS,
		.attr = {.id = IB_ATTR_PORT_INFO, .mod = port},
		.dataoffs = IB_SMP_DATA_OFFS,
		.datasz = IB_SMP_DATA_SIZE,
	};
	ib_portid_t self = {0};
	int status = ask(session, &rpc, &self, NULL);

	if (status == 0)
		rna_mad_read_port_info(session->answer + IB_SMP_DATA_OFFS, ret);
	return status;
}

/* Asks the PMA behind a LID, which is the port's own, for an attribute of that port. */
static int ask_pma(struct session *session, unsigned attribute, unsigned port, int lid)
{
	uint8_t data[IB_PC_DATA_SZ] = {0};
	ib_portid_t to = {.lid = lid, .qp = 1, .qkey = IB_DEFAULT_QP1_QKEY};
	ib_rpc_t rpc = {
		.mgtclass = IB_PERFORMANCE_CLASS,
		.attr = {.id = attribute},
		.dataoffs = IB_PC_DATA_OFFS,
		.datasz = IB_PC_DATA_SZ,
	};

	if (attribute != CLASS_PORT_INFO)
		mad_set_field(data, 0, IB_PC_PORT_SELECT_F, port);
	return ask(session, &rpc, &to, data);
}

static int ask_counters(struct session *session, unsigned port, int lid,
			struct rna_mad_counters *ret)
{
	uint8_t *data = session->answer + IB_PC_DATA_OFFS;
	int status;

	if (ret->capability.state != RNA_VALUE_OK) {
		status = ask_pma(session, CLASS_PORT_INFO, port, lid);
		if (status < 0)
			return status;
		ret->capability = field(data, IB_CPI_CAPMASK_F);
	}
	status = ask_pma(session, IB_GSI_PORT_COUNTERS, port, lid);
	if (status < 0)
		return status;
	rna_mad_read_counters(data, ret);
	if (!(ret->capability.number & (RNA_PMA_EXTENDED | RNA_PMA_EXTENDED_NO_UNICAST)))
		return 0;
	status = ask_pma(session, IB_GSI_PORT_COUNTERS_EXT, port, lid);
	if (status == 0)
		rna_mad_read_extended(data, ret);
	return status;
}

static int query_port(const struct rna_root *root, const struct rna_device *device, unsigned port,
		      struct rna_mad_port *ret)
{
	RNA_CLEANUP(close_session) struct session session = {.umad = -1};
	int status = open_session(root, device, port, &session);

	return status < 0 ? status : ask_port_info(&session, port, ret);
}

static int query_counters(const struct rna_root *root, const struct rna_device *device,
			  unsigned port, struct rna_mad_counters *ret)
{
	RNA_CLEANUP(close_session) struct session session = {.umad = -1};
	struct rna_mad_port info;
	int status = open_session(root, device, port, &session);

	if (status == 0)
		status = ask_port_info(&session, port, &info);
	if (status < 0)
		return status;
	if (info.state.number != RNA_PORT_ACTIVE)
		return -ENETDOWN;
	rna_mad_init_counters(ret);
	return ask_counters(&session, port, (int)info.lid.number, ret);
}

const struct rna_mad_backend rna_mad = {
	.serves = serves,
	.query_port = query_port,
	.query_counters = query_counters,
};
