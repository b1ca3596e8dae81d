/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in the making, for those who say what is in it: record.c and its record_*.c, files by
 * table, and record_ask.c, what libraries answer. Paths are those of the node; what identifies it
 * is disguised on the way. After the first failure to write nothing is read or written any more,
 * and what would be a text is NULL. Thread: the only one of the process.
 */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/model/device.h"
#include "rna/model/netdev.h"
#include "rna/record.h"

#include "backend/backends.h"

#include "child.h"
#include "disguise.h"

struct rna_recorded_attribute {
	const char *name;
	enum rna_disguise_kind kind;
	bool may_be_invalid; /* EINVAL says that there is no value now: it counts as not there */
};

struct rna_recorded_file {
	const char *path;
	const struct rna_recorded_attribute *attribute;
};

/* What one child reads. */
struct rna_recorded_files {
	const struct rna_root *root;
	size_t count;
	struct rna_recorded_file *items;
};

struct rna_recording {
	const struct rna_root *root;
	const struct rna_backends *backends;
	const struct rna_record_options *options;
	int fd;                        /* the directory that it is written to */
	struct rna_disguise *disguise; /* NULL: identity is kept */
	struct rna_arena *scratch;
	struct rna_strbuf notes; /* to be recorded/unreadable */
	struct rna_record_result result;
	int status; /* the first failure that ends it */
	struct rna_error *error;
};

/* Keeps the first. what: a path of the recording, or NULL for all of it. */
void rna_recording_fail(struct rna_recording *recording, int error, const char *what);

/* Texts, in scratch. The first passes an allocation through. */
const char *rna_recording_need(struct rna_recording *recording, const char *text);
const char *rna_recording_join(struct rna_recording *recording, const char *directory,
			       const char *name);
const char *rna_recording_disguise(struct rna_recording *recording, enum rna_disguise_kind kind,
				   const char *text);

/* Notes that path could not be read. What is not there is normal and needs no note. */
void rna_recording_note(struct rna_recording *recording, const char *path, int error);

void rna_recording_write_file(struct rna_recording *recording, const char *path, const char *data,
			      size_t len);
void rna_recording_write_link(struct rna_recording *recording, const char *path,
			      const char *target);
void rna_recording_write_directory(struct rna_recording *recording, const char *path);
void rna_recording_write_number(struct rna_recording *recording, const char *directory,
				const char *name, struct rna_value value);

/* A child's next message: the length, or negative errno. what: it is about. */
ssize_t rna_recording_receive(struct rna_recording *recording, const struct rna_child *child,
			      const char *what, void *buffer, size_t size);

/* Copies files by one child; behind one that is not answered the others are not asked for. */
struct rna_recorded_files rna_recording_new_files(struct rna_recording *recording, size_t count);
void rna_recording_add_file(struct rna_recording *recording, struct rna_recorded_files *files,
			    const char *path, const struct rna_recorded_attribute *attribute);
void rna_recording_copy(struct rna_recording *recording, const struct rna_recorded_files *files);
void rna_recording_copy_file(struct rna_recording *recording, const char *path);
void rna_recording_copy_attributes(struct rna_recording *recording, const char *directory,
				   const struct rna_recorded_attribute *attributes, size_t count);
#define RNA_RECORDING_COPY_ATTRIBUTES(recording, directory, attributes)                            \
	rna_recording_copy_attributes(recording, directory, attributes, RNA_ARRAY_SIZE(attributes))
/* All files of a directory, no more than max of them. */
void rna_recording_copy_files(struct rna_recording *recording, const char *directory, size_t max);
void rna_recording_copy_link(struct rna_recording *recording, const char *directory,
			     const char *name);

/* The entries of a directory, none when it cannot be listed. */
size_t rna_recording_list(struct rna_recording *recording, const char *directory, char ***ret);

/* Has somebody copied from this directory already? Devices share functions and interfaces. */
bool rna_recording_has(struct rna_recording *recording, const char *directory, const char *name);

/*
 * One PCI function, by its directory; one interface, by its name, and by a path that leads to it:
 * record_places.c.
 */
void rna_record_function(struct rna_recording *recording, const char *directory);
void rna_record_netdev(struct rna_recording *recording, const char *name);
void rna_record_netdev_at(struct rna_recording *recording, const char *path, const char *name);

/* What the node needs beside devices: record_readiness.c. */
void rna_record_readiness(struct rna_recording *recording);

/* The PCI tree, GPUs and where they are: record_topology.c. 0, or negative errno with error. */
int rna_record_topology(struct rna_recording *recording, const struct rna_collect_input *input);

/* Who was heard by LLDP: record_lldp.c. */
void rna_record_lldp(struct rna_recording *recording);

/* Quality of service, of an interface that serves a port and of a device: record_qos.c. */
void rna_record_qos_netdev(struct rna_recording *recording, const char *netdev);
void rna_record_qos_device(struct rna_recording *recording, const struct rna_device *device);

/* What no file of the node says: record_ask.c, record_ethtool.c. */
void rna_record_verbs(struct rna_recording *recording, const struct rna_device *device);
void rna_record_mads(struct rna_recording *recording, const struct rna_device *device);
void rna_record_resources(struct rna_recording *recording, const struct rna_device *device);
/* Of an interface: what it gave its virtual functions. */
void rna_record_virtual_functions(struct rna_recording *recording, const char *netdev);
/* Of an interface: what is in its cage. record_module.c */
void rna_record_module(struct rna_recording *recording, const char *netdev);
void rna_record_netlink(struct rna_recording *recording, const struct rna_port_netdev *port);
void rna_record_addresses(struct rna_recording *recording, const struct rna_netdev *netdev);
void rna_record_ethtool(struct rna_recording *recording, const struct rna_netdev *netdev);
void rna_record_uplink(struct rna_recording *recording, const char *netdev);
/* Do network interfaces answer at all? A driver may keep whoever asks for one waiting. */
bool rna_record_netdevs_answer(struct rna_recording *recording,
			       const struct rna_collect_input *input);
