// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of the kernel log against the patterns: each pattern with lines that the kernel writes,
 * whole and cut, and lines of a healthy boot. A line without a remark is the format of the source
 * that the pattern names (agent/core/model/log_table.c), with values of a possible node; others
 * name the public report that they are of.
 */
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/model/driver.h"
#include "rna/model/log_match.h"

struct sample {
	const char *pattern, *line;
	const char *pci, *netdev, *rdma; /* NULL: not named */
};

#define MLX5 "mlx5_core 0000:3b:00.0: "
#define A    "0000:3b:00.0"

/* clang-format off */
static const struct sample samples[] = {
	/* openucx/ucx#7738 */
	{"mlx5-command-timeout", "mlx5_core 0000:61:00.0: wait_func:1132:(pid 141181): CREATE_DCT(0x710) timeout. Will cause a leak of a command resource", "0000:61:00.0"},
	{"mlx5-command-timeout", MLX5 "cb_timeout_handler:947:(pid 3127): cmd[2]: CREATE_MKEY(0x200) Async, timeout. Will cause a leak of a command resource", A},
	{"mlx5-command-timeout", MLX5 "wait_func:1186:(pid 812): unknown command opcode(0x9ff) timeout. Will cause a leak of a command resource", A},
	{"mlx5-command-late", MLX5 "wait_func_handle_exec_timeout:1151:(pid 812): cmd[0]: ACCESS_REG(0x805) recovered after timeout", A},
	{"mlx5-command-late", MLX5 "cb_timeout_handler:941:(pid 812): cmd[3]: MODIFY_QP(0x50a) Async, recovered after timeout", A},
	{"mlx5-command-queue", MLX5 "cmd_work_handler:993:(pid 55): QUERY_VPORT_STATE(0x750) timed out while waiting for a slot.", A},
	{"mlx5-command-queue", MLX5 "wait_func:1192:(pid 55): QUERY_VPORT_STATE(0x750) timeout while waiting for command semaphore.", A},
	{"mlx5-command-canceled", MLX5 "wait_func:1189:(pid 55): QUERY_Q_COUNTER(0x773) canceled on out of queue timeout.", A},
	/* A commit message of the driver */
	{"mlx5-command-slots", "mlx5_core 0000:01:00.0: cmd_work_handler:877:(pid 3880418): failed to allocate command entry", "0000:01:00.0"},
	{"mlx5-command-internal-error", MLX5 "mlx5_cmd_out_err:815:(pid 55): CREATE_QP(0x500) op_mod(0x0) failed, status internal error(0x1), syndrome (0x60a5e1), err(-5)", A},
	/* prometheus/node_exporter#3434 */
	{"mlx5-register-refused", "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 1441871): ACCESS_REG(0x805) op_mod(0x1) failed, status bad resource(0x5), syndrome (0x305684), err(-22)", "0000:d2:00.0"},
	{"mlx5-health-compromised", MLX5 "poll_health:801:(pid 0): device's health compromised - reached miss count", A},
	{"mlx5-health-compromised", MLX5 "poll_health:155:(pid 0): device's health compromised", A},
	{"mlx5-fatal-error", MLX5 "poll_health:785:(pid 0): Fatal error 1 detected", A},
	{"mlx5-hardware-error", MLX5 "print_health_info:431:(pid 0): Health issue observed, unrecoverable hardware error, severity(3) ERROR:", A},
	{"mlx5-hardware-error", MLX5 "print_health_info:447:(pid 0): synd 0x8: unrecoverable hardware error", A},
	{"mlx5-hardware-error", MLX5 "synd 0x8: unrecoverable hardware error", A},
	{"mlx5-overheated", MLX5 "print_health_info:431:(pid 0): Health issue observed, High temperature, severity(3) ERROR:", A},
	{"mlx5-overheated", MLX5 "synd 0x10: High temprature", A},
	{"mlx5-health-issue", MLX5 "print_health_info:431:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:", A},
	/* hsynd_str() ends it with a line feed: \x0a in /dev/kmsg, itself in the journal. */
	{"mlx5-health-issue", MLX5 "print_health_info:431:(pid 0): Health issue observed, HW fatal error\\x0a, severity(2) CRITICAL:", A},
	{"mlx5-health-issue", MLX5 "print_health_info:431:(pid 0): Health issue observed, HW fatal error\n, severity(2) CRITICAL:", A},
	{"mlx5-health-notice", MLX5 "print_health_info:431:(pid 0): Health issue observed, ICM fetch PCI error, severity(4) WARNING:", A},
	{"mlx5-recovery-failed", MLX5 "mlx5_health_try_recover:338:(pid 1311): health recovery flow aborted, PCI reads still not working", A},
	{"mlx5-recovery-failed", MLX5 "mlx5_fw_fatal_reporter_err_work:644:(pid 1311): health recovery failed", A},
	{"mlx5-error-state", MLX5 "mlx5_fw_fatal_reporter_err_work:657:(pid 1311): Driver is in error state. Unloading", A},
	{"mlx5-cold-reset", MLX5 "print_health_info:460:(pid 0): Cold reset is required", A},
	{"mlx5-recovered", MLX5 "health recovery succeeded", A},
	{"mlx5-recovered", MLX5 "mlx5_health_try_recover:312:(pid 1311): health recovery succeeded", A},
	{"mlx5-firmware-not-started", MLX5 "wait_fw_init:201:(pid 7): Firmware over 120000 MS in pre-initializing state, aborting", A},
	{"mlx5-initialization-failed", MLX5 "probe_one:1992:(pid 7): mlx5_init_one failed with error code -110", A},
	/* pocopico/rp-ext#129 */
	{"mlx5-initialization-failed", "mlx5_core 0000:01:00.0: mlx5_load_one failed with error code -22", "0000:01:00.0"},
	{"mlx5-firmware-unresponsive", MLX5 "mlx5_pci_link_toggle:580:(pid 7): Firmware is not responsive (0xffff) after 2000 ms", A},
	{"mlx5-link-not-ready", MLX5 "mlx5_pci_link_toggle:562:(pid 7): PCI link not ready (0x1041) after 2000 ms", A},
	{"mlx5-reload-aborted", MLX5 "mlx5_fw_reset_complete_reload:246:(pid 7): reset reload flow aborted, PCI reads still not working", A},
	{"mlx5-firmware-reset-late", MLX5 "mlx5_fw_reset_wait_reset_done:822:(pid 9120): FW sync reset timeout after 140 seconds", A},
	{"mlx5-pages-kept", MLX5 "mlx5_reclaim_root_pages:727:(pid 9120): FW did not return all pages. giving up...", A},
	{"mlx5-pages-not-reclaimed", MLX5 "reclaim_pages:561:(pid 9120): failed reclaiming pages: err -110", A},
	{"mlx5-firmware-reset-failed", MLX5 "mlx5_fw_reset_get_reset_state_err:225:(pid 7): Sync reset did not complete, state=3", A},
	{"mlx5-transmit-timeout", "mlx5_core 0000:3b:00.0 ens1f0np0: TX timeout detected", A, "ens1f0np0"},
	{"mlx5-transmit-timeout", "mlx5_core 0000:3b:00.0 ens1f0np0: TX timeout on queue: 12, SQ: 0x11a3, CQ: 0x4b1, SQ Cons: 0x1 SQ Prod: 0x4f, usecs since last trans: 15328000", A, "ens1f0np0"},
	{"mlx5-transmit-stuck", "mlx5_core 0000:3b:00.0 ens1f0np0: mlx5e_safe_reopen_channels failed recovering from a tx_timeout, err(-110).", A, "ens1f0np0"},
	{"mlx5-receive-timeout", "mlx5_core 0000:65:00.0 ens15np0: RX timeout on channel: 20, ICOSQ: 0x1ee0, RQ: 0x1e43, CQ: 0x3ea6", "0000:65:00.0", "ens15np0"},
	{"mlx5-queue-recovered", "mlx5_core 0000:3b:00.0 ens1f0np0: Recovered 3 eqes on EQ 0x1b", A, "ens1f0np0"},
	{"mlx5-queue-error", "mlx5_core 0000:3b:00.0 ens1f0np0: ERR CQE on SQ: 0x1165", A, "ens1f0np0"},
	{"mlx5-queue-error", "mlx5_core 0000:3b:00.0 ens1f0np0: ERR CQE on ICOSQ: 0x11d4", A, "ens1f0np0"},
	{"mlx5-lag-failed", MLX5 "mlx5_create_lag:629:(pid 311): Failed to create LAG (-22)", A},
	{"mlx5-lag-failed", MLX5 "mlx5_mpesw_work:96:(pid 311): Failed to create LAG in MPESW mode (-95)", A},
	{"mlx5-lag-stuck", MLX5 "mlx5_deactivate_lag:730:(pid 311): Failed to deactivate RoCE LAG; driver restart required", A},
	/* leptonai/gpud */
	{"mlx5-slot-power", "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).", "0000:5c:00.0"},
	{"mlx5-slot-power-sufficient", MLX5 "mlx5_pcie_event:306:(pid 1311): PCIe slot advertised sufficient power (75W).", A},
	{"mlx5-module-error", MLX5 "port_module:257:(pid 0): Port module event[error]: module 0, Cable error, Bus stuck (I2C or data shorted)", A},
	{"mlx5-module-error", MLX5 "port_module:257:(pid 0): Port module event[error]: module 1, Cable error, Power budget exceeded", A},
	{"mlx5-module-error", MLX5 "port_module:257:(pid 0): Port module event[error]: module 1, Cable error, Unknown error", A},
	{"mlx5-module-powered-down", MLX5 "port_module:257:(pid 0): Port module event[error]: module 0, Cable error, One or more network ports have been powered down due to insufficient/unadvertised power on the PCIe slot", A},
	{"mlx5-module-overheated", MLX5 "mlx5_port_module_event:1131:(pid 0): Port module event[error]: module 0, Cable error, High Temperature", A},
	{"mlx5-module-changed", MLX5 "Port module event: module 0, Cable plugged", A},
	{"mlx5-module-changed", MLX5 "mlx5_port_module_event:1025:(pid 0): Port module event: module 1, Cable unplugged", A},
	{"mlx5-high-temperature", "mlx5_core 0000:41:00.1: temp_warn:170:(pid 0): High temperature on sensors with bit set 0 1", "0000:41:00.1"},
	{"mlx5-pci-offline", "mlx5_core 0004:01:00.0: mlx5_error_sw_reset:252:(pid 1618): PCI channel offline, stop waiting for NIC IFC", "0004:01:00.0"},
	{"mlx5-slot-unavailable", MLX5 "print_health_info:425:(pid 0): PCI slot is unavailable", A},
	{"mlx5-pci-error", MLX5 "mlx5_pci_err_detected Device state = 1 health sensors: 0 pci_status: 1. Enter, pci channel state = 2", A},
	{"mlx5-pci-error", MLX5 "mlx5_pci_err_detected was called", A},
	{"mlx5-reset-not-vital", MLX5 "mlx5_pci_slot_reset:2118:(pid 91): mlx5_pci_slot_reset: wait vital failed with error code: -110", A},
	{"mlx5-pci-resumed", MLX5 "mlx5_pci_resume Device state = 1 health sensors: 0 pci_status: 1. Done, err = 0, device recovered", A},
	{"mlx5-registration-error", "infiniband mlx5_0: mlx5r_umr_post_send_wait:400:(pid 911): reg umr failed (6). Trying to recover and resubmit the flushed WQEs, mkey = 1203", NULL, NULL, "mlx5_0"},
	{"mlx5-work-failed", "infiniband mlx5_0: dump_cqe:273:(pid 0): dump error cqe", NULL, NULL, "mlx5_0"},
	{"mlx5-work-failed", "infiniband mlx5_0: dump_cqe:277:(pid 0): WC error: 2, Message: local QP operation error", NULL, NULL, "mlx5_0"},
	{"mlx5-work-failed", "infiniband mlx5_0: dump_cqe:277:(pid 0): WC error: 13, Message: RNR retry counter exceeded", NULL, NULL, "mlx5_0"},
	{"mlx5-registration-failed", "infiniband mlx5_0: mlx5r_umr_post_send_wait:405:(pid 911): couldn't recover UMR, err -5", NULL, NULL, "mlx5_0"},

	{"mlx4-internal-error", "mlx4_core 0000:04:00.0: Internal error detected:", "0000:04:00.0"},
	{"mlx4-internal-error", "mlx4_core 0000:04:00.0: Internal error detected on the communication channel", "0000:04:00.0"},
	{"mlx4-internal-error", "mlx4_core 0000:04:00.0: Internal error mark was detected on device", "0000:04:00.0"},
	{"mlx4-command-timeout", "mlx4_core 0000:04:00.0: command 0x24 timed out (go bit not cleared)", "0000:04:00.0"},
	{"mlx4-command-timeout", "mlx4_core 0000:04:00.1: Communication channel command 0x5 timed out", "0000:04:00.1"},
	{"mlx4-command-timeout", "mlx4_core 0000:04:00.1: communication channel command 0x5 (op=0x24) timed out", "0000:04:00.1"},
	{"mlx4-restart-failed", "mlx4_core 0000:04:00.0: mlx4_restart_one was ended, ret=-5", "0000:04:00.0"},
	{"mlx4-restarted", "mlx4_core 0000:04:00.0: mlx4_restart_one was ended, ret=0", "0000:04:00.0"},
	{"mlx4-reset-failed", "mlx4_core 0000:04:00.0: Fail to reset HCA", "0000:04:00.0"},
	{"mlx4-reset-failed", "mlx4_core 0000:04:00.0: Failed to reset HCA, aborting", "0000:04:00.0"},
	{"mlx4-overheated", "mlx4_core 0000:04:00.0: Temperature Threshold was reached! Threshold: 105 celsius degrees; Current Temperature: 107", "0000:04:00.0"},
	{"mlx4-transmit-timeout", "mlx4_en: ens1d1: TX timeout on queue: 17, QP: 0x259, CQ: 0xc9, Cons: 0xffff1c1b, Prod: 0xffff1c4b", NULL, "ens1d1"},
	{"mlx4-pci-error", "mlx4_core 0000:04:00.0: mlx4_pci_err_detected was called", "0000:04:00.0"},

	{"bnxt-transmit-timeout", "bnxt_en 0000:3b:00.0 ens2f0np0: TX timeout detected, starting reset task!", A, "ens2f0np0"},
	{"bnxt-command-timeout", "bnxt_en 0000:3b:00.0 ens2f0np0: Error (timeout: 500015) msg {0x41 0x5d9} len:0", A, "ens2f0np0"},
	{"bnxt-command-timeout", "bnxt_en 0000:3b:00.0 (unnamed net_device) (uninitialized): Error (timeout: 500015) msg {0x0 0x0} len:0 v:0", A},
	{"bnxt-command-lost", "bnxt_en 0000:3b:00.0 ens2f0np0: Resp cmpl intr err msg: 0x51", A, "ens2f0np0"},
	{"bnxt-command-abandoned", "bnxt_en 0000:3b:00.0 ens2f0np0: Abandoning msg {0x51 0x12} len: 0 due to firmware status: 0x8001", A, "ens2f0np0"},
	{"bnxt-firmware-fatal", "bnxt_en 0000:3b:00.0 ens2f0np0: Detected firmware fatal condition, initiating reset", A, "ens2f0np0"},
	{"bnxt-firmware-reset", "bnxt_en 0000:3b:00.0 ens2f0np0: Fatal firmware reset event, data1: 0x10002, data2: 0x8001, min wait 2000 ms, max wait 60000 ms", A, "ens2f0np0"},
	{"bnxt-firmware-reset", "bnxt_en 0000:3b:00.0 ens2f0np0: Non-fatal firmware reset event, data1: 0x2, data2: 0x8002, min wait 2000 ms, max wait 60000 ms", A, "ens2f0np0"},
	{"bnxt-firmware-not-responding", "bnxt_en 0000:3b:00.0 ens2f0np0: Firmware not responding, status: 0xdead", A, "ens2f0np0"},
	{"bnxt-reset-failed", "bnxt_en 0000:3b:00.0 ens2f0np0: Firmware reset aborted, rc = -110", A, "ens2f0np0"},
	{"bnxt-reset-failed", "bnxt_en 0000:3b:00.0 ens2f0np0 (unregistering): Firmware reset aborted", A, "ens2f0np0"},
	{"bnxt-overheated", "bnxt_en 0000:3b:00.0 ens2f0np0: Chip temperature has gone above the critical thermal threshold!", A, "ens2f0np0"},
	{"bnxt-cooled", "bnxt_en 0000:3b:00.0 ens2f0np0: Chip temperature has gone below the warning thermal threshold!", A, "ens2f0np0"},
	{"bnxt-pause-storm", "bnxt_en 0000:3b:00.0 ens2f0np0: Pause Storm detected!", A, "ens2f0np0"},
	{"bnxt-doorbells-dropped", "bnxt_en 0000:3b:00.0 ens2f0np0: One or more MMIO doorbells dropped by the device!", A, "ens2f0np0"},
	{"bnxt-pci-error", "bnxt_en 0000:3b:00.0 ens2f0np0: PCI I/O error detected", A, "ens2f0np0"},
	/* Reports of Proxmox and of rdma-perf; the driver has dev_fmt() "QPLIB: ". */
	{"bnxt-re-firmware-stall", "bnxt_en 0000:12:00.0: QPLIB: bnxt_re_is_fw_stalled: FW STALL Detected. cmdq[0xe]=0x3 waited (103641 > 100000) msec active 1 ", "0000:12:00.0"},
	{"bnxt-re-command-timeout", "bnxt_en 0000:19:00.0: QPLIB: cmdq[0x41d]=0x3 timedout (20000)msec", "0000:19:00.0"},

	{"intel-transmit-timeout", "ice 0000:17:00.0 ens3f0: tx_timeout recovery level 1, txqueue 22", "0000:17:00.0", "ens3f0"},
	{"intel-transmit-timeout", "i40e 0000:17:00.1 ens3f1: tx_timeout recovery level 2, txqueue 4", "0000:17:00.1", "ens3f1"},
	{"intel-transmit-stuck", "ice 0000:17:00.0 ens3f0: tx_timeout recovery unsuccessful, device is in unrecoverable state.", "0000:17:00.0", "ens3f0"},
	{"intel-transmit-stuck", "i40e 0000:17:00.0 ens3f0: tx_timeout recovery unsuccessful, device is in non-recoverable state.", "0000:17:00.0", "ens3f0"},
	{"intel-malicious-driver", "ice 0000:17:00.0: Malicious Driver Detection event 2 on TX queue 1284 PF# 0 VF# 3", "0000:17:00.0"},
	{"intel-malicious-driver", "i40e 0000:17:00.0: Malicious Driver Detection event 0x02 on RX queue 9 of function 0x00", "0000:17:00.0"},
	{"ice-rebuild-failed", "ice 0000:17:00.0: Rebuild failed, unload and reload driver", "0000:17:00.0"},
	{"ice-safe-mode", "ice 0000:17:00.0: The DDP package file was not found or could not be read. Entering Safe Mode", "0000:17:00.0"},
	{"ice-safe-mode", "ice 0000:17:00.0: The firmware loaded on the device is not compatible with the DDP package.  Please update the device's NVM.  Entering safe mode.", "0000:17:00.0"},
	{"ice-module-refused", "ice 0000:17:00.0: The module's power requirements exceed the device's power supply. Cannot start link", "0000:17:00.0"},
	{"intel-module-refused", "i40e 0000:17:00.0: Rx/Tx is disabled on this device because the module does not meet thermal requirements.", "0000:17:00.0"},
	{"intel-module-refused", "ice 0000:17:00.0 ens3f0: Rx/Tx is disabled on this device because an unsupported module type was detected. Refer to the Intel(R) Ethernet Adapters and Devices User Guide for a list of supported modules.", "0000:17:00.0"},
	{"irdma-critical-error", "ice 0000:17:00.0 rocep23s0f0: critical PE Error, GLPE_CRITERR=0x00000205", "0000:17:00.0", NULL, "rocep23s0f0"},
	{"irdma-memory-error", "ice 0000:17:00.0 rocep23s0f0: HMC Error", "0000:17:00.0", NULL, "rocep23s0f0"},
	{"irdma-push-error", "ice 0000:17:00.0 rocep23s0f0: PE Push Error", "0000:17:00.0", NULL, "rocep23s0f0"},
	{"irdma-reset", "ice 0000:17:00.0 rocep23s0f0: Requesting a reset", "0000:17:00.0", NULL, "rocep23s0f0"},
	{"irdma-reset", "idpf 0000:17:00.0 irdma0: Requesting a reset", "0000:17:00.0", NULL, "irdma0"},
	{"irdma-initialization-failed", "ice 0000:17:00.0: IRDMA hardware initialization FAILED init_state=4 status=-110", "0000:17:00.0"},

	{"efa-command-timeout", "efa 0000:00:06.0 rdmap0s6: Wait for completion (polling) timeout", "0000:00:06.0", NULL, "rdmap0s6"},
	/* As the unit tests of NVSentinel have it. */
	{"efa-command-timeout", "infiniband rdmap16s27: The device didn't send any completion for admin cmd CREATE_QP(6) status 0 (ctx 0x000000001d2f9d31, sq producer: 12, sq consumer: 11, cq consumer: 11)", NULL, NULL, "rdmap16s27"},
	{"efa-command-timeout", "efa 0000:10:1b.0 rdmap16s27: The device sent a completion but the driver didn't receive any MSI-X interrupt for admin cmd REG_MR(7) status 0 (ctx: 0x000000001d2f9d31, sq producer: 12, sq consumer: 11, cq consumer: 11)", "0000:10:1b.0", NULL, "rdmap16s27"},
	{"efa-queue-closed", "efa 0000:10:1b.0 rdmap16s27: Admin queue is closed", "0000:10:1b.0", NULL, "rdmap16s27"},
	{"efa-reset-failed", "efa 0000:10:1b.0 (null): Reset indication didn't turn on", "0000:10:1b.0"},
	{"efa-not-ready", "efa 0000:10:1b.0 (null): Device isn't ready, abort com init 0x0", "0000:10:1b.0"},
	{"efa-not-ready", "efa 0000:10:1b.0: Device isn't ready, can't reset device", "0000:10:1b.0"},
	{"efa-register-timeout", "efa 0000:10:1b.0 rdmap16s27: Reading register timed out. expected: req id[12] offset[0x54] actual: req id[11] offset[0x54]", "0000:10:1b.0", NULL, "rdmap16s27"},
	{"efa-completion-damaged", "efa 0000:10:1b.0 rdmap16s27: Received completion with invalid checksum, cqe[4711], calc[815], sq producer[12], sq consumer[11], cq consumer[11]", "0000:10:1b.0", NULL, "rdmap16s27"},
	/* The troubleshooting guide of AWS Neuron */
	{"efa-command-failed", "efa 0000:a0:1a.0 rdmap160s26: Failed to process command DEREG_MR (opcode 8) comp_status 7 err -22", "0000:a0:1a.0", NULL, "rdmap160s26"},
	{"efa-command-failed", "infiniband rdmap0s6: Failed to submit command REG_MR (opcode 9) err -12", NULL, NULL, "rdmap0s6"},
	{"efa-initialization-failed", "efa 0000:10:1b.0: EFA device init failed", "0000:10:1b.0"},

	/* A commit message of the driver */
	{"ionic-heartbeat-stalled", "ionic 0000:24:00.0: FW heartbeat stalled at -1342169688", "0000:24:00.0"},
	{"ionic-heartbeat-restored", "ionic 0000:b5:00.0: FW heartbeat restored at 1844", "0000:b5:00.0"},
	{"ionic-firmware-down", "ionic 0000:b5:00.0: FW Down: Stopping LIFs", "0000:b5:00.0"},
	{"ionic-firmware-up", "ionic 0000:b5:00.0: FW Up: LIFs restarted", "0000:b5:00.0"},
	{"ionic-restart-failed", "ionic 0000:b5:00.0: FW Up: LIFs restart failed - err -5", "0000:b5:00.0"},
	{"ionic-command-timeout", "ionic 0000:b5:00.0: DEVCMD IONIC_CMD_PORT_GETATTR (13) timeout after 5 secs", "0000:b5:00.0"},
	{"ionic-transmit-timeout", "ionic 0000:b5:00.0 ens5: Tx Timeout triggered - txq 6", "0000:b5:00.0", "ens5"},
	{"ionic-rdma-command-timeout", "ionic 0000:b5:00.0 ionic_0: admin command timed out, aq 1 after: 2004ms", "0000:b5:00.0", NULL, "ionic_0"},

	/* A mail about the driver */
	{"hns3-transmit-timeout", "hns3 0000:c2:00.0 eth1: tx_timeout count: 1, queue id: 10, SW_NTU: 0x1, SW_NTC: 0x0, napi state: 16", "0000:c2:00.0", "eth1"},
	{"hns3-reset-failed", "hns3 0000:7d:00.0: Reset fail!", "0000:7d:00.0"},
	{"hns3-reset-done", "hns3 0000:7d:00.0: Reset done, hclge driver initialization finished.", "0000:7d:00.0"},
	{"hns3-firmware-watchdog", "hns3 0000:7d:00.0: IMP firmware watchdog reset soon expected!", "0000:7d:00.0"},
	{"hns3-hardware-error", "hns3 0000:7d:00.0: HNS Non-Fatal RAS error(status=0x2) identified", "0000:7d:00.0"},
	{"hns3-hardware-error", "hns3 0000:7d:00.0: ROCEE Non-Fatal RAS error identified", "0000:7d:00.0"},
	{"hns3-roce-memory-error", "hns3 0000:7d:00.0: ROCEE RAS AXI rresp error", "0000:7d:00.0"},
	{"hns3-roce-memory-error", "hns3 0000:7d:00.0: ROCEE RAS 2bit ECC error", "0000:7d:00.0"},
	{"hns-roce-command-timeout", "hns3 0000:7d:00.0: [cmd] token 0x12 mailbox 0x28 timeout.", "0000:7d:00.0"},
	{"hns-roce-queue-error", "hns3 0000:7d:00.0 hns_0: Cmdq IO error, opcode = 0x8510, return = -5.", "0000:7d:00.0", NULL, "hns_0"},
	{"hns-roce-event-overflow", "hns3 0000:7d:00.0: AEQ overflow!", "0000:7d:00.0"},

	{"hfi1-heartbeat-lost", "hfi1 0000:05:00.0: hfi1_0: Lost 8051 heartbeat", "0000:05:00.0"},
	{"hfi1-command-timeout", "hfi1 0000:05:00.0: hfi1_0: 8051 host command 3 timeout", "0000:05:00.0"},
	{"hfi1-module-overheated", "hfi1 0000:05:00.0: hfi1_0: handle_qsfp_error_conditions: QSFP cable temperature too high", "0000:05:00.0"},
	{"hfi1-freeze", "hfi1 0000:05:00.0: hfi1_0: Aborted freeze recovery. Please REBOOT system", "0000:05:00.0"},
	/* A commit message of the driver */
	{"mana-command-timeout", "mana 39d4:00:02.0: HWC: Request timed out!", "39d4:00:02.0"},
	{"mana-command-timeout", "mana 7870:00:00.0: HWC: Request timed out: 15000 ms", "7870:00:00.0"},
	{"mana-events-lost", "mana 7870:00:00.0: EQ 7: overflow detected", "7870:00:00.0"},
	{"mana-reset-failed", "mana 7870:00:00.0: MANA reset cycle failed err -110", "7870:00:00.0"},
	{"mana-reset-done", "mana 7870:00:00.0: MANA reset cycle completed", "7870:00:00.0"},
	/* Mails of 2026 about the driver */
	{"mana-command-timeout", "mana 7870:00:00.0: Command 0x2000b timed out: 15000 ms", "7870:00:00.0"},

	/* pocopico/rp-ext#129 */
	{"driver-probe-failed", "mlx5_core: probe of 0000:01:00.0 failed with error -22", "0000:01:00.0"},
	/* qualcomm-linux/kernel#1062 has this line of another driver. */
	/* The formats of call_driver_probe() (6.1, 6.12) with names of auxiliary devices */
	{"rdma-driver-refused", "irdma: probe of ice.roce.0 failed with error -12"},
	{"rdma-driver-refused", "mlx5_ib.rdma mlx5_core.rdma.3: probe with driver mlx5_ib.rdma failed with error -12"},
	{"driver-probe-failed", "erdma 0000:01:00.0: probe with driver erdma failed with error -110", "0000:01:00.0"},
	{"driver-probe-failed", "mlx5_core 0000:01:00.0: probe with driver mlx5_core failed with error -110", "0000:01:00.0"},

	/* csrutil/OpenWrt-NIC-Drivers#11, of another driver */
	{"netdev-watchdog", "r8125 0000:22:04.0 eth4: NETDEV WATCHDOG: CPU: 3: transmit queue 0 timed out 5010 ms", "0000:22:04.0", "eth4"},
	{"netdev-watchdog", "mlx5_core 0000:65:00.0 eth0: NETDEV WATCHDOG: CPU: 5: transmit queue 0 timed out 5032 ms", "0000:65:00.0", "eth0"},
	{"netdev-watchdog", "bond0: NETDEV WATCHDOG: CPU: 5: transmit queue 0 timed out 5032 ms", NULL, "bond0"},
	/* mptcp#61 with another driver */
	{"netdev-watchdog-warning", "NETDEV WATCHDOG: eth2 (mlx5_core): transmit queue 5 timed out", NULL, "eth2"},

	{"ib-mad-failed", "infiniband mlx5_2: Fatal error (1) on MAD QP (0)", NULL, NULL, "mlx5_2"},
	/* The same reports */
	{"ib-port-not-opened", "infiniband bnxt_re0: Couldn't start port", NULL, NULL, "bnxt_re0"},
	{"ib-port-not-opened", "infiniband bnxt_re0: Couldn't create ib_mad CQ", NULL, NULL, "bnxt_re0"},
	{"ib-port-not-opened", "infiniband bnxt_re0: Couldn't open port 1", NULL, NULL, "bnxt_re0"},
	{"ib-query-failed", "infiniband mlx5_2: ib_query_port failed (-5)", NULL, NULL, "mlx5_2"},
	{"ib-connection-stuck", "cm_destroy_id_wait_timeout: cm_id=00000000a24b3bc8 timed out. state 2 -> 0, refcnt=2"},
	{"ipoib-transmit-timeout", "ib0: transmit timeout: latency 5390 msecs", NULL, "ib0"},
	{"ipoib-transmit-stuck", "ib0: ipoib_open failed recovering from a tx_timeout, err(-5).", NULL, "ib0"},
	{"ipoib-send-failed", "ib0: failed send event (status=12, wrid=33 vend_err 0x81)", NULL, "ib0"},
	{"ipoib-send-failed", "ibp59s0.8001: ipoib_cm_handle_tx_wc: failed cm send event (status=10, wrid=4 vend_err 0x88)", NULL, "ibp59s0.8001"},
	{"ipoib-join-failed", "ib0: multicast join failed for ff12:401b:ffff:0000:0000:0000:ffff:ffff, status -22", NULL, "ib0"},
	{"ipoib-join-failed", "ib0: sendonly multicast join failed for ff12:601b:ffff:0000:0000:0000:0000:0016, status -22", NULL, "ib0"},
	{"srp-failed", "scsi host7: ib_srp: failed RECV status transport retry counter exceeded (12) for CQE 00000000b3d1a4ac"},
	{"srp-connect-failed", "scsi host7: ib_srp: Got failed path rec status -110"},
	{"srp-connect-failed", "scsi host7: ib_srp: Path record query failed: sgid fe80:0000:0000:0000:e41d:2d03:0000:b2a1, dgid fe80:0000:0000:0000:e41d:2d03:0000:b2b1, pkey 0xffff, service_id 0xe41d2d030000b2b0"},
	{"srp-connect-failed", "scsi host7: ib_srp: SRP_LOGIN_REJ: requested max_it_iu_len too large"},
	{"srp-connect-failed", "scsi host7: ib_srp: SRP LOGIN from fe80:0000:0000:0000:e41d:2d03:0000:b2a1 to fe80:0000:0000:0000:e41d:2d03:0000:b2b1 REJECTED, reason 0x00010006"},
	{"srp-connect-failed", "scsi host7: ib_srp: SRP LOGIN REJECTED, reason 0x00010001"},
	{"srp-connect-failed", "scsi host7: ib_srp: Connection 0/16 to fe80:0000:0000:0000:e41d:2d03:0000:b2b1 failed"},
	{"srp-connect-failed", "ib_srp: Resolving address 10.1.0.7:5555 failed (-110)"},
	{"srp-rejected", "scsi host7:   REJ reason 0x8"},
	{"srp-rejected", "scsi host7:   REJ reason: stale connection"},
	{"srp-reconnect-failed", "scsi host7: reconnect attempt 3 failed (-110)"},
	{"srp-reconnected", "scsi host7: ib_srp: reconnect succeeded"},
	{"iser-failed", "iser: iser_err_comp: command failure: transport retry counter exceeded (12) vend_err 0x81"},
	{"iser-connect-failed", "iser: iser_route_handler: failure connecting: -110"},
	{"iser-connect-failed", "iser: iser_connect: rdma_resolve_addr failed: -101"},
	{"rpcrdma-device-unfit", "rpcrdma: 'frwr' mode is not supported by device siw0"},
	{"rpcrdma-device-unfit", "rpcrdma: HCA provides only 2 send SGEs"},
	{"lnet-rdma-failed", "LNetError: 2311:0:(o2iblnd_cb.c:2973:kiblnd_rejected()) 10.1.0.7@o2ib rejected: no listener at 987"},
	{"lnet-rdma-failed", "LNetError: 2311:0:(o2iblnd_cb.c:3613:kiblnd_check_conns()) Timed out RDMA with 10.1.0.7@o2ib (107): c: 7, oc: 0, rc: 8"},
	{"lnet-rdma-failed", "LNet: 2311:0:(o2iblnd_cb.c:3573:kiblnd_check_conns()) Timed out tx for 10.1.0.7@o2ib: 4295 seconds"},
	{"lnet-rdma-failed", "LNetError: 2311:0:(o2iblnd_cb.c:3306:kiblnd_cm_callback()) 10.1.0.7@o2ib: ADDR ERROR -110 cm_id 00000000a24b3bc8"},
	{"nvme-rdma-failed", "nvme nvme3: RECV for CQE 0x00000000dd13b5b5 failed with status transport retry counter exceeded (12)"},
	/* A commit message of the driver */
	{"nvmet-rdma-failed", "nvmet_rdma: SEND for CQE 0x00000000e3337f90 failed with status transport retry counter exceeded (12)."},
	{"nvme-rdma-connect-failed", "nvme nvme3: rdma connection establishment failed (-104)"},
	{"nvme-rdma-connect-failed", "nvme nvme1: Connect rejected: status 8 (invalid service ID)."},
	{"nvme-rdma-connect-failed", "nvme nvme1: Connect rejected: status 28 (consumer defined) nvme status 5 (invalid recfmt)."},
	/* spdk/spdk#257 */
	{"nvme-rdma-connect-failed", "nvme nvme1: rdma_resolve_addr wait failed (-104)."},
	{"nvme-rdma-connect-failed", "nvme nvme1: rdma_connect_locked failed (-12)."},
	{"nvme-rdma-connect-failed", "nvme nvme1: failed to create CM ID: -12"},
	/* openucx/ucx#9488 */
	{"nvme-rdma-connect-failed", "nvme nvme1: failed to initialize PI MR pool sized 128 for QID 1"},
	/* linux-nvme/nvme-cli#3268 */
	{"nvme-rdma-timeout", "nvme nvme0: I/O tag 0 (0000) opcode 0x7f (Connect) QID 0 timeout"},
	{"nvme-rdma-timeout", "nvme nvme0: I/O 17 QID 4 timeout"},
	{"nvme-connect-failed", "nvme nvme0: Connect command failed, error wo/DNR bit: 881"},
	{"nvme-connect-failed", "nvme nvme0: Connect command failed: host path error"},
	{"nvme-connect-failed", "nvme nvme0: failed to connect queue: 0 ret=881"},
	{"nvme-connect-failed", "nvme nvme0: Failed reconnect attempt 12/60"},
	{"nvme-reconnected", "nvme nvme3: Successfully reconnected (3 attempts)"},

	{"aer-corrected", "mlx5_core 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)", A},
	/* Mails about the driver nvme of later versions */
	{"aer-corrected", "nvme 0000:04:00.0: PCIe Bus Error: severity=Correctable, type=Physical Layer, (Receiver ID)", "0000:04:00.0"},
	{"aer-uncorrected", "mlx5_core 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)", A},
	{"aer-uncorrected", "mlx5_core 0000:3b:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Requester ID)", A},
	{"aer-fatal", "pcieport 0000:3a:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Data Link Layer, (Receiver ID)", "0000:3a:00.0"},
	{"aer-fatal", "mlx5_core 0000:3b:00.0: AER: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Inaccessible, (Unregistered Agent ID)", A},
	{"aer-reported-by-firmware", "mlx5_core 0000:3b:00.0: AER: aer_status: 0x00000040, aer_mask: 0x00002000", A},
	{"aer-uncorrected-by-firmware", "mlx5_core 0000:3b:00.0: AER: aer_uncor_severity: 0x004e2030", A},
	{"aer-recovery-failed", "pcieport 0000:3a:00.0: AER: device recovery failed", "0000:3a:00.0"},
	{"aer-reset-failed", "pcieport 0000:3a:00.0: AER: subordinate device reset failed", "0000:3a:00.0"},
	{"aer-recovered", "pcieport 0000:3a:00.0: AER: device recovery successful", "0000:3a:00.0"},
	{"dpc-containment", "pcieport 0000:3a:00.0: DPC: containment event, status:0x1f01 source:0x0000", "0000:3a:00.0"},
	{"dpc-containment", "pcieport 0000:3a:00.0: DPC: containment event, status:0x1f05, ERR_FATAL received from 0000:3b:00.0", "0000:3a:00.0"},
	{"pcie-link-down", "pcieport 0000:3a:00.0: pciehp: Slot(5): Link Down", "0000:3a:00.0"},
	{"pcie-link-down", "pcieport 10000:3a:00.0: pciehp: Slot(5-1): Card not present", "10000:3a:00.0"},
	{"pcie-link-untrained", "pcieport 0000:3a:00.0: pciehp: Slot(5): Cannot train link: status 0x0001", "0000:3a:00.0"},
	{"pcie-link-untrained", "pcieport 0000:3a:00.0: pciehp: Slot(5): No link", "0000:3a:00.0"},
	{"pcie-link-up", "pcieport 0000:3a:00.0: pciehp: Slot(5): Link Up", "0000:3a:00.0"},
	{"pcie-power-fault", "pcieport 0000:3a:00.0: pciehp: Slot(5): Power fault", "0000:3a:00.0"},
	{"pcie-link-retrained", "pcieport 0000:3a:00.0: broken device, retraining non-functional downstream link at 2.5GT/s", "0000:3a:00.0"},
	{"pcie-link-not-up", "pcieport 0000:3a:00.0: Data Link Layer Link Active not set in 1000 msec", "0000:3a:00.0"},
	{"pcie-not-ready", "mlx5_core 0000:3b:00.0: not ready 65535ms after bus reset; giving up", A},
	{"pcie-not-ready", "vfio-pci 0000:3b:00.0: not ready 65535ms after AF_FLR; giving up", A},
	{"pcie-not-ready", "mlx5_core 0000:3b:00.0: not ready 65535ms after PM D3hot->D0; giving up", A},
	{"pcie-not-ready", "mlx5_core 0000:3b:00.0: not ready 65535ms after power up D3hot->D0uninitialized; giving up", A},
	{"pcie-not-ready", "pci 0000:3b:00.0: not ready after 60000ms; giving up", A},
	{"pcie-inaccessible", "mlx5_core 0000:3b:00.0: Unable to change power state from D3cold to D0, device inaccessible", A},

	/* A mail about another driver */
	{"pcie-inaccessible", "xhci_hcd 0000:04:00.0: can't change power state from D3cold to D0 (config space inaccessible)", "0000:04:00.0"},

	{"dmar-fault", "DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0x7f3a2000 [fault reason 0x05] PTE Write access is not set", "3b:00.0"},
	{"dmar-fault", "DMAR: [INTR-REMAP] Request device [3b:00.1] fault index 0x2e [fault reason 0x26] Blocked an interrupt request due to source-id verification failure", "3b:00.1"},
	{"dmar-fault", "DMAR: [DMA Read PASID 0x1] Request device [0001:3b:00.0] fault addr 0x7f3a2000 [fault reason 0x06] PTE Read access is not set", "0001:3b:00.0"},
	/* A mail about 5.8, with another function */
	{"dmar-fault", "DMAR: [DMA Read] Request device [03:00.0] PASID ffffffff fault addr fffd3000 [fault reason 06] PTE Read access is not set", "03:00.0"},
	{"amd-iommu-fault", "mlx5_core 0000:3b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0012 address=0xfffd3000 flags=0x0020]", A},
	{"amd-iommu-fault", "AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:3b:00.1 domain=0x0012 address=0xfffd3000 flags=0x0020]", "0000:3b:00.1"},
	{"amd-iommu-fault", "AMD-Vi: Event logged [RMP_PAGE_FAULT device=0000:3b:00.1, vmg_tag=0x0012, gpa=0xfffd3000, flags_rmp=0x0020, flags=0x0000]", "0000:3b:00.1"},
	/* Mails about a bnxt NIC, and about a version that leaves the domain out */
	{"amd-iommu-fault", "iommu ivhd3: AMD-Vi: Event logged [ILLEGAL_DEV_TABLE_ENTRY device=0000:43:00.0 pasid=0x00000 address=0x3737b01000 flags=0x0080]", "0000:43:00.0"},
	{"amd-iommu-fault", "iommu ivhd0: AMD-Vi: Event logged [INVALID_DEVICE_REQUEST device=12:00.1 pasid=0x00000 address=0xfffffffdf8000000 flags=0x0a00]", "12:00.1"},
	/* A mail about another driver */
	{"smmu-fault", "arm-smmu-v3 arm-smmu-v3.5.auto: event: F_TRANSLATION client: 0001:06:00.0 sid: 0x20600 ssid: 0x0 iova: 0xff9bc000 ipa: 0x0", "0001:06:00.0"},

	/* leptonai/gpud */
	{"peermem-invalid-context", "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing"},
	{"peermem-failed", "nvidia-peermem nv_mem_get_pages:330 error -22 while calling nvidia_p2p_get_pages()"},
	{"peermem-failed", "nvidia-peermem nv_dma_map:195 nv_dma_map -- error -12 while calling nvidia_p2p_dma_map_pages()"},
	{"peermem-failed", "nvidia-peermem nv_get_p2p_free_callback:89 nv_get_p2p_free_callback -- invalid nv_mem_context"},
	{"peermem-failed", "nvidia-peermem nv_mem_client_init:487 nv_mem_client_init -- error while registering traditional client"},
	{"peermem-failed", "nvidia-peermem nv_mem_get_pages:471 ERROR error -22 while calling nvidia_p2p_get_pages()"},
	{"peermem-failed", "nvidia-peermem nv_dma_map:325 ERROR nv_dma_map -- error -5 while calling nvidia_p2p_dma_map_pages()"},
	{"nv-peer-mem-failed", "nv_mem nv_mem_get_pages:366 nv_mem_get_pages -- error -22 while calling nvidia_p2p_get_pages()"},
	{"peermem-not-loaded", "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)"},
	{"peermem-not-loaded", "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client"},
	{"peermem-not-loaded", "nvidia_peermem: disagrees about version of symbol nvidia_p2p_get_pages"},

	{"module-mismatch", "nvmet_rdma: disagrees about version of symbol rdma_create_qp"},
	{"module-mismatch", "nvmet_rdma: Unknown symbol rdma_create_qp (err -22)"},
	{"module-mismatch", "ko2iblnd: disagrees about version of symbol ib_destroy_cq_user"},
	{"module-mismatch", "mlx5_ib: Unknown symbol ib_umem_odp_get (err -2)"},
	/* Before kernel 4.x without an error number */
	{"module-mismatch", "xprtrdma: Unknown symbol rdma_resolve_addr"},
	{"module-mismatch-ethernet", "irdma: disagrees about version of symbol ib_umem_release"},
};

