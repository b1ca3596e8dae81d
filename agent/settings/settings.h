/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings: one table (settings.c) says of each its key, type, range, default and help; the
 * configuration file, the defaults, error texts and documents all follow from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"
#include "rna/base/schema.h"
#include "rna/base/strbuf.h"
#include "rna/model/part.h"

#define RNA_STATE_DIRECTORY_DEFAULT "/var/lib/rdma-node-agent"
#define RNA_LISTEN_UNIX             "unix:" /* begins an address in http.listen that is no TCP port */
#define RNA_CONTROL_SOCKET_DEFAULT  "/run/rdma-node-agent/control.sock"
#define RNA_CONFIG_DEFAULT          "/etc/rdma-node-agent/rdma-node-agent.yaml"

/* security.seccomp */
enum rna_seccomp_mode {
	RNA_SECCOMP_AUTO, /* on, unless a filter is in force already */
	RNA_SECCOMP_ON,
	RNA_SECCOMP_OFF,
};

/* kubernetes.taint_effect */
enum rna_taint_effect {
	RNA_TAINT_NO_SCHEDULE,
	RNA_TAINT_PREFER_NO_SCHEDULE,
	RNA_TAINT_NO_EXECUTE,
};

/* Setting kubernetes.roce_label. */
enum rna_roce_label {
	RNA_ROCE_LABEL_ONLY_IF_UNSET,
	RNA_ROCE_LABEL_OWN,
	RNA_ROCE_LABEL_OFF,
};

/* Setting kubernetes.device_taints. */
enum rna_device_taints {
	RNA_DEVICE_TAINTS_OFF,
	RNA_DEVICE_TAINTS_REPORT, /* without an effect */
	RNA_DEVICE_TAINTS_TAINT,
};

/* Setting watch.verbs_events: which devices are kept open for their events. */
enum rna_verbs_events_setting {
	RNA_VERBS_EVENTS_AUTO, /* those with an InfiniBand port whose state no other events tell */
	RNA_VERBS_EVENTS_ALWAYS, /* all whose driver can remove them nevertheless */
	RNA_VERBS_EVENTS_NEVER,
};

/*
 * Without news there is a new view each: ages and windows go by time. Longer than the usual periods
 * of scrapes, before which counters are read and a view is made anyway.
 */
#define RNA_VIEW_PERIOD (20 * RNA_USEC_PER_SEC)

/* A poll may be so late, to be just before a scrape. */
#define RNA_POLL_LONGEST(period) ((period) + (period) / 2)

