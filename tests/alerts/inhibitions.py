# SPDX-License-Identifier: Apache-2.0
"""What Alertmanager sends of alerts that fire together, by files/inhibit.yaml: one for one cause."""
from alertmanager import Alertmanager, paging

from agent import wait  # behind alertmanager, which knows where it is

PATIENCE = 60
FUNCTION = {"instance": "node1", "device": "0000:b6:00.0"}
PORT = {"instance": "node1", "device": "mlx5_0", "port": "1"}
OTHER = {"instance": "node2", "device": "mlx5_0", "port": "1"}

# [name, severity, labels, is it sent?]; a case is a job of its own.
CASES = [
    [["RdmaDeviceAbsent", "critical", FUNCTION, True],
     ["RdmaDriverReportsErrors", "critical", FUNCTION, False],
     ["RdmaDriverReportsErrors", "critical", PORT, True]],
    # A ticket holds no page back.
    [["RdmaDeviceAbsent", "warning", FUNCTION, False],
     ["RdmaDriverReportsErrors", "critical", FUNCTION, True]],
    [["RdmaDeviceStalled", "critical", {"instance": "node1", "device": "mlx5_0"}, True],
     ["RdmaDeviceStalled", "warning", {"instance": "node1", "device": "mlx5_0"}, False],
     ["RdmaReadsFailing", "warning", {"instance": "node1", "device": "mlx5_0"}, False],
     ["RdmaReadsFailing", "warning", {"instance": "node1", "device": "mlx5_1"}, True]],
    [["RdmaSubnetManagerDown", "critical", {}, True],
     ["RdmaSubnetManagerUnhealthy", "warning", PORT, False],
     ["RdmaPortAwaitsSubnetManager", "critical", OTHER, False],
     ["RdmaPortDown", "critical", PORT, True]],
    [["RdmaManyAgentsAbsent", "critical", {}, True],
     ["RdmaAgentAbsent", "warning", {"instance": "node1"}, False]],
    [["RdmaAgentsAllAbsent", "critical", {}, True],
     ["RdmaManyAgentsAbsent", "critical", {}, False],
     ["RdmaAgentAbsent", "warning", {"instance": "node1"}, False]],
    [["RdmaAgentAbsent", "warning", {"instance": "node1"}, True]],
]


def fired():
    """[(labels, is it sent?)]"""
    return [({"alertname": name, "severity": severity, "job": f"case{number}", **labels}, is_sent)
            for number, case in enumerate(CASES, 1) for name, severity, labels, is_sent in case]


def complaints():
    expected = fired()
    with Alertmanager(paging(9)) as manager:  # nothing listens there
        wait("Alertmanager answers", lambda: manager.alerts() is not None, PATIENCE)
        manager.ask("POST", "alerts", [{"labels": labels} for labels, _ in expected])
        wait("all alerts", lambda: len(manager.alerts() or []) == len(expected), PATIENCE)
        found = manager.alerts()
    for labels, is_sent in expected:
        if (labels, not is_sent) not in found:
            yield f"{labels} ought to be {'sent' if is_sent else 'inhibited'}"