/* What a healthy node says, from the formats of the same sources. */
static const char *const ordinary[] = {
	"Linux version 6.12.41-amd64 (debian-kernel@lists.debian.org) (gcc 14.2.0) #1 SMP PREEMPT_DYNAMIC",
	"Command line: BOOT_IMAGE=/boot/vmlinuz root=UUID=1b2c ro quiet iommu=pt pci=noaer",
	"DMAR: Host address width 46",
	"DMAR: DRHD base: 0x000000c5ffc000 flags: 0x0",
	"DMAR-IR: Enabled IRQ remapping in x2apic mode",
	"AMD-Vi: Interrupt remapping enabled",
	"pci 0000:3b:00.0: [15b3:1021] type 00 class 0x020700 PCIe Endpoint",
	"pci 0000:3b:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link",
	"pcieport 0000:3a:00.0: PME: Signaling with IRQ 34",
	"pcieport 0000:3a:00.0: AER: enabled with IRQ 34",
	"pcieport 0000:3a:00.0: DPC: enabled with IRQ 34",
	"pcieport 0000:3a:00.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+ RP PIO Log 4, DL_ActiveErr+",
	"pcieport 0000:3a:00.0: pciehp: Slot #5 AttnBtn- PwrCtrl- MRL- AttnInd- PwrInd- HotPlug+ Surprise+ Interlock- NoCompl+ IbPresDis- LLActRep+",
	"pcieport 0000:3a:00.0: pciehp: Slot(5): Card present",
	"{1}[Hardware Error]:   device_id: 0000:3b:00.0",
	"{1}[Hardware Error]: event severity: corrected",
	"[Hardware Error]:  Error 0, type: fatal",
	"mlx5_core 0000:3b:00.0: not ready 1023ms after FLR; waiting",
	"pcieport 0000:3a:00.0: pciehp: Slot(5): Link Down/Up ignored (recovered by DPC)",
	"pcieport 0000:3a:00.0: AER: Corrected error message received from 0000:3b:00.0",
	"mlx5_core 0000:3b:00.0:   device [15b3:1021] error status/mask=00000001/0000e000",
	"mlx5_core 0000:3b:00.0:    [ 0] RxErr                  (First)",
	"mlx5_core 0000:3b:00.0: firmware version: 28.41.1000",
	"mlx5_core 0000:3b:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)",
	"mlx5_core 0000:3b:00.0: Rate limit: 127 rates are supported, range: 0Mbps to 195312Mbps",
	"mlx5_core 0000:3b:00.0: E-Switch: Total vports 10, per vport: max uc(128) max mc(2048)",
	"mlx5_core 0000:3b:00.0: Flow counters bulk query buffer size increased, bulk_query_len(8)",
	"mlx5_core 0000:3b:00.0: Port module event: module 1, Cable disabled",
	"mlx5_core 0000:3b:00.0: mlx5_pcie_event:297:(pid 1311): PCIe slot power capability was not advertised.",
	"mlx5_core 0000:3b:00.0: MLX5E: StrdRq(1) RqSz(8) StrdSz(2048) RxCqeCmprss(0 enhanced)",
	"mlx5_core 0000:3b:00.0: mlx5e: IPSec ESP acceleration enabled",
	"mlx5_core 0000:3b:00.0 ens1f0np0: renamed from eth0",
	"mlx5_core 0000:3b:00.0 ens1f0np0: EQ 0x1b: Cons = 0x2f8a, irqn = 0x1c",
	"nvme 0000:04:00.0: probe with driver nvme failed with error -12",
	"iwlwifi: probe of 0000:00:14.3 failed with error -110",
	"mlx5_vdpa.vnet: probe of mlx5_core.vnet.0 failed with error -22",
	"pcieport 0000:3a:00.0: removing 2.5GT/s downstream link speed restriction",
	"mlx5_core 0000:3b:00.0 ens1f0np0: Link up",
	"mlx5_core 0000:3b:00.0 ens1f0np0: Link down",
	"mlx5_core 0000:3b:00.0 ens1f0np0: Dropping C-tag vlan stripping offload due to S-tag vlan",
	"mlx5_core 0000:3b:00.0: mlx5_cmd_out_err:815:(pid 9120): CREATE_MKEY(0x200) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x1f09d4), err(-22)",
	"mlx5_core 0000:3b:00.0: mlx5_pci_slot_reset Device state = 2 health sensors: 1 pci_status: 0. Exit, err = 0, result = 5, recovered",
	"mlx5_core 0000:3b:00.0: mlx5_wait_for_pages:813:(pid 1311): Skipping wait for vf pages stage",
	"infiniband mlx5_0: mlx5_poll_one:527:(pid 0): Responder error cqe on cqn 0x406:",
	"infiniband mlx5_0: dump_cqe:277:(pid 0): WC error: 10, Message: remote access error",
	"mlx5_core 0000:3b:00.0: mlx5_sync_reset_request_event:509:(pid 7): PCI Sync FW Update Reset Ack. Device reset is expected.",
	"mlx4_core: Mellanox ConnectX core driver v4.0-0",
	"mlx4_core 0000:04:00.0: DMFS high rate steer mode is: disabled performance optimized steering",
	"mlx4_en: ens1: Link Up",
	"mlx4_en 0000:04:00.0: Activating port:1",
	"bnxt_en 0000:3b:00.0 eth0: Broadcom BCM57608 NetXtreme-E Ethernet found at mem 20ffe10000, node addr 84:16:0c:00:00:01",
	"bnxt_en 0000:3b:00.0 ens2f0np0: NIC Link is Down",
	"bnxt_en 0000:3b:00.0 ens2f0np0: Solicited firmware reset event, data1: 0x1, data2: 0x0, min wait 2000 ms, max wait 60000 ms",
	"bnxt_en 0000:3b:00.0 ens2f0np0: NIC Link is Up, 400000 Mbps (PAM4-112) full duplex, Flow control: none",
	"bnxt_en 0000:3b:00.0 ens2f0np0: Temperature (In Celsius), Current: 91, threshold: 95",
	"bnxt_re: Broadcom NetXtreme-C/E RoCE Driver",
	"bnxt_en 0000:19:00.0: QPLIB: cmdq[0x4b9]=0x15 status 0x5",
	"infiniband bnxt_re0: Failed to allocate HW AH",
	"ice 0000:17:00.0: The DDP package was successfully loaded: ICE OS Default Package version 1.3.36.0",
	"ice 0000:17:00.0: PTP init successful",
	"ice 0000:17:00.0 ens3f0: NIC Link is up 100 Gbps Full Duplex, Requested FEC: RS-FEC, Negotiated FEC: RS-FEC",
	"ice 0000:17:00.0: RDMA is enabled",
	"efa 0000:00:06.0: Setup irq:efa-mgmnt@pci:0000:00:06.0 vector:40",
	"infiniband rdmap0s6: efa: device registered",
	"ena 0000:00:05.0 eth0: Reset indication didn't turn on",
	"ena 0000:00:05.0 eth0: Failed to submit command [-12]",
	"ionic 0000:b5:00.0: FW: 1.117.5-a-45",
	"ionic 0000:b5:00.0 ens5: Link up - 200 Gbps",
	"hns3 0000:7d:00.0: The firmware version is 1.9.40.23",
	"hfi1 0000:05:00.0: hfi1_0: 8051: Link up",
	"mana 39d4:00:02.0: Microsoft Azure Network Adapter protocol version: 0.1.1",
	"mana 39d4:00:02.0: MANA reset cycle start",
	"infiniband mlx5_0: registered",
	"ib0: enabling connected mode will cause multicast packet drops",
	"ib0: mtu > 4092 will cause multicast packet drops.",
	"scsi host7: ib_srp: new target: id_ext 248a070300a1b2c3 ioc_guid 248a070300a1b2c3 pkey ffff service_id 248a070300a1b2c3",
	"scsi host7: ib_srp: REJ received",
	"nvme nvme3: creating 32 I/O queues.",
	"nvme nvme3: Reconnecting in 10 seconds...",
	"nvme nvme0: I/O tag 12 (100c) opcode 0x2 (I/O Cmd) QID 9 timeout, aborting req_op:READ(0) size:4096",
	"nvme nvme0: I/O 620 QID 13 timeout, aborting",
	"nvme nvme4: I/O tag 3 (0003) type 4 opcode 0x7f (Connect) QID 0 timeout",
	"scsi host7: ib_srp: connection closed",
	"LNet: Added LNI 10.1.0.9@o2ib [8/256/0/180]",
	"LNet: 2311:0:(o2iblnd_cb.c:2741:kiblnd_passive_connect()) Conn race 10.1.0.7@o2ib",
	"rpcrdma: removing device mlx5_0 for 10.1.0.7:20049",
	"zfs: disagrees about version of symbol fs_bio_set",
	"nvidia: Unknown symbol drm_gem_object_free (err -2)",
	"nvme nvme3: new ctrl: NQN \"nqn.2014-08.org.nvmexpress.discovery\", addr 10.1.0.7:4420",
	"nvidia: loading out-of-tree module taints kernel.",
	"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build",
	"nvidia-peermem: module loaded",
	"watchdog: Delayed init of the lockup detector failed: -19",
	"NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
	"rcu: Hierarchical SRCU implementation.",
	"IPv6: ADDRCONF(NETDEV_CHANGE): ens1f0np0: link becomes ready",
	"arm-smmu-v3 arm-smmu-v3.3.auto: ias 48-bit, oas 48-bit (features 0x001c1eff)",
	"Modules linked in: mlx5_ib mlx5_core ib_uverbs ib_core rdma_cm nvidia_peermem(OE)",
	"EDAC skx MC0: HANDLING MCE MEMORY ERROR",
	"systemd[1]: Started rdma-node-agent.service - RDMA node agent.",
	"",
	":",
	": ",
	"mlx5_core",
	"0000:3b:00.0",
};
/* clang-format on */

