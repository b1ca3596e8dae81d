// SPDX-License-Identifier: Apache-2.0
#include "rna/model/pcie.h"

enum {
	GEN3 = 8000, /* millions of transfers per second */
	GEN6 = 64000,
	PAYLOAD = 256, /* bytes per packet, the setting of nearly all hosts */
};

/* The payload in this number of bytes on the wire. */
struct share {
	unsigned of;
	unsigned remain;
};

/* 8b/10b, 128b/130b (4.2.1, 4.2.2), and flits: 236 of 256 bytes are packets (4.2.3). */
static struct share coding(uint64_t speed)
{
	if (speed < GEN3)
		return (struct share){10, 8};
	if (speed < GEN6)
		return (struct share){130, 128};
	return (struct share){256, 236};
}

/*
 * Around the payload of a memory write with a 64-bit address: 16 bytes of header; and outside of
 * flits 4 bytes of LCRC and 4 of framing and sequence number, whatever the coding.
 */
static struct share packet(uint64_t speed)
{
	return (struct share){PAYLOAD + (speed < GEN6 ? 16 + 4 + 4 : 16), PAYLOAD};
}

uint64_t rna_pcie_rate(struct rna_value speed, struct rna_value width)
{
	struct share line = coding(speed.number), data = packet(speed.number);
	uint64_t bytes;

	if (!rna_value_is_known(speed) || !rna_value_is_known(width))
		return 0;
	/* A transfer is a bit on each lane; 64 GT/s on 32 lanes and both factors stay below 2^63.
	 */
	bytes = speed.number * 1000 * 1000 * width.number / 8;
	return bytes * line.remain / line.of * data.remain / data.of;
}

static struct rna_value lesser(struct rna_value a, struct rna_value b)
{
	if (!rna_value_is_known(a) || !rna_value_is_known(b))
		return (struct rna_value){0};
	return a.number < b.number ? a : b;
}

bool rna_pcie_link_above(const struct rna_pcie *pcie, size_t hop, struct rna_pcie_link *ret)
{
	const struct rna_pcie_hop *lower, *upper;

	if (hop + 1 >= pcie->hop_count)
		return false;
	lower = &pcie->hops[hop];
	upper = &pcie->hops[hop + 1];
	if (upper->role != RNA_PCI_ROOT_PORT && upper->role != RNA_PCI_DOWNSTREAM)
		return false;
	*ret = (struct rna_pcie_link){
		.speed = rna_value_is_known(lower->link.speed) ? lower->link.speed
							       : upper->link.speed,
		.width = rna_value_is_known(lower->link.width) ? lower->link.width
							       : upper->link.width,
		.max_speed = lesser(lower->link.max_speed, upper->link.max_speed),
		.max_width = lesser(lower->link.max_width, upper->link.max_width),
	};
	return true;
}

/* 0: no link, or unknown. */
static uint64_t rate_above(const struct rna_pcie *pcie, size_t hop)
{
	struct rna_pcie_link link;

	return rna_pcie_link_above(pcie, hop, &link) ? rna_pcie_rate(link.speed, link.width) : 0;
}

int rna_pcie_bottleneck(const struct rna_pcie *pcie)
{
	uint64_t least = UINT64_MAX;
	int ret = -1;

	for (size_t i = 0; i < pcie->hop_count; i++) {
		uint64_t rate = rate_above(pcie, i);

		if (rate == 0 || rate >= least)
			continue;
		least = rate;
		ret = (int)i;
	}
	return ret;
}

struct rna_value rna_pcie_path_rate(const struct rna_pcie *pcie)
{
	int hop = rna_pcie_bottleneck(pcie);

	return hop < 0 ? (struct rna_value){0} : rna_value_ok(rate_above(pcie, (size_t)hop));
}

struct rna_value rna_pcie_errors(const struct rna_pcie *pcie, enum rna_aer severity)
{
	struct rna_value sum = {0};

	for (size_t i = 0; i < pcie->hop_count; i++) {
		struct rna_value count = pcie->hops[i].aer[severity];

		if (count.state == RNA_VALUE_UNREADABLE)
			return count;
		if (rna_value_is_known(count))
			sum = rna_value_ok(sum.number + count.number);
	}
	return sum;
}

struct rna_value rna_pcie_acs_redirect(const struct rna_pcie *pcie,
				       const struct rna_pcie_hop **ret_hop)
{
	struct rna_value ret = {0};

	for (size_t i = 1; i < pcie->hop_count; i++) {
		const struct rna_pcie_hop *hop = &pcie->hops[i];

		if ((hop->role != RNA_PCI_UPSTREAM && hop->role != RNA_PCI_DOWNSTREAM) ||
		    !rna_value_is_known(hop->acs_redirect))
			continue;
		ret = hop->acs_redirect;
		if (ret.number == 0)
			continue;
		if (ret_hop)
			*ret_hop = hop;
		break;
	}
	return ret;
}

bool rna_iommu_translates(struct rna_value mode)
{
	return rna_value_is_known(mode) &&
	       (mode.number == RNA_IOMMU_LAZY || mode.number == RNA_IOMMU_STRICT);
}
