/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a name or a GUID was before it changed. The agent identifies devices by PCI address; jobs
 * name them (NCCL_IB_HCA, resource names), and names may belong to other cards after a reboot or
 * after a driver was loaded again: without persistent names the kernel numbers devices in the order
 * in which they register (alloc_name() in drivers/infiniband/core/device.c, Linux 6.12), and even
 * bus numbers, which persistent names contain, may differ from one boot to the next
 * (ubicloud/ubicloud#6330).
 */
#pragma once

#include "rna/base/clock.h"

struct rna_former {
	const char *text;   /* before the change; NULL: no change is known */
	rna_usec changed;   /* realtime; when the agent noticed it */
	const char *owner;  /* which device or port had the present text before; NULL: none */
	const char *holder; /* which one has the former text now; NULL: none */
};