static bool match(struct rna_log_pending *pending, const char *line, size_t len,
		  struct rna_log_match *ret)
{
	const struct rna_log_matcher *matcher = rna_log_matcher();

	assert_non_null(matcher);
	return rna_log_match(matcher, pending, line, len, NULL, ret);
}

static void assert_text(const struct rna_text *text, const char *wanted)
{
	if (!wanted) {
		assert_int_equal(text->len, 0);
		return;
	}
	assert_int_equal(text->len, strlen(wanted));
	assert_memory_equal(text->data, wanted, text->len);
}

static void assert_sample(const struct sample *sample, const struct rna_log_match *got)
{
	assert_string_equal(got->pattern->name, sample->pattern);
	assert_text(&got->pci, sample->pci);
	assert_text(&got->netdev, sample->netdev);
	assert_text(&got->rdma, sample->rdma);
}

/* -- The table --------------------------------------------------------------------------------- */

static void regexes_compile(void **state)
{
	regex_t regex;

	(void)state;
	for (size_t i = 0; i < rna_log_pattern_count; i++) {
		const struct rna_log_pattern *row = &rna_log_patterns[i];

		assert_int_equal(row->regex[0], '^');
		assert_int_equal(regcomp(&regex, row->regex, REG_EXTENDED | REG_NOSUB), 0);
		regfree(&regex);
		if (!row->follows)
			continue;
		assert_int_equal(row->follows[0], '^');
		if (!row->named_after)
			assert_int_equal(row->object, RNA_LOG_OBJECT_NODE);
		assert_int_equal(regcomp(&regex, row->follows, REG_EXTENDED | REG_NOSUB), 0);
		regfree(&regex);
	}
}

