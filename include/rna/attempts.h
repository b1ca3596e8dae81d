/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts: what the agent does that takes a right, a socket, a file or a feature of the kernel,
 * each done once, to learn whether this process may do it here.
 *
 * An attempt changes nothing, and no device is sent a command: files of verbs and MADs are opened
 * and closed, which the kernel answers by itself (a context of verbs and an agent for MADs are made
 * by later calls: ib_uverbs_open() and ib_umad_open() in drivers/infiniband/core, Linux 6.12), and
 * ethtool is asked about the loopback interface. One may hang like a collector, so the caller tries
 * each in a process of its own. Thread: any.
 */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/collector.h"
#include "rna/model/device.h"

enum {
	RNA_ATTEMPT_WORKS = 0,
	RNA_ATTEMPT_NOTHING = 1, /* there is nothing here to try it on */
};

struct rna_attempt {
	const struct rna_root *root;
	const struct rna_backends *backends;
	const struct rna_presence *presence; /* NULL: devices cannot be read */
	enum rna_kernel_log_setting kernel_log;
};

/*
 * Writes to ret what it found: "8 files of /dev/infiniband". RNA_ATTEMPT_WORKS,
 * RNA_ATTEMPT_NOTHING, or negative errno with error: what was tried, and the reason.
 */
typedef int rna_attempt_function(const struct rna_attempt *attempt, struct rna_strbuf *ret,
				 struct rna_error *error);

/* By files alone; also of a recording. */
rna_attempt_function rna_attempt_devices;
rna_attempt_function rna_attempt_interfaces;

/* Files of devices. */
rna_attempt_function rna_attempt_verbs;
rna_attempt_function rna_attempt_umad;
rna_attempt_function rna_attempt_pci_configuration;

/* Sockets. */
rna_attempt_function rna_attempt_rdma_netlink;
rna_attempt_function rna_attempt_events;
rna_attempt_function rna_attempt_ethtool;
rna_attempt_function rna_attempt_modules;
rna_attempt_function rna_attempt_lldpd;

/* Other processes, and files of the node. */
rna_attempt_function rna_attempt_kernel_log;
rna_attempt_function rna_attempt_users;
rna_attempt_function rna_attempt_pod_names;
rna_attempt_function rna_attempt_namespaces;
rna_attempt_function rna_attempt_pod_resources;
