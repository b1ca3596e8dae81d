// SPDX-License-Identifier: Apache-2.0
/* Metrics of ports and of their network interfaces. */
#include "families_port.h"

#include "families_parts.h"

/* -- Ports ------------------------------------------------------------------------------------- */

RNA_FAMILY_MEMBER(state_id, state, state)
RNA_FAMILY_MEMBER(physical_state_id, state, physical_state)
RNA_FAMILY_MEMBER(width_supported, link, width_supported)
RNA_FAMILY_MEMBER(width_enabled, link, width_enabled)
RNA_FAMILY_MEMBER(speed_supported, link, speed_supported)
RNA_FAMILY_MEMBER(speed_enabled, link, speed_enabled)
RNA_FAMILY_MEMBER(active_mtu, link, active_mtu)
RNA_FAMILY_MEMBER(max_mtu, link, max_mtu)
RNA_FAMILY_MEMBER(lid, link, lid)
RNA_FAMILY_MEMBER(sm_lid, link, sm_lid)
RNA_FAMILY_MEMBER(lmc, link, lmc)
RNA_FAMILY_MEMBER(capability_mask, link, capability_mask)

/* -- Network interfaces ------------------------------------------------------------------------ */

struct rna_value rna_family_netdev_up(const struct rna_subject *port)
{
	/* UNKNOWN is not down: the driver does not say (Documentation/networking/operstates.rst) */
	if (!port->netdev || port->netdev->operstate == RNA_OPER_UNKNOWN)
		return rna_no_value;
	return rna_family_yes_or_no(port->netdev->operstate == RNA_OPER_UP);
}

RNA_FAMILY_MEMBER(netdev_carrier, netdev, carrier)
RNA_FAMILY_MEMBER(netdev_mtu, netdev, mtu)

struct rna_value rna_family_netdev_speed(const struct rna_subject *port)
{
	struct rna_value speed = port->netdev ? port->netdev->speed : rna_no_value;

	speed.number /= 8; /* bits to bytes */
	return speed;
}

RNA_FAMILY_MEMBER(netdev_carrier_up, netdev, carrier_up)
RNA_FAMILY_MEMBER(netdev_carrier_down, netdev, carrier_down)