/* A name is a metric label; texts become cells of Markdown. */
static void rows_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_log_pattern_count; i++) {
		const struct rna_log_pattern *row = &rna_log_patterns[i];

		assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
				 strlen(row->name));
		assert_ptr_equal(rna_log_pattern_find(row->name), row); /* comes once */
		assert_true(strlen(row->anchor) >= RNA_LOG_ANCHOR_MIN);
		assert_true(row->kind < RNA_LOG_KIND_COUNT);
		assert_non_null(rna_log_kind_name(row->kind));
		assert_non_null(rna_log_end_text(row->end));
		assert_true(strlen(row->meaning) > 0 && strlen(row->source) > 0);
		assert_null(strpbrk(row->meaning, "|\n\t"));
		assert_null(strpbrk(row->source, "|\n\t"));
		assert_int_not_equal(row->meaning[strlen(row->meaning) - 1], '.');
		if (row->remedy)
			/* a sentence, or a phrase that is one (agent/rules/remedy.c) */
			assert_non_null(strchr(".}", row->remedy[strlen(row->remedy) - 1]));
	}
	assert_null(rna_log_pattern_find("no-such-pattern"));
}

static void recoveries_are_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_log_pattern_count; i++) {
		const struct rna_log_pattern *row = &rna_log_patterns[i], *recovery;

		if (row->kind == RNA_LOG_RECOVERY)
			assert_int_equal(row->severity, RNA_SEVERITY_INFO);
		if (!row->recovered_by)
			continue;
		recovery = rna_log_pattern_find(row->recovered_by);
		assert_non_null(recovery);
		assert_int_equal(recovery->kind, RNA_LOG_RECOVERY);
		assert_int_not_equal(row->kind, RNA_LOG_RECOVERY);
		assert_int_equal(recovery->object, row->object); /* or it would never be found */
	}
}

