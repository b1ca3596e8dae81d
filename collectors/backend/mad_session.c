// SPDX-License-Identifier: Apache-2.0
/*
 * Sends a MAD and receives its answer.
 *
 * libibumad opens, sends and receives. umad_open_port() with a port number finds the device node by
 * reading sys/class/infiniband_mad/umadN/{ibdev,port}, which does not access the device;
 * umad_get_ca() and umad_get_port() do, and are not called. libibmad provides the layouts. Its
 * mad_rpc functions are not used: they write errors to stderr, and all threads would share their
 * transaction counter.
 */
#include "mad_session.h"

#include <errno.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <string.h>

#include "mad.h"

_Static_assert(RNA_MAD_SIZE == IB_MAD_SIZE && RNA_MAD_DATA == IB_SMP_DATA_OFFS &&
		       RNA_MAD_DATA == IB_PC_DATA_OFFS && RNA_MAD_DATA == IB_CC_DATA_OFFS,
	       "one place for all");

/* If this file is missing, umad_open_port() writes to stderr. */
#define UMAD_ABI "sys/class/infiniband_mad/abi_version"

/*
 * A port answers its own node within a millisecond. Both tries fit below the default poll.handover.
 */
enum { TIMEOUT_MS = 100, RETRIES = 1, PATIENCE_MS = TIMEOUT_MS * (RETRIES + 1) + 25 };

bool rna_mad_can_name(const char *device)
{
	return strlen(device) < UMAD_CA_NAME_LEN;
}

bool rna_mad_serves(const struct rna_root *root, const struct rna_device *device, unsigned port)
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

static bool is_subnet_management(int class)
{
	return class == IB_SMI_CLASS || class == IB_SMI_DIRECT_CLASS;
}

static int descriptor(const struct rna_mad_session *session, int class)
{
	return session->smi >= 0 && is_subnet_management(class) ? session->smi : session->umad;
}

/*
 * The kernel removes agents when the umad is closed. umad2sim does not and would run out of agents.
 */
void rna_mad_close(struct rna_mad_session *session)
{
	for (size_t i = 0; i < RNA_MAD_AGENTS && session->agents[i].class; i++)
		(void)umad_unregister(descriptor(session, session->agents[i].class),
				      session->agents[i].id);
	if (session->umad >= 0)
		(void)umad_close_port(session->umad);
	if (session->smi >= 0)
		(void)umad_close_port(session->smi);
	*session = RNA_MAD_SESSION_INIT;
}

/*
 * libibumad returns only EIO, but errno is still that of open(2). As with verbs, a missing or
 * inaccessible node is normal.
 */
static int open_umad(const struct rna_device *device, unsigned port)
{
	int umad;

	errno = 0;
	umad = umad_open_port(device->name, (int)port);
	if (umad >= 0)
		return umad;
	switch (errno) {
	case 0: /* no umadN for that port */
	case EACCES:
	case EPERM:
	case ENOENT:
		return -ENOENT;
	default:
		return -errno;
	}
}

/* Agents are registered with one plane each; those of the former plane end with its descriptor. */
static void forget_agents(struct rna_mad_session *session)
{
	size_t kept = 0;

	for (size_t i = 0; i < RNA_MAD_AGENTS && session->agents[i].class; i++)
		if (!is_subnet_management(session->agents[i].class))
			session->agents[kept++] = session->agents[i];
	while (kept < RNA_MAD_AGENTS)
		session->agents[kept++] = (struct rna_mad_agent){0};
}

bool rna_mad_use_plane(struct rna_mad_session *session, const struct rna_device *device,
		       size_t index)
{
	const struct rna_device *smi = device->smi;
	int plane;

	if (!smi || index >= smi->port_count || !rna_mad_can_name(smi->name))
		return false;
	plane = open_umad(smi, smi->ports[index]);
	if (plane < 0)
		return false;
	if (session->smi >= 0)
		(void)umad_close_port(session->smi);
	forget_agents(session);
	session->smi = plane;
	session->plane = smi->ports[index];
	return true;
}

int rna_mad_open(struct rna_mad_session *session, const struct rna_root *root,
		 const struct rna_device *device, unsigned port)
{
	int umad = rna_mad_serves(root, device, port) ? open_umad(device, port) : -ENOENT;

	if (umad < 0)
		return umad;
	session->umad = umad;
	session->plane = device->has_planes ? port : 0;
	(void)rna_mad_use_plane(session, device, 0); /* without it the port refuses */
	return 0;
}

/* Converts the status of an answer to an errno, IBTA 13.4.7. */
static int answer_error(uint32_t status)
{
	enum { BUSY = 1 << 0, REDIRECT = 1 << 1, INVALID_FIELDS = 7 << 2 };

	if (status & (INVALID_FIELDS | REDIRECT))
		return -EOPNOTSUPP;
	return status & BUSY ? -EAGAIN : -EIO;
}

