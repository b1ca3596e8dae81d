// SPDX-License-Identifier: Apache-2.0
#include "profile_traits.h"

/* -- Devices ----------------------------------------------------------------------------------- */

/* Of the function itself. A virtual one, also in a virtual machine, has no link of its own. */
static struct rna_pcie_link link_of(const struct rna_subject *subject)
{
	const struct rna_pcie *pcie = rna_device_pcie(subject->device);
	struct rna_pcie_link link;

	if (!pcie || subject->device->device->function != RNA_FUNCTION_PF ||
	    !rna_pcie_link_above(pcie, 0, &link))
		return (struct rna_pcie_link){0};
	return link;
}

/* By millions of transfers per second; PCI Express Base Specification 7.5.3.6. */
static struct rna_value get_generation(const struct rna_subject *subject)
{
	static const unsigned speeds[] = {2500, 5000, 8000, 16000, 32000, 64000, 128000};
	struct rna_value speed = link_of(subject).speed;

	for (size_t i = 0; rna_value_is_known(speed) && i < RNA_ARRAY_SIZE(speeds); i++)
		if (speeds[i] == speed.number)
			return rna_value_ok(i + 1);
	return (struct rna_value){0};
}

static struct rna_value get_pcie_lanes(const struct rna_subject *subject)
{
	return link_of(subject).width;
}

static struct rna_value get_virtual_functions(const struct rna_subject *subject)
{
	const struct rna_pcie *pcie = rna_device_pcie(subject->device);

	return pcie ? pcie->virtual_functions : (struct rna_value){0};
}

static struct rna_value get_read_request(const struct rna_subject *subject)
{
	return subject->hop ? subject->hop->max_read_request : (struct rna_value){0};
}

/* -- Ports ------------------------------------------------------------------------------------- */

static struct rna_value get_layer(const struct rna_subject *port)
{
	return port->link_layer != RNA_LINK_LAYER_UNKNOWN ? rna_value_ok(port->link_layer)
							  : (struct rna_value){0};
}

static struct rna_value get_netdev_mtu(const struct rna_subject *port)
{
	return port->netdev ? port->netdev->mtu : (struct rna_value){0};
}

static struct rna_value get_rate(const struct rna_subject *port)
{
	return port->link ? port->link->rate : (struct rna_value){0};
}

static struct rna_value get_lanes(const struct rna_subject *port)
{
	return port->link ? port->link->width : (struct rna_value){0};
}

static struct rna_value get_mtu(const struct rna_subject *port)
{
	return port->link ? port->link->active_mtu : (struct rna_value){0};
}

/* -- In words ---------------------------------------------------------------------------------- */

static void write_number(uint64_t value, struct rna_strbuf *out)
{
	rna_strbuf_add_u64(out, value);
}

static void write_bytes(uint64_t value, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%ju bytes", (uintmax_t)value);
}

static void write_rate(uint64_t value, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%g Gb/s", rna_gigabits(value));
}

static void write_layer(uint64_t value, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, rna_link_layer_name((enum rna_link_layer)value));
}

static void write_generation(uint64_t value, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "Gen%ju", (uintmax_t)value);
}

/* -- ACS --------------------------------------------------------------------------------------- */

struct rna_value rna_profile_acs(const struct rna_snapshot *snapshot,
				 const struct rna_pcie_hop **ret_hop,
				 const struct rna_snapshot_device **ret_device)
{
	struct rna_value ret = {0};

	RNA_EACH (device, snapshot->devices, snapshot->device_count) {
		const struct rna_pcie *pcie = rna_device_pcie(device);
		struct rna_value redirect = {0};

		if (pcie)
			redirect = rna_pcie_acs_redirect(pcie, ret_hop);
		if (rna_value_is_known(redirect))
			ret = redirect;
		if (ret.number == 0)
			continue;
		if (ret_device)
			*ret_device = device;
		break;
	}
	return ret;
}

struct rna_value rna_profile_iommu(const struct rna_snapshot *snapshot)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(snapshot);
	struct rna_value ret = {0};

	if (readiness && rna_value_is_known(readiness->gpu_iommu))
		ret = rna_value_ok(rna_iommu_translates(readiness->gpu_iommu));
	for (size_t i = 0; i < snapshot->device_count && ret.number == 0; i++) {
		const struct rna_pcie *pcie = rna_device_pcie(&snapshot->devices[i]);

		if (pcie && rna_value_is_known(pcie->iommu))
			ret = rna_value_ok(rna_iommu_translates(pcie->iommu));
	}
	return ret;
}

/* -- The table --------------------------------------------------------------------------------- */

/* clang-format off */
#define TRAIT(what, of, field, get, write) \
	{what, RNA_PROFILE_TRAIT_OF_##of, offsetof(struct rna_profile_device, field), get, write}

const struct rna_profile_trait rna_profile_traits[RNA_PROFILE_TRAITS] = {
	TRAIT("PCIe", DEVICE, pcie_generation, get_generation, write_generation),
	TRAIT("number of PCIe lanes", DEVICE, pcie_lanes, get_pcie_lanes, write_number),
	TRAIT("number of virtual functions", DEVICE, virtual_functions, get_virtual_functions,
	      write_number),
	TRAIT("MaxReadReq", DEVICE, max_read_request, get_read_request, write_bytes),
	TRAIT("link layer", PORT, link_layer, get_layer, write_layer),
	TRAIT("MTU of the interface", PORT, netdev_mtu, get_netdev_mtu, write_number),
	TRAIT("rate", LINK, rate, get_rate, write_rate),
	TRAIT("number of lanes", LINK, lanes, get_lanes, write_number),
	TRAIT("active MTU", LINK, mtu, get_mtu, write_number),
};
/* clang-format on */

struct rna_value rna_profile_trait_wanted(const struct rna_profile_trait *trait,
					  const struct rna_profile_device *entry)
{
	return *(const struct rna_value *)((const char *)entry + trait->offset);
}