/* -- Lines ------------------------------------------------------------------------------------- */

static void each_pattern_has_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < rna_log_pattern_count; i++) {
		const struct rna_log_pattern *row = &rna_log_patterns[i];
		size_t count = 0;

		for (size_t j = 0; j < RNA_ARRAY_SIZE(samples); j++)
			if (strcmp(samples[j].pattern, row->name) == 0 &&
			    strstr(samples[j].line, row->anchor))
				count++;
		if (count == 0 && !row->follows)
			fail_msg("%s has no line", row->name);
	}
}

static void lines_match(void **state)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(samples); i++) {
		if (!match(&pending, samples[i].line, strlen(samples[i].line), &got))
			fail_msg("no pattern: %s", samples[i].line);
		assert_sample(&samples[i], &got);
		assert_null(pending.pattern);
	}
}

/* Between lines of other drivers, and while a report has begun that has not ended. */
static void lines_match_among_others(void **state)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;
	size_t other = 0;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(samples); i++) {
		static const char lockup[] =
			"watchdog: BUG: soft lockup - CPU#94 stuck for 26s! [a:1]";

		assert_false(match(&pending, lockup, strlen(lockup), &got));
		for (size_t j = 0; j < 3; j++, other = (other + 1) % RNA_ARRAY_SIZE(ordinary))
			assert_false(
				match(&pending, ordinary[other], strlen(ordinary[other]), &got));
		assert_true(match(&pending, samples[i].line, strlen(samples[i].line), &got));
		assert_sample(&samples[i], &got);
		assert_non_null(pending.pattern);
		assert_string_equal(pending.pattern->name, "soft-lockup");
	}
}