/*
 * Waits for the answer to the newest query. The kernel returns an unanswered MAD with a status, but
 * not if the device hangs.
 */
static int receive(struct rna_mad_session *session, int class, void *umad)
{
	int from = descriptor(session, class);
	enum MAD_FIELDS status_field =
		class == IB_SMI_DIRECT_CLASS ? IB_DRSMP_STATUS_F : IB_MAD_STATUS_F;
	uint8_t *mad = umad_get_mad(umad);
	uint32_t status;

	do {
		int length = IB_MAD_SIZE;
		int agent = umad_recv(from, umad, &length, PATIENCE_MS);

		if (agent < 0)
			return errno ? -errno : agent;
		if (umad_status(umad))
			return -umad_status(umad);
	} while ((uint32_t)mad_get_field64(mad, 0, IB_MAD_TRID_F) !=
		 (uint32_t)session->transaction);
	status = mad_get_field(mad, 0, status_field);
	if (status)
		return answer_error(status);
	memcpy(session->answer, mad, sizeof(session->answer));
	return 0;
}

/*
 * The agent of a class, registered if necessary, or negative errno. Version 2 is for congestion
 * control, IBTA annex A10. Ports without this management class refuse: RoCE, rxe, a virtual
 * function, the port of a multi-plane card.
 */
static int need_agent(struct rna_mad_session *session, int class)
{
	int version = class == IB_CC_CLASS ? 2 : 1;
	struct rna_mad_agent *agent = session->agents;

	while (agent->class && agent->class != class)
		if (++agent == session->agents + RNA_MAD_AGENTS)
			return -E2BIG;
	if (agent->class == class)
		return agent->id;
	agent->id = umad_register(descriptor(session, class), class, version, 0, NULL);
	if (agent->id < 0)
		return errno == ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	agent->class = class;
	return agent->id;
}

static ib_portid_t address(const struct rna_mad_question *question)
{
	ib_portid_t to = {.lid = question->lid};

	if (!is_subnet_management(question->class)) {
		to.qp = 1;
		to.qkey = IB_DEFAULT_QP1_QKEY;
	}
	if (question->exit > 0) {
		to.drpath.cnt = 1;
		to.drpath.p[1] = (uint8_t)question->exit;
	}
	return to;
}

/*
 * Drivers answer the node's own subnet management MADs. If the port requires an M_Key that the MAD
 * lacks, they discard it, which the kernel reports as EINVAL of the send (Linux 6.12 core/mad.c
 * handle_outgoing_dr_smp(), hw/qib/qib_mad.c check_mkey(), hw/mlx5/mad.c process_mad()).
 */
static int send_error(const struct rna_mad_question *question)
{
	bool own = question->class == IB_SMI_DIRECT_CLASS && question->exit == 0;

	return own && errno == EINVAL ? -ENOKEY : -errno;
}

static int send_and_receive(struct rna_mad_session *session,
			    const struct rna_mad_question *question, int agent, void *umad)
{
	uint8_t data[IB_MAD_SIZE - RNA_MAD_DATA] = {0};
	ib_portid_t to = address(question);
	/* for congestion control the struct has a key, which stays 0 */
	ib_rpc_cc_t rpc = {
		.mgtclass = question->class,
		.method = IB_MAD_METHOD_GET,
		.attr = {.id = question->attribute, .mod = question->modifier},
		.dataoffs = RNA_MAD_DATA,
		.datasz = is_subnet_management(question->class) ? IB_SMP_DATA_SIZE : sizeof(data),
		.trid = ++session->transaction,
	};

	if (question->port_select > 0)
		mad_set_field(data, 0, IB_PC_PORT_SELECT_F, question->port_select);
	if (mad_build_pkt(umad, (ib_rpc_t *)&rpc, &to, NULL, data) < 0)
		return -EINVAL;
	if (umad_send(descriptor(session, question->class), agent, umad, IB_MAD_SIZE, TIMEOUT_MS,
		      RETRIES) < 0)
		return send_error(question);
	return receive(session, question->class, umad);
}

int rna_mad_ask(struct rna_mad_session *session, const struct rna_mad_question *question,
		uint8_t **ret_data)
{
	RNA_FREE void *umad = umad_alloc(1, umad_size() + IB_MAD_SIZE);
	int status = umad ? need_agent(session, question->class) : -ENOMEM;

	if (status >= 0)
		status = send_and_receive(session, question, status, umad);
	if (status == -ETIMEDOUT)
		session->unanswered++;
	*ret_data = session->answer + RNA_MAD_DATA;
	return status;
}
