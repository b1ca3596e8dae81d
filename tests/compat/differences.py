# SPDX-License-Identifier: Apache-2.0
"""What may differ between the agent and Debian's prometheus-node-exporter (1.5.0): these rows.

    where              theirs             ours                    why
    hw_counters        no samples         HW_COUNTERS, as the     1.5.0 does not read them, later
                                          files say               versions do
    counters_ext       node_infiniband_   none                    no kernel since 4.7 has the
                       legacy_*                                   directory; rdma_port_extended_*
    FAILURES           no samples at all  every device but what   one file that it does not expect
                                          is odd, as files say    costs it the whole class
    MADs               fails              what no file says       node_exporter reads files only
    rate without a     fails              from width and speed    libibverbs knows them
    file rate
    hw_counters of a   no samples         none of its             a device that does not answer
    device that hangs                     hw_counters             costs its own freshness
    counters of what   samples            none                    each read puts a line in the kernel
    manages NVSwitches                                            log, and none says anything
    2^62 words of      bytes modulo 2^64  the largest number      a counter that begins anew at 0 would
    data and more                                                 be a rate that never was

Their names and files, here and in exporter/metrics/compat.c, come from two readings of node_exporter
collector/infiniband_linux.go and procfs sysfs/class_infiniband.go.
"""
import glob
import os
import re
import stat

# Family without node_infiniband_ and _total -> file.
PMA_COUNTERS = {
    "excessive_buffer_overrun_errors": "excessive_buffer_overrun_errors",
    "link_downed": "link_downed",
    "link_error_recovery": "link_error_recovery",
    "local_link_integrity_errors": "local_link_integrity_errors",
    "multicast_packets_received": "multicast_rcv_packets",
    "multicast_packets_transmitted": "multicast_xmit_packets",
    "port_constraint_errors_received": "port_rcv_constraint_errors",
    "port_constraint_errors_transmitted": "port_xmit_constraint_errors",
    "port_data_received_bytes": "port_rcv_data",
    "port_data_transmitted_bytes": "port_xmit_data",
    "port_discards_received": "port_rcv_discards",
    "port_discards_transmitted": "port_xmit_discards",
    "port_errors_received": "port_rcv_errors",
    "port_packets_received": "port_rcv_packets",
    "port_packets_transmitted": "port_xmit_packets",
    "port_receive_remote_physical_errors": "port_rcv_remote_physical_errors",
    "port_receive_switch_relay_errors": "port_rcv_switch_relay_errors",
    "port_transmit_wait": "port_xmit_wait",
    "symbol_error": "symbol_error",
    "unicast_packets_received": "unicast_rcv_packets",
    "unicast_packets_transmitted": "unicast_xmit_packets",
    "vl15_dropped": "VL15_dropped",
}
HW_COUNTERS = {
    "duplicate_requests_packets": "duplicate_request",
    "implied_nak_seq_errors": "implied_nak_seq_err",
    "local_ack_timeout_errors": "local_ack_timeout_err",
    "np_cnp_packets_sent": "np_cnp_sent",
    "np_ecn_marked_roce_packets_received": "np_ecn_marked_roce_packets",
    "out_of_buffer_drops": "out_of_buffer",
    "out_of_sequence_packets_received": "out_of_sequence",
    "packet_sequence_errors": "packet_seq_err",
    "req_cqes_errors": "req_cqe_error",
    "req_cqes_flush_errors": "req_cqe_flush_error",
    "req_remote_access_errors": "req_remote_access_errors",
    "req_remote_invalid_request_errors": "req_remote_invalid_request",
    "resp_cqes_errors": "resp_cqe_error",
    "resp_cqes_flush_errors": "resp_cqe_flush_error",
    "resp_local_length_errors": "resp_local_length_error",
    "resp_remote_access_errors": "resp_remote_access_errors",
    "rnr_nak_retry_packets_received": "rnr_nak_retry_err",
    "roce_adp_retransmits": "roce_adp_retrans",
    "roce_adp_retransmits_timeout": "roce_adp_retrans_to",
    "roce_slow_restart": "roce_slow_restart_trans",
    "roce_slow_restart_cnps": "roce_slow_restart_cnps",
    "roce_slow_restart_used": "roce_slow_restart",
    "rp_cnp_ignored_packets_received": "rp_cnp_ignored",
    "rp_cnp_packets_handled": "rp_cnp_handled",
    "rx_atomic_requests": "rx_atomic_requests",
    "rx_dct_connect_requests": "rx_dct_connect",
    "rx_icrc_encapsulated_errors": "rx_icrc_encapsulated",
    "rx_read_requests": "rx_read_requests",
    "rx_write_requests": "rx_write_requests",
}
LEGACY_COUNTERS = {
    "legacy_data_received_bytes": "port_rcv_data_64",
    "legacy_data_transmitted_bytes": "port_xmit_data_64",
    "legacy_multicast_packets_received": "port_multicast_rcv_packets",
    "legacy_multicast_packets_transmitted": "port_multicast_xmit_packets",
    "legacy_packets_received": "port_rcv_packets_64",
    "legacy_packets_transmitted": "port_xmit_packets_64",
    "legacy_unicast_packets_received": "port_unicast_rcv_packets",
    "legacy_unicast_packets_transmitted": "port_unicast_xmit_packets",
}
WORDS = {"port_rcv_data", "port_xmit_data", "port_rcv_data_64", "port_xmit_data_64"}

# Trees that are left out, and why.
LEFT_OUT = {
    "mad": "what the files lack comes by MAD here, of which node_exporter knows nothing; it fails",
    "strange-strings": "node_exporter panics on label values that are not UTF-8, and drops the "
                       "connection; the golden suite shows that the agent does not",
    "xdr-planes": "node_exporter takes the SMI device of an HCA for one more HCA",
}