struct rna_settings {
	/* poll.<collector>: period; where events tell of changes, see loop/rhythm.h */
	rna_usec poll[RNA_COLLECTOR_COUNT];
	rna_usec poll_deadline; /* a run longer than this is stalled */
	rna_usec poll_handover; /* after this the rest of a lane's queue moves on */
	bool watch_events;
	rna_usec watch_debounce;
	rna_usec watch_debounce_max;
	int watch_verbs_events;     /* enum rna_verbs_events_setting */
	char **ethernet_statistics; /* NULL-ended, or NULL: none */
	char **watch_verbs_drivers; /* NULL-ended, or NULL: none */
	bool fabric_enabled;
	char **fabric_networks; /* NULL-ended, or NULL: none */
	int counters_source;    /* enum rna_counters_source */
	unsigned lanes_max;
	unsigned reader_descriptors; /* all readers together */
	int hw_counters_source;      /* enum rna_hw_counters_source */
	int kernel_log_source;       /* enum rna_kernel_log_setting */
	char **kernel_log_patterns;  /* NULL-ended, or NULL: none; see rna/model/log_site.h */
	bool hw_counters_optional_status;
	bool module_serial;
	bool follow_enabled;
	unsigned follow_max_devices, follow_max_ports; /* of a network namespace */
	bool gateways_probe;
	char **http_listen; /* NULL-ended */
	unsigned http_max_connections;
	unsigned http_max_header_bytes;
	rna_usec http_idle_timeout, http_request_timeout, http_reply_timeout;
	unsigned http_max_old_bytes;
	char *http_web_config_file; /* "": none */
	int metrics_collectors;     /* 1: each job has series of its own; 0: each collector */
	bool metrics_details;
	bool metrics_gid_info;
	bool metrics_qos_details;
	bool metrics_node_exporter_names;
	bool metrics_virtual_functions;
	bool metrics_users;
	bool metrics_fec_lanes;
	bool metrics_finding_text;
	bool metrics_priorities;
	int metrics_gpu_nic_paths; /* enum rna_path_class; SAME: the nearest only */
	char **devices_include;    /* NULL-ended, or NULL: none */
	char **devices_exclude;
	char **health_disable;
	char **health_hold_down;
	char **health_thresholds;
	char **health_silence;
	rna_usec health_boot_grace;
	bool health_virtual_functions;
	char **qos_expect; /* NULL-ended, or NULL: none */
	char **expect_up;  /* NULL-ended, or NULL: none */
	char **expect_down;
	char *expect_profile;        /* "": none; "auto", or the path of a file */
	char *state_directory;       /* "": none */
	int kubernetes_backend;      /* RNA_NODE_BACKEND_BIT()s; 0: off */
	char *kubernetes_node_name;  /* "": $NODE_NAME */
	char *kubernetes_kubeconfig; /* "": the pod's service account */
	char *kubernetes_roce_key;
	int kubernetes_roce_label; /* enum rna_roce_label */
	char *kubernetes_roce_value;
	char *kubernetes_label_prefix;
	rna_usec kubernetes_up_delay;
	rna_usec kubernetes_down_delay;
	bool kubernetes_conditions;
	bool kubernetes_events;
	char *kubernetes_taint;        /* key; "": none */
	int kubernetes_taint_effect;   /* enum rna_taint_effect */
	int kubernetes_taint_when;     /* enum rna_taint_when */
	char *kubernetes_taint_leases; /* "NAMESPACE/NAME"; "": no limit */
	bool kubernetes_taint_dry_run;
	int kubernetes_device_taints;   /* enum rna_device_taints */
	char *kubernetes_server;        /* "": as the kubeconfig or the pod says */
	char **kubernetes_former_names; /* NULL-ended, or NULL: none */
	char **kubernetes_resources;    /* beyond those known to; NULL-ended, or NULL: none */
	rna_usec kubernetes_spread;
	unsigned kubernetes_changes;
	unsigned kubernetes_urgent_changes;
	rna_usec kubernetes_refresh;
	char *kubernetes_nfd_directory;
	char *control_socket; /* "": none */
	int security_seccomp; /* enum rna_seccomp_mode */
	rna_usec quiesce_timeout;
	char *quiesce_node_label;       /* "": none */
	char **quiesce_node_label_idle; /* NULL-ended, or NULL: none */
	bool probe_enabled;
	char *probe_secret_file; /* "": none */
	char *probe_group;
	char *probe_members_file; /* "": none; likewise, and one of them at most: */
	char *probe_members_dns;
	char *probe_members_kubernetes;
	char **probe_leaf;      /* NULL-ended, or NULL: none */
	char *probe_leaf_label; /* "": none */
	unsigned probe_neighbours;
	rna_usec probe_period;
	unsigned probe_large_every; /* 0: no large ones */
	bool probe_priority;
	char *probe_traffic_class; /* "auto", or a number; likewise: */
	char *probe_service_level;
	bool probe_host_mesh;
	bool probe_bandwidth;
	unsigned probe_bandwidth_port;
	char **probe_bandwidth_window; /* NULL-ended, or NULL: none */
	bool selftest_enabled;
	rna_usec selftest_period;
	unsigned selftest_bytes; /* MiB for each endpoint */
	rna_usec selftest_time_limit;
	unsigned selftest_size;        /* bytes of a write */
	unsigned selftest_queue_pairs; /* 0: as the link's speed wants it */
	bool selftest_relaxed_ordering;
	bool selftest_remote_memory;
	bool selftest_gpu_memory;
	rna_usec selftest_quiet;
	unsigned selftest_busy_rate;     /* MB/s */
	unsigned selftest_idle_contexts; /* of a device, by services that are always there */
	char *selftest_node_label;       /* "": none */
	char **selftest_window;          /* NULL-ended, or NULL: any time */
	unsigned selftest_ok;            /* percent of what is expected; 0: as vendors rate it */
	unsigned selftest_warning;       /* 0: ten less than selftest_ok */
	unsigned selftest_siblings;
	char **selftest_limits; /* NULL-ended, or NULL: none */
	int log_level;          /* LOG_* */
};

/* Fills with defaults. 0 or -ENOMEM. */
int rna_settings_init(struct rna_settings *settings);
void rna_settings_deinit(struct rna_settings *settings); /* idempotent, fine on zeroed structs */

/*
 * Reads path on top of the defaults. NULL: RNA_CONFIG_DEFAULT, which need not exist. *ret is
 * untouched on failure. An error names file, line, key and what is allowed; for an unknown key
 * also the nearest known one. error has the first mistake, rest (NULL is fine) what else there is;
 * invalid YAML is a single mistake.
 */
int rna_config_load(const char *path, struct rna_settings *ret, struct rna_mistakes *rest,
		    struct rna_error *error);

/*
 * The same for who can still mend the file: names that Kubernetes would not take are mistakes as
 * well. An agent that starts goes on without Kubernetes then.
 */
int rna_config_check(const char *path, struct rna_settings *ret, struct rna_mistakes *rest,
		     struct rna_error *error);

/* A value of the command line for a setting. Texts are the caller's. */
struct rna_override {
	const char *option;  /* its name, for errors; NULL ends a list */
	const char *setting; /* "http.listen" */
	const char *value;
};

/*
 * Puts overrides (NULL: none) in the place of what settings have; those of a list together. A
 * relative path is one from the current directory. 0, or negative errno with error, which begins
 * with the option.
 */
int rna_config_override(const struct rna_override *overrides, struct rna_settings *settings,
			struct rna_error *error);

/*
 * Puts file and line in front of an error that begins with the key of a setting: for what is found
 * out about settings later. Just the file where it gives no such setting, or there is no file.
 */
void rna_config_point(const char *path, struct rna_error *error);

/* Would Kubernetes take the names that are for it? 0, or -EINVAL with error: "kubernetes.taint:
 * ..." */
int rna_settings_check_names(const struct rna_settings *settings, struct rna_error *error);

/* Have all settings of a section ("kubernetes") the same values in both? */
bool rna_settings_are_same(const struct rna_settings *a, const struct rna_settings *b,
			   const char *section);

/* The table for the command describe. */
void rna_settings_describe(struct rna_strbuf *out);