static void *match_all(void *failed)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(samples); i++)
		if (!rna_log_match(rna_log_matcher(), &pending, samples[i].line,
				   strlen(samples[i].line), NULL, &got) ||
		    strcmp(got.pattern->name, samples[i].pattern) != 0)
			*(bool *)failed = true;
	return NULL;
}

/* The first test: so that threads compile the same regexes at the same time. */
static void threads_share_the_matcher(void **state)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	bool failed[THREADS] = {0};

	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, match_all, &failed[i]), 0);
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_false(failed[i]);
	}
}

/* The regex of a pattern alone, whatever the order of the rows: one line has one pattern. */
static void no_other_pattern_matches(void **state)
{
	regex_t regex;

	(void)state;
	for (size_t i = 0; i < rna_log_pattern_count; i++) {
		const struct rna_log_pattern *row = &rna_log_patterns[i];

		assert_int_equal(regcomp(&regex, row->regex, REG_EXTENDED | REG_NOSUB), 0);
		for (size_t j = 0; j < RNA_ARRAY_SIZE(samples); j++) {
			bool own = strcmp(samples[j].pattern, row->name) == 0;
			bool matches = strstr(samples[j].line, row->anchor) &&
				       regexec(&regex, samples[j].line, 0, NULL, 0) == 0;

			if (matches && !own)
				fail_msg("%s matches: %s", row->name, samples[j].line);
		}
		regfree(&regex);
	}
}