# Tree -> what node_exporter says when it fails.
NOT_FOUND = "infiniband statistics not found"  # a file or directory that it counts on
FAILURES = {
    "b200-decoys": NOT_FOUND,  # counters/ of EFA
    "efa": NOT_FOUND,  # counters/
    "efa-p5": NOT_FOUND,  # likewise
    "efa-troubles": NOT_FOUND,  # likewise
    "followed-claims": NOT_FOUND,  # counters/ of rxe0
    "gpus-only": NOT_FOUND,  # here it is right
    "hgx-h100-no-rdma": NOT_FOUND,  # likewise
    "mi300a-cpx": NOT_FOUND,  # likewise
    "bnxt-re-missing": NOT_FOUND,  # likewise
    "irdma-missing": NOT_FOUND,  # likewise
    "iwarp": NOT_FOUND,  # counters/ of irdma
    "losses": NOT_FOUND,  # counters/ of bnxt_re
    "mana-ib-missing": NOT_FOUND,  # likewise
    "kernel-without-module": NOT_FOUND,  # likewise
    "module-refused": NOT_FOUND,  # likewise
    "mana-stub": NOT_FOUND,  # counters/
    "ionic-erdma": NOT_FOUND,  # counters/
    "many-ports": NOT_FOUND,
    "no-stack": NOT_FOUND,  # here it is right
    "no-sys": NOT_FOUND,  # and here
    "odd-files": "value out of range",  # of the first odd file that it comes to
    "other-vendors": NOT_FOUND,  # counters/ of bnxt_re
    "vendor-firmware": NOT_FOUND,  # likewise
    "qib": NOT_FOUND,  # fw_ver
    "rxe": NOT_FOUND,  # counters/
    "rxe-gpus": NOT_FOUND,  # likewise
    "scif": NOT_FOUND,
    "switchdev": NOT_FOUND,  # counters/
    "switchdev-uplink-last": NOT_FOUND,  # likewise
    "without-board": NOT_FOUND,
    "without-counters": NOT_FOUND,
    "without-rate": NOT_FOUND,
    "without-state": NOT_FOUND,
}


def read(path):
    """The text of a file; None: there is none, or nothing to read."""
    try:
        if not os.path.isfile(path):
            return None  # a FIFO stands for a read that never ends
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeError):
        return None


def number_in(path):
    text = read(path)
    return int(text) if re.fullmatch(r"\d{1,20}", text or "") and int(text) < 2**64 else None


def ports_in(root):
    """Yields (labels, directory) of each port."""
    for path in glob.glob(f"{root}/sys/class/infiniband/*/ports/*"):
        if os.path.basename(path).isdigit() and not os.path.basename(path).startswith("0"):
            device = path.split("/")[-3]
            yield (("device", device), ("port", os.path.basename(path))), path


def counters_in(root, directory, table):
    ret = {}
    for labels, path in ports_in(root):
        for name, file in table.items():
            number = number_in(f"{path}/{directory}/{file}")
            if number is not None:
                ret[f"node_infiniband_{name}_total", labels] = (
                    "counter", float(number * 4 if file in WORDS else number))
    return ret


def only_ours(root):
    return counters_in(root, "hw_counters", HW_COUNTERS)


def only_theirs(root):
    return counters_in(root, "counters_ext", LEGACY_COUNTERS)


def manages_switches(port_path):
    path = f"{port_path}/../../device"
    if not os.path.exists(f"{path}/vpd"):
        return (read(f"{path}/subsystem_vendor") == "0x15b3"
                and read(f"{path}/subsystem_device") == "0x0087")
    with open(f"{path}/vpd", "rb") as file:
        return b"SMDL=SW_MNG" in file.read()


def not_compared(root):
    """The last four rows of the table above."""
    ret = set()
    for labels, path in ports_in(root):
        if read(f"{path}/rate") is None:
            ret.add(("node_infiniband_rate_bytes_per_second", labels))
        if any(stat.S_ISFIFO(os.stat(file).st_mode) for file in glob.glob(f"{path}/hw_counters/*")):
            ret |= {(f"node_infiniband_{name}_total", labels) for name in HW_COUNTERS}
        ret |= {(f"node_infiniband_{name}_total", labels)
                for name, file in PMA_COUNTERS.items()
                if file in WORDS and (number_in(f"{path}/counters/{file}") or 0) >= 2**62}
        if manages_switches(path):
            ret |= {(f"node_infiniband_{name}_total", labels)
                    for name in (*PMA_COUNTERS, *HW_COUNTERS)}
    return ret


def leading(pattern, text, factor=1):
    match = re.match(pattern, text or "")
    return float(match[1]) * factor if match else None


def from_files(root):
    """All samples, read the plain way, where node_exporter is no witness."""
    ret = {**only_ours(root), **counters_in(root, "counters", PMA_COUNTERS)}
    for labels, path in ports_in(root):
        for name, file, pattern, factor in (
                ("state_id", "state", r"(\d+): ", 1),
                ("physical_state_id", "phys_state", r"(\d+): ", 1),
                ("rate_bytes_per_second", "rate", r"([\d.]+) Gb/sec", 125e6)):
            number = leading(pattern, read(f"{path}/{file}"), factor)
            if number is not None:
                ret[f"node_infiniband_{name}", labels] = ("gauge", number)
    for path in glob.glob(f"{root}/sys/class/infiniband/*/"):
        ret["node_infiniband_info", (
            ("board_id", read(f"{path}/board_id") or ""),
            ("device", os.path.basename(path.rstrip("/"))),
            ("firmware_version", read(f"{path}/fw_ver") or ""),
            ("hca_type", read(f"{path}/hca_type") or ""))] = ("gauge", 1.0)
    return ret
