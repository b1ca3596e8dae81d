/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of facts: for each subject one, whose rows say what a fact is called as a metric, in
 * JSON and in tables for people, what it means, and where it is read. Metrics are all rows with a
 * name, in the order of the tables; JSON objects, the labels of info metrics and the columns of
 * tables are made of the same rows.
 */
#pragma once

#include "view/field.h"
#include "view/subjects.h"
#include "view/walk.h"

#include "exposition.h"

struct rna_family {
	struct rna_metric metric; /* without a name: a row for JSON and labels alone */
	enum rna_scope scope;     /* asked once for every subject of it */
	/*
	 * Exported only with metrics.details: a limit that a device never changes, or what other
	 * families of the same subject say as well. JSON has it always.
	 */
	bool detail;
	/*
	 * Of jobs: writes what metrics.collectors: summary leaves of them; NULL: nothing. The
	 * number of series then depends on the collectors, not on the devices.
	 */
	void (*summary)(const struct rna_family *family, const struct rna_view *view,
			struct rna_writer *writer);
	/* The sample: a member of the subject, or of the item that the table is about... */
	struct rna_field field;
	/* ...or a function of a subject; absent when there is none... */
	struct rna_value (*get)(const struct rna_subject *subject);
	/* ...or a function that writes any number of them, with more labels: label. */
	void (*each)(const struct rna_subject *subject, struct rna_writer *writer);
	const char *label;
	const struct rna_family_table *table; /* whose row it is, if that is about items */
	/* A known counter's own family: there is none of the above. */
	const struct rna_counter *counter;
	bool counters; /* this row of the table stands for all known counters */
	/* The same for statistics of Ethernet ports (rna/model/ethernet.h). */
	const struct rna_ethernet_statistic *statistic;
	bool statistics;
	/*
	 * A known counter of a port under a name of another exporter (compat.c), for any link
	 * layer: rows name its file, from which rna_families_new() finds alias.
	 */
	const char *file;
	enum rna_counter_place place;
	const struct rna_counter *alias;
};

struct rna_family_table {
	size_t count;
	const struct rna_family *rows;
	/*
	 * Of a table about things of which a subject has several, or none: the one at *from, which
	 * moves on; NULL: there are no more. Rows that name a function of the subject, or a member
	 * behind one of its pointers, are about the subject there, too; without it all are.
	 */
	const void *(*next)(const struct rna_subject *subject, size_t *from);
	/* Adds labels that no row can know; NULL: there are none. */
	void (*add_label)(const struct rna_subject *subject, const void *item,
			  struct rna_strbuf *labels);
	const char *label; /* their names, for documents */
};

/* The tables; families.c has their order. */
extern const struct rna_family_table rna_node_table, rna_missing_table, rna_loaded_module_table,
	rna_finding_table, rna_kernel_log_table, rna_log_episode_table, rna_card_table,
	rna_device_table, rna_virtual_function_table, rna_resource_table, rna_user_table,
	rna_port_table, rna_peer_table, rna_manager_table, rna_interface_table, rna_bond_table,
	rna_bond_member_table, rna_gateway_table, rna_gid_table, rna_ethernet_table,
	rna_counter_table, rna_ethernet_unknown_table, rna_module_table, rna_optional_counter_table,
	rna_counter_health_table, rna_selftest_run_table, rna_selftest_table, rna_probe_port_table,
	rna_probe_table, rna_qos_table, rna_vlan_table, rna_qos_parameter_table, rna_gpu_table,
	rna_job_table, rna_agent_table, rna_backend_table, rna_kubernetes_client_table,
	rna_kubernetes_resource_table, rna_process_table;
/* The table with the labels of the info metrics of a scope; NULL: they have none. */
const struct rna_family_table *rna_family_table_of(enum rna_scope scope);

/* The labels of one of the things that table is about: all of them, or those that tell it apart. */
void rna_family_add_labels(const struct rna_family_table *table, bool all, const void *object,
			   struct rna_strbuf *labels);

/* The names of node_exporter's infiniband collector. */
extern const struct rna_family_table rna_compat_table;

/* All of them in that order, with a family for each known counter. */
struct rna_families {
	size_t count;
	size_t own_count; /* of them, those in front of rna_compat_table's */
	struct rna_family *items;
	struct rna_arena *arena;
};

struct rna_families *rna_families_new(void); /* NULL: no memory */
struct rna_families *rna_families_free(struct rna_families *families);
RNA_DEFINE_CLEANUP(struct rna_families, rna_families_free)

/* Has it one number for each subject, and which? */
bool rna_family_is_number(const struct rna_family *family);
struct rna_value rna_family_value(const struct rna_family *family,
				  const struct rna_subject *subject);

/* Subjects have their labels; walk is where the family before left it. */
void rna_family_write(struct rna_family *family, const struct rna_subjects *subjects,
		      struct rna_walk *walk, struct rna_writer *writer);

/* Families that are made of other tables: families_counters.c and families_ethernet.c. */
void rna_family_write_known_counter(const struct rna_counter *counter, struct rna_walk *walk,
				    struct rna_writer *writer);
void rna_family_write_labelled_counters(const struct rna_counter *first,
					const struct rna_subject_list *ports,
					struct rna_writer *writer);
void rna_family_write_alias(const struct rna_counter *counter, const struct rna_subject_list *ports,
			    struct rna_writer *writer);
/* Is the row one of the family that the row before it begins? */
bool rna_family_counter_follows(const struct rna_counter *row);
/* The family of a statistic, its texts in arena; its name is NULL without memory. */
struct rna_family rna_family_of_statistic(enum rna_ethernet_statistic_id id,
					  struct rna_arena *arena);
void rna_family_write_statistic(const struct rna_family *family,
				const struct rna_subject_list *ports, struct rna_writer *writer);
/* Its labels beside device and port, for documents. */
const char *rna_family_statistic_labels(const struct rna_family *family);
