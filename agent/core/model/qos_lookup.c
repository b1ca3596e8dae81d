// SPDX-License-Identifier: Apache-2.0
#include <linux/dcbnl.h>

#include "rna/model/driver.h"
#include "rna/model/qos.h"

struct rna_value rna_dcbx_is_host(const struct rna_dcb *dcb)
{
	if (!dcb || !rna_value_is_known(dcb->dcbx))
		return (struct rna_value){0};
	return rna_value_ok(dcb->dcbx.number & DCB_CAP_DCBX_HOST ? 1 : 0);
}

int rna_priority_only(uint64_t mask)
{
	if (mask == 0 || (mask & (mask - 1)) != 0)
		return -1;
	return __builtin_ctzll(mask);
}

const struct rna_qos_port *rna_qos_next(const struct rna_qos *qos, unsigned port, size_t *from)
{
	while (qos && *from < qos->port_count) {
		const struct rna_qos_port *found = &qos->ports[(*from)++];

		if (found->number == port)
			return found;
	}
	return NULL;
}

const struct rna_qos_vlan *rna_qos_find_vlan(const struct rna_qos_port *qos, const char *netdev)
{
	for (size_t i = 0; qos && netdev && i < qos->vlan_count; i++)
		if (strcmp(qos->vlans[i].netdev, netdev) == 0)
			return &qos->vlans[i];
	return NULL;
}

int rna_qos_priority_of(const struct rna_qos_port *port, unsigned dscp)
{
	unsigned priority;

	if (!port->dcb || port->trust != RNA_TRUST_DSCP || dscp >= RNA_DSCP_COUNT)
		return -1;
	priority = port->dcb->dscp_priority[dscp];
	return priority < RNA_PRIORITY_COUNT ? (int)priority : -1;
}

uint64_t rna_qos_dscps_of(const struct rna_dcb *dcb, unsigned priority)
{
	uint64_t ret = 0;

	for (unsigned dscp = 0; dscp < RNA_DSCP_COUNT; dscp++)
		ret |= (uint64_t)(dcb->dscp_priority[dscp] == priority) << dscp;
	return ret;
}

uint64_t rna_qos_priorities_of_buffer(const struct rna_dcb *dcb, unsigned buffer)
{
	uint64_t ret = 0;

	for (unsigned priority = 0; priority < RNA_PRIORITY_COUNT; priority++)
		ret |= (uint64_t)(dcb->priority_buffer[priority] == buffer) << priority;
	return ret;
}

void rna_qos_write_mask(uint64_t mask, struct rna_strbuf *out)
{
	const char *between = "";

	if (mask == 0)
		rna_strbuf_puts(out, "none");
	for (unsigned first = 0; first < 64; first++) {
		unsigned last = first;

		if (!(mask >> first & 1))
			continue;
		while (last < 63 && mask >> (last + 1) & 1)
			last++;
		rna_strbuf_printf(out, "%s%u", between, first);
		if (last > first)
			rna_strbuf_printf(out, "-%u", last);
		between = ", ";
		first = last;
	}
}

/* -- MTU --------------------------------------------------------------------------------------- */

/* GRH 40, UDP 8, BTH 12, XRCETH 4, AtomicETH 28 and ICRC 4, include/rdma/ib_addr.h. */
enum { HEADERS = 96 };

static uint64_t room_for_headers(const char *name)
{
	const struct rna_driver *driver = rna_driver_named(name);

	return driver && driver->whole_mtu ? 0 : HEADERS;
}

uint64_t rna_qos_netdev_mtu(const char *driver, uint64_t rdma_mtu)
{
	return rdma_mtu + room_for_headers(driver);
}

uint64_t rna_qos_rdma_mtu(const char *driver, uint64_t netdev_mtu)
{
	uint64_t ret = 0;

	for (uint64_t mtu = 256; mtu <= 4096; mtu *= 2)
		if (netdev_mtu >= rna_qos_netdev_mtu(driver, mtu))
			ret = mtu;
	return ret;
}