/*
 * A line that is cut has its own pattern or none, and names its own object or none: a message cut
 * off behind all that the regex asks for still has its meaning.
 */
static void cut_lines_match_nothing_else(void **state)
{
	struct rna_log_match got;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(samples); i++) {
		for (size_t len = 0; len < strlen(samples[i].line); len++) {
			struct rna_log_pending pending = {0};
			RNA_FREE char *cut = strndup(samples[i].line, len);

			assert_non_null(cut);
			if (match(&pending, cut, len, &got))
				assert_sample(&samples[i], &got);
			assert_null(pending.pattern);
		}
	}
}

static void ordinary_lines_match_nothing(void **state)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(ordinary); i++) {
		if (match(&pending, ordinary[i], strlen(ordinary[i]), &got))
			fail_msg("%s: %s", got.pattern->name, ordinary[i]);
		assert_null(pending.pattern);
	}
}

/* Someone who may write to /dev/kmsg quotes a line; a process has such a name. */
static void quoted_lines_match_nothing(void **state)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;
	char line[2 * RNA_LOG_MESSAGE_MAX];

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(samples); i++) {
		(void)snprintf(line, sizeof(line), "audit: type=1400: %s", samples[i].line);
		assert_false(match(&pending, line, strlen(line), &got));
		(void)snprintf(line, sizeof(line), "python3[4711]: %s", samples[i].line);
		assert_false(match(&pending, line, strlen(line), &got));
	}
}

/* -- Objects ----------------------------------------------------------------------------------- */

static void dictionary_names_the_object(void **state)
{
	static const char quiet[] = "infiniband mlx5_2: ib_query_port failed (-5)";
	const struct rna_log_matcher *matcher = rna_log_matcher();
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	(void)state;
	assert_true(
		rna_log_match(matcher, &pending, quiet, strlen(quiet), "+pci:0000:5e:00.0", &got));
	assert_text(&got.pci, "0000:5e:00.0");
	assert_text(&got.rdma, "mlx5_2");
	assert_true(
		rna_log_match(matcher, &pending, quiet, strlen(quiet), "+infiniband:mlx5_9", &got));
	assert_text(&got.rdma, "mlx5_2"); /* the message comes first */
	assert_true(rna_log_match(matcher, &pending, quiet, strlen(quiet), "n12", &got));
	assert_text(&got.pci, NULL);
	assert_true(rna_log_match(matcher, &pending, quiet, strlen(quiet), "+pci:", &got));
	assert_text(&got.pci, NULL);
	assert_true(rna_log_match(matcher, &pending, quiet, strlen(quiet), "", &got));
	assert_text(&got.pci, NULL);
}

static void texts_point_into_the_message(void **state)
{
	static const char line[] = "mlx5_core 0000:3b:00.0 ens1f0np0: TX timeout detected";
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	(void)state;
	assert_true(match(&pending, line, strlen(line), &got));
	assert_ptr_equal(got.pci.data, line + strlen("mlx5_core "));
	assert_ptr_equal(got.netdev.data, line + strlen("mlx5_core 0000:3b:00.0 "));
}

static void a_function_without_domain_is_found(void **state)
{
	(void)state;
	assert_true(rna_log_pci_is("0000:3b:00.0", "0000:3b:00.0"));
	assert_true(rna_log_pci_is("3b:00.0", "0000:3b:00.0"));
	assert_false(rna_log_pci_is("3b:00.1", "0000:3b:00.0"));
	assert_false(rna_log_pci_is("0001:3b:00.0", "0000:3b:00.0"));
	assert_false(rna_log_pci_is("", "0000:3b:00.0"));
}

/* An address that is none, a name that is none, a message that names no object. */
static void odd_objects_are_left_out(void **state)
{
	static const char *const lines[] = {
		"arm-smmu-v3 arm-smmu-v3.3.auto: event: F_TRANSLATION client: (unassigned sid) "
		"sid: 0x10000",
		"arm-smmu-v3 arm-smmu-v3.3.auto: event: F_TRANSLATION client: 80860000.ethernet "
		"sid: 0x1",
		"DMAR: [DMA Read NO_PASID] Request device [3b:00.8] fault addr 0x0 [fault reason "
		"0x06] x",
		"NETDEV WATCHDOG: a-name-of-16-byte (x): transmit queue 5 timed out",
		"NETDEV WATCHDOG: a/b (x): transmit queue 5 timed out",
	};
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(lines); i++)
		assert_false(match(&pending, lines[i], strlen(lines[i]), &got));
}

/* -- Reports over several lines ---------------------------------------------------------------- */

#define LOCKUP "watchdog: BUG: soft lockup - CPU#94 stuck for 26s! [swapper/94:0]"
#define HUNG   "INFO: task python3:4711 blocked for more than 120 seconds."
#define FRAME  " mlx5e_napi_poll+0x142/0x680 [mlx5_core]"
#define RIP    "RIP: 0010:mlx5e_poll_ico_cq+0x8b/0x1a0 [mlx5_core]"

/* The line, from 0, at which a report of that pattern was complete; -1: at none. */
static int report(const char *const *lines, size_t count, const char *pattern)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	for (size_t i = 0; i < count; i++) {
		if (!match(&pending, lines[i], strlen(lines[i]), &got))
			continue;
		if (!got.pattern->follows)
			continue;
		assert_string_equal(got.pattern->name, pattern);
		assert_text(&got.pci, NULL);
		return (int)i;
	}
	return -1;
}

#define REPORT(PATTERN, ...)                                                                       \
	report((const char *const[]){__VA_ARGS__},                                                 \
	       RNA_ARRAY_SIZE(((const char *const[]){__VA_ARGS__})), PATTERN)

static void reports_are_complete_with_a_frame(void **state)
{
	(void)state;
	assert_int_equal(REPORT("soft-lockup", LOCKUP, "Modules linked in: mlx5_ib mlx5_core",
				"CPU: 94 UID: 0 PID: 0 Comm: swapper/94 Tainted: G OE 6.12.41", RIP,
				"Call Trace:", FRAME),
			 3);
	assert_int_equal(REPORT("soft-lockup",
				"NMI watchdog: BUG: soft lockup - CPU#3 stuck for 22s! "
				"[kworker/3:1:99]",
				" <IRQ>", " ? mlx5e_napi_poll+0x142/0x680 [mlx5_core]", FRAME),
			 3);
	assert_int_equal(REPORT("soft-lockup", LOCKUP,
				"pc : mlx5e_poll_tx_cq+0x84/0x4a0 [mlx5_core 1f2e3d4c5b6a]"),
			 1);
	assert_int_equal(REPORT("hard-lockup", "watchdog: Watchdog detected hard LOCKUP on cpu 7",
				"RIP: 0010:bnxt_poll_p5+0x1f/0x2b0 [bnxt_en]"),
			 1);
	assert_int_equal(REPORT("hard-lockup",
				"watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 3",
				"RIP: 0010:mlx5e_poll_tx_cq+0x1f/0x2b0 [mlx5_core]"),
			 1);
	assert_int_equal(REPORT("cpu-stall",
				"rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
				" ib_uverbs_ioctl+0xd4/0x130 [ib_uverbs]"),
			 1);
	assert_int_equal(REPORT("cpu-self-stall", "rcu: INFO: rcu_sched self-detected stall on CPU",
				" ice_napi_poll+0x10f/0x6a0 [ice]"),
			 1);
	assert_int_equal(REPORT("hung-task", HUNG, "      Tainted: G           OE      6.12.41",
				"task:python3         state:D stack:0     pid:4711  tgid:4711",
				"Call Trace:", " <TASK>", " __schedule+0x3d1/0xb10",
				" cmd_exec+0x4a9/0x9f0 [mlx5_core]"),
			 6);
	assert_int_equal(REPORT("hung-task",
				"INFO: task kworker/u8:1:12 blocked in I/O wait for "
				"more than 122 seconds.",
				" rdma_destroy_id+0x1d/0x30 [rdma_cm]"),
			 1);
}

static void assert_pattern(const char *pattern, const char *line)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	if (!match(&pending, line, strlen(line), &got))
		fail_msg("nothing matches: %s", line);
	assert_int_equal(strncmp(got.pattern->name, pattern, strlen(pattern)), 0);
}

