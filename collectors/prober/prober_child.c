// SPDX-License-Identifier: Apache-2.0
/* The parent's side of the prober. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "rna/prober.h"

int rna_prober_start(struct rna_child *ret, struct rna_error *error)
{
	int status = rna_child_start(RNA_PROBER_PROGRAM, NULL, 0, ret);

	if (status == 0 && fcntl(ret->fd, F_SETFL, O_NONBLOCK) < 0) {
		status = -errno;
		(void)rna_child_stop(ret, RNA_USEC_PER_SEC);
	}
	return status < 0 ? rna_error_set(error, status, "cannot start the prober") : 0;
}

int rna_prober_send(const struct rna_child *child, const struct rna_prober_order *order)
{
	ssize_t len = send(child->fd, order, sizeof(*order), MSG_NOSIGNAL);

	if (len < 0)
		return errno == ENOBUFS ? -EAGAIN : -errno;
	return len == sizeof(*order) ? 0 : -EIO;
}

static bool is_valid(const struct rna_prober_report *report)
{
	switch (report->kind) {
	case RNA_PROBER_PORT_REPORT:
		return report->port.use < RNA_PROBE_USE_COUNT &&
		       report->port.address.qpn_count <= RNA_PROBE_QPS_MAX;
	case RNA_PROBER_TARGET_REPORT:
		return report->target.sample_count <= RNA_PROBER_SAMPLES_MAX;
	default:
		return report->kind == RNA_PROBER_VISITOR_REPORT ||
		       report->kind == RNA_PROBER_CHILD_REPORT;
	}
}

int rna_prober_receive(const struct rna_child *child, struct rna_prober_report *ret)
{
	ssize_t len = recv(child->fd, ret, sizeof(*ret), 0);

	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (len == 0)
		return -EPIPE;
	if (len != sizeof(*ret) || !is_valid(ret))
		return -EPROTO;
	if (ret->kind == RNA_PROBER_PORT_REPORT)
		ret->port.text[sizeof(ret->port.text) - 1] = '\0';
	return 1;
}
