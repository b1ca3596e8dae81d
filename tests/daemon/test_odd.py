# SPDX-License-Identifier: Apache-2.0
"""Odd hardware and trees that change while they are read."""
import contextlib
import json
import os
import shutil
import unittest

from agent import EMULATED, QUIET, STALLING, Agent, wait

CLASS = "sys/class/infiniband"
NOBODY = 65534


class Vanishing(unittest.TestCase):
    """mlx5_3/1 of this machine has a counter whose read blocks until the test releases it."""

    FIFO = "ports/1/hw_counters/rx_write_requests"

    def test_in_the_middle_of_a_sweep_and_back_under_another_name(self):
        with Agent("stalled", poll=STALLING) as agent:
            link = agent.path(f"{CLASS}/mlx5_3")
            real, target = os.path.realpath(link), os.readlink(link)
            away = f"{agent.directory}/away"
            wait("the sweep that blocks", lambda: agent.metric(
                "rdma_collector_stalled_seconds", collector="hw_counters", device="mlx5_3"))
            os.unlink(link)
            os.rename(real, away)
            for entry in os.scandir(f"{away}/ports/1/hw_counters"):
                if entry.name != os.path.basename(self.FIFO):
                    os.unlink(entry)  # the kernel empties the directories of what it unregisters
            fifo = os.open(f"{away}/{self.FIFO}", os.O_WRONLY)
            with contextlib.suppress(BrokenPipeError):  # who could open it may be through with it
                os.write(fifo, b"7\n")
            os.close(fifo)  # the sweep goes on, over files that are gone
            wait("one device less", lambda: agent.metric("rdma_devices") == 4)
            wait("nothing of it but that it is missing",
                 lambda: self.series_of(agent, "mlx5_3") == ["rdma_device_missing_info"])

            os.unlink(f"{away}/{self.FIFO}")
            self.write(f"{away}/{self.FIFO}", 9)
            os.rename(away, real.replace("mlx5_3", "rocep134s0"))
            os.symlink(target.replace("mlx5_3", "rocep134s0"), agent.path(f"{CLASS}/rocep134s0"))
            wait("its counter", lambda: agent.metric(
                "rdma_port_rx_write_requests_total", device="rocep134s0", port="1") == 9)
            self.assertEqual(agent.metric("rdma_port_up", device="rocep134s0", port="1"), 1)
            self.assertEqual(agent.metric("rdma_devices"), 5)
            self.assertFalse(self.series_of(agent, "mlx5_3"))

    @staticmethod
    def series_of(agent, device):
        return [name for name, labels in agent.metrics() if dict(labels).get("device") == device]

    @staticmethod
    def write(path, number):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{number}\n")


class Ports(unittest.TestCase):
    def test_six_hundred(self):
        agent = Agent("many-ports", poll=QUIET)
        ports = agent.path(f"{CLASS}/mlx5_0/ports")
        count = 200 if agent.is_sanitized() or EMULATED else 600  # its metrics take seconds there
        for number in range(41, count + 1):
            shutil.copytree(f"{ports}/1", f"{ports}/{number}")
        with agent:
            up = {int(dict(labels)["port"]) for (name, labels), value in agent.metrics().items()
                  if name == "rdma_port_up" and value == 1}
            self.assertEqual(up, set(range(1, count + 1)))
            snapshot = json.loads(agent.get("/api/v1/snapshot").text)
            self.assertEqual(len(snapshot["devices"][0]["ports"]), count)
            self.assertEqual(agent.get("/").status, 200)

    def test_none(self):
        agent = Agent("roce-8rail", poll=QUIET)
        shutil.rmtree(agent.path(f"{CLASS}/mlx5_1/ports"))
        with agent:
            devices = [labels for name, labels in agent.metrics() if name == "rdma_device_info"]
            self.assertEqual(len(devices), 9)
            self.assertIsNone(agent.metric("rdma_port_up", device="mlx5_1", port="1"))


class Names(unittest.TestCase):
    def test_that_are_no_text(self):
        agent = Agent("roce-8rail", poll=QUIET)
        link = os.fsencode(agent.path(f"{CLASS}/mlx5_1"))
        os.rename(link, os.path.dirname(link) + b"/bad\xff\n\x1b")
        with agent:
            self.assertEqual(agent.metric("rdma_port_up", device="bad�\n�", port="1"), 1)
            for path in ("/", "/metrics", "/api/v1/snapshot"):
                self.assertIn("bad�", agent.get(path).text)


class Forbidden(unittest.TestCase):
    """Files that the agent's user may not read; root may read everything."""

    class Unprivileged(Agent):
        def start(self):
            os.chmod(self.directory, 0o755)
            rest = {}
            if os.geteuid() == 0:
                rest = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            super().start(**rest)

    def start(self, modes):
        """An agent whose user has these permissions; {path: mode}."""
        agent = self.Unprivileged("roce-8rail")
        for path, mode in modes.items():
            os.chmod(agent.path(path), mode)
            self.addCleanup(self.allow, agent.path(path))
        try:
            return agent.__enter__()
        except PermissionError:
            agent.kill()
            self.skipTest("the user nobody cannot run the program where it lies")

    @staticmethod
    def allow(path):
        if os.path.lexists(path):
            os.chmod(path, 0o755)

    def test_a_file_costs_one_value(self):
        path = f"{CLASS}/mlx5_1/ports/1/counters"
        agent = self.start({f"{path}/symbol_error": 0})
        port = {"device": "mlx5_1", "port": "1"}
        try:
            self.assertIsNone(agent.metric("rdma_port_symbol_errors_total", **port))
            self.assertIsNotNone(agent.metric("rdma_port_link_downed_total", **port))
            self.assertEqual(agent.metric("rdma_collector_success", collector="counters",
                                          device="mlx5_1"), 1)
            self.assertGreater(agent.metric("rdma_collector_errors_total", collector="counters",
                                            device="mlx5_1", reason="denied"), 0)
        finally:
            agent.__exit__(None, None, None)

    def test_a_directory_costs_its_files(self):
        agent = self.start({f"{CLASS}/mlx5_1/ports/1/counters": 0})
        try:
            self.assertIsNone(agent.metric("rdma_port_link_downed_total", device="mlx5_1", port="1"))
            self.assertEqual(agent.metric("rdma_port_up", device="mlx5_1", port="1"), 1)
            self.assertIsNotNone(agent.metric("rdma_port_link_downed_total", device="mlx5_2",
                                              port="1"))
            self.assertIsNotNone(agent.metric("rdma_port_out_of_buffer_drops_total",
                                              device="mlx5_1", port="1"))
        finally:
            agent.__exit__(None, None, None)