static void assert_frame_in(const char *module)
{
	char frame[96];

	(void)snprintf(frame, sizeof(frame), " x+0x1f/0x2b0 [%s]", module);
	assert_int_equal(REPORT("soft-lockup", LOCKUP, frame), 1);
}

static void each_driver_of_the_table_is_known(void **state)
{
	const struct rna_driver *driver;
	char line[128];

	(void)state;
	for (size_t at = 0; (driver = rna_driver_next(&at));) {
		(void)snprintf(line, sizeof(line),
			       "%s 0000:01:00.0: probe with driver %s failed with error -110",
			       driver->name, driver->name);
		assert_pattern("driver-probe-failed", line);
		(void)snprintf(line, sizeof(line), "%s: Unknown symbol ib_x (err -22)",
			       driver->rdma);
		assert_pattern("module-mismatch", line);
		assert_frame_in(driver->name);
		assert_frame_in(driver->rdma);
	}
}

/* The pattern and the function of a record of the firmware; the record is one of a mail. */
static void assert_record(const char *type, const char *pattern)
{
	const char *const lines[] = {
		"{1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 4",
		type,
		"{1}[Hardware Error]:   section_type: PCIe error",
		"{1}[Hardware Error]:   port_type: 0, PCIe end point",
		"{1}[Hardware Error]:   vendor_id: 0x15b3, device_id: 0x1021",
		"{1}[Hardware Error]:   device_id: 0009:01:00.0",
		"{1}[Hardware Error]:   slot: 0",
		"{1}[Hardware Error]:   device_id: 0009:01:00.1",
	};
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(lines); i++) {
		bool matched = match(&pending, lines[i], strlen(lines[i]), &got);

		assert_int_equal(matched, pattern && i == 5);
		if (!matched)
			continue;
		assert_string_equal(got.pattern->name, pattern);
		assert_text(&got.pci, "0009:01:00.0");
	}
}

static void firmware_records_name_a_function(void **state)
{
	(void)state;
	assert_record("{1}[Hardware Error]:  Error 0, type: corrected", "pcie-record-corrected");
	assert_record("{1}[Hardware Error]:  Error 0, type: recoverable",
		      "pcie-record-uncorrected");
	assert_record("{12}[Hardware Error]:  Error 1, type: fatal", "pcie-record-uncorrected");
	assert_record("{1}[Hardware Error]:  Error 0, type: info", NULL);
	assert_record("[Hardware Error]:  Error 0, type: fatal", NULL); /* of the boot before */
}

static void other_stacks_complete_nothing(void **state)
{
	(void)state;
	assert_int_equal(REPORT("", FRAME, RIP), -1); /* no report has begun */
	assert_int_equal(REPORT("", LOCKUP, "RIP: 0010:native_queued_spin_lock_slowpath+0x71/0x2a0",
				" xfs_buf_lock+0x2c/0xd0 [xfs]",
				" ? mlx5e_napi_poll+0x142/0x680 [mlx5_core]",
				"Modules linked in: mlx5_core(+0x1/0x2 [mlx5_core] "),
			 -1);
	assert_int_equal(REPORT("", HUNG, " <TASK>", " io_schedule+0x46/0x80", " </TASK>", FRAME),
			 -1);
	assert_int_equal(REPORT("", LOCKUP, "------------[ cut here ]------------", FRAME), -1);
}

/* Each processor writes its lines as they come, and other drivers theirs in between. */
static void reports_may_be_interleaved(void **state)
{
	struct rna_log_pending pending = {0};
	struct rna_log_match got;
	static const char transmit[] = "mlx5_core 0000:65:00.0 ens15np0: TX timeout detected";

	(void)state;
	assert_false(match(&pending, LOCKUP, strlen(LOCKUP), &got));
	assert_true(match(&pending, transmit, strlen(transmit), &got));
	assert_string_equal(got.pattern->name, "mlx5-transmit-timeout");
	for (size_t i = 0; i < 40; i++)
		assert_false(match(&pending, ordinary[i], strlen(ordinary[i]), &got));
	assert_true(match(&pending, RIP, strlen(RIP), &got));
	assert_string_equal(got.pattern->name, "soft-lockup");
	assert_false(match(&pending, FRAME, strlen(FRAME), &got)); /* one report, one match */
	/* The report that began last has the frame. */
	assert_int_equal(REPORT("hung-task", LOCKUP, HUNG, FRAME), 2);
}

static void reports_end(void **state)
{
	struct rna_log_pending pending = {0}, copy;
	struct rna_log_match got;

	(void)state;
	assert_false(match(&pending, LOCKUP, strlen(LOCKUP), &got));
	for (size_t i = 0; i + 1 < RNA_LOG_REPORT_LINES; i++)
		assert_false(match(&pending, "another line", 12, &got));
	copy = pending;
	assert_true(match(&copy, FRAME, strlen(FRAME), &got)); /* the last line of the report */
	assert_false(match(&pending, "another line", 12, &got));
	assert_null(pending.pattern);
	assert_false(match(&pending, FRAME, strlen(FRAME), &got));
}

/* A frame that is cut completes the report, or does not; the first line that is cut begins none. */
static void reports_may_be_cut(void **state)
{
	struct rna_log_match got;

	(void)state;
	for (size_t len = 0; len <= strlen(RIP); len++) {
		struct rna_log_pending pending = {0};

		(void)match(&pending, LOCKUP, strlen(LOCKUP), &got);
		if (match(&pending, RIP, len, &got))
			assert_string_equal(got.pattern->name, "soft-lockup");
	}
	for (size_t len = 0; len < strlen(HUNG); len++) {
		struct rna_log_pending pending = {0};

		assert_false(match(&pending, HUNG, len, &got));
		if (pending.pattern)
			assert_string_equal(pending.pattern->name, "hung-task");
	}
}

/* -- Hostile lines ----------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Lines as long as can be, made of the start of a good one, one of its characters many times, and
 * its rest: what a regex repeats is repeated. One costs some microseconds, and here may cost a
 * hundred times that.
 */
static void hostile_lines_are_not_slow(void **state)
{
	enum { SIZE = 4 * RNA_LOG_MESSAGE_MAX };
	char line[SIZE];
	struct rna_log_pending pending = {0};
	struct rna_log_match got;
	double start = seconds();
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(samples); i++) {
		size_t len = strlen(samples[i].line);

		for (size_t at = 0; at < len; at += 5) {
			size_t fill = RNA_LOG_MESSAGE_MAX - (len - at);

			memset(line, samples[i].line[at], SIZE);
			memcpy(line, samples[i].line, at);
			memcpy(line + fill, samples[i].line + at, len - at);
			(void)match(&pending, line, RNA_LOG_MESSAGE_MAX, &got);
			(void)match(&pending, line, SIZE, &got);
			count += 2;
		}
	}
	print_message("%zu lines, %.1f us each\n", count,
		      (seconds() - start) * 1e6 / (double)count);
	assert_true((seconds() - start) / (double)count < 0.001);
}

/* The anchors of all patterns in one line, so that many regexes run. */
static void all_anchors_in_one_line(void **state)
{
	char line[RNA_LOG_MESSAGE_MAX] = "mlx5_core 0000:3b:00.0: f:1:(pid 1): ";
	struct rna_log_pending pending = {0};
	struct rna_log_match got;
	size_t len = strlen(line);

	(void)state;
	for (size_t i = 0; i < rna_log_pattern_count; i++) {
		size_t anchor_len = strlen(rna_log_patterns[i].anchor);

		if (len + anchor_len > sizeof(line))
			break;
		memcpy(line + len, rna_log_patterns[i].anchor, anchor_len);
		len += anchor_len;
	}
	for (size_t i = 0; i <= len; i++)
		(void)match(&pending, line + i, len - i, &got);
}

static void any_bytes_may_come(void **state)
{
	static const char nul[] = MLX5 "poll_health:785:(pid 0):\0Fatal error 1 detected";
	static const char after[] = MLX5 "poll_health:785:(pid 0): Fatal error 1 detected\0\n\n";
	static const char utf8[] =
		"ice 0000:17:00.0: Gr\303\274\303\237e \377\200 Entering Safe Mode";
	struct rna_log_pending pending = {0};
	struct rna_log_match got;

	(void)state;
	assert_true(match(&pending, nul, sizeof(nul) - 1, &got)); /* NUL counts as a blank */
	assert_true(match(&pending, after, sizeof(after) - 1, &got));
	assert_string_equal(got.pattern->name, "mlx5-fatal-error");
	assert_true(match(&pending, utf8, strlen(utf8), &got));
	for (int byte = 0; byte < 256; byte++) {
		char line[64];

		memset(line, byte, sizeof(line));
		assert_false(match(&pending, line, sizeof(line), &got));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_the_matcher),
		cmocka_unit_test(regexes_compile),
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(recoveries_are_rows),
		cmocka_unit_test(each_pattern_has_lines),
		cmocka_unit_test(each_driver_of_the_table_is_known),
		cmocka_unit_test(lines_match),
		cmocka_unit_test(lines_match_among_others),
		cmocka_unit_test(no_other_pattern_matches),
		cmocka_unit_test(cut_lines_match_nothing_else),
		cmocka_unit_test(ordinary_lines_match_nothing),
		cmocka_unit_test(quoted_lines_match_nothing),
		cmocka_unit_test(dictionary_names_the_object),
		cmocka_unit_test(texts_point_into_the_message),
		cmocka_unit_test(a_function_without_domain_is_found),
		cmocka_unit_test(odd_objects_are_left_out),
		cmocka_unit_test(reports_are_complete_with_a_frame),
		cmocka_unit_test(firmware_records_name_a_function),
		cmocka_unit_test(other_stacks_complete_nothing),
		cmocka_unit_test(reports_may_be_interleaved),
		cmocka_unit_test(reports_end),
		cmocka_unit_test(reports_may_be_cut),
		cmocka_unit_test(hostile_lines_are_not_slow),
		cmocka_unit_test(all_anchors_in_one_line),
		cmocka_unit_test(any_bytes_may_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
