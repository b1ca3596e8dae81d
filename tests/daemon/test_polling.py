# SPDX-License-Identifier: Apache-2.0
"""Polling: changes are seen, devices appear and disappear, a hanging device affects only itself."""
import contextlib
import ctypes
import gzip
import os
import re
import shutil
import time
import unittest

from agent import BUSY, STALLING, STOP, Agent, Installed, stretched, wait
from formats import check_classic
from lines import alone

DEVICE = "sys/class/infiniband/mlx5_1"
PORT = f"{DEVICE}/ports/1"
LATE = 5  # seconds; 25 periods of the fastest collectors, 5 deadlines
SLOW = 10  # seconds; who waits for what is stalled waits for ever


class Changes(unittest.TestCase):
    def test_counter(self):
        with Agent("roce-8rail") as agent:
            agent.write(f"{PORT}/counters/port_xmit_data", 1000)
            wait("1000 words as bytes", lambda: agent.metric(
                "rdma_port_data_transmitted_bytes_total", device="mlx5_1", port="1") == 4000)
            agent.write(f"{PORT}/counters/port_xmit_data", 1001)
            wait("1001 words as bytes", lambda: agent.metric(
                "rdma_port_data_transmitted_bytes_total", device="mlx5_1", port="1") == 4004)

    def test_state(self):
        with Agent("roce-8rail") as agent:
            def up():
                return agent.metric("rdma_port_up", device="mlx5_1", port="1")
            self.assertEqual(up(), 1)
            agent.write(f"{PORT}/state", "1: DOWN")
            agent.write(f"{PORT}/phys_state", "3: Disabled")
            wait("the port to be down", lambda: up() == 0)
            agent.write(f"{PORT}/state", "4: ACTIVE")
            wait("the port to be up again", lambda: up() == 1)

    def test_counter_that_fails_for_a_while(self):
        with Agent("roce-8rail") as agent:
            path = agent.path(f"{PORT}/counters/symbol_error")
            def value():
                return agent.metric("rdma_port_symbol_errors_total", device="mlx5_1", port="1")
            agent.write(f"{PORT}/counters/symbol_error", "N/A (no PMA)")
            wait("no sample", lambda: value() is None)
            self.assertEqual(agent.metric("rdma_port_up", device="mlx5_1", port="1"), 1)
            with open(path, "w", encoding="utf-8") as file:
                file.write("5\n")
            wait("a sample again", lambda: value() == 5)

    def test_who_scrapes_in_a_rhythm_gets_the_newest(self):
        """What is rendered ahead is of the newest view, in the form asked for last."""
        with Agent("roce-8rail") as agent, contextlib.closing(agent.open()) as scraper:
            for _ in range(6):
                agent.wait_snapshots(1)
                first = agent.metric("rdma_agent_snapshots_total")
                scraper.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
                text = gzip.decompress(scraper.getresponse().read()).decode()
                seen = float(re.search(r"^rdma_agent_snapshots_total (\S+)$", text, re.M)[1])
                self.assertGreaterEqual(seen, first)

    def test_formats_hold_on_a_live_agent(self):
        with Agent("odd-files") as agent:
            agent.wait_snapshots(3)
            check_classic(agent.get("/metrics").text)
            agent.metrics()


def exchange(one, other):
    """Two directories change places, and at no time is there none."""
    at_cwd, rename_exchange = -100, 2  # fcntl.h, stdio.h
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(at_cwd, one.encode(), at_cwd, other.encode(), rename_exchange) < 0:
        raise OSError(ctypes.get_errno(), f"exchange of {one} and {other}")


class CountersOverTime(unittest.TestCase):
    """out_of_buffer has 32 bits, as mlx5 keeps it."""

    FILE = f"{PORT}/hw_counters/out_of_buffer"

    @staticmethod
    def value(agent):
        return agent.metric("rdma_port_out_of_buffer_drops_total", device="mlx5_1", port="1")

    @staticmethod
    def resets(agent, place="hw_counters", device="mlx5_1"):
        return agent.metric(f"rdma_port_{place}_resets_total", device=device, port="1")

    def change(self, agent, read, published):
        agent.write(self.FILE, read)
        wait(f"{published} after {read} was read", lambda: self.value(agent) == published)

    def test_wrap_is_no_fall(self):
        with Agent("roce-8rail") as agent:
            self.change(agent, 0, 0)  # a reset: the machine had more
            before, seen = self.resets(agent), []
            for wraps in range(3):
                for read in (5, 2**31, 2**32 - 2):
                    self.change(agent, read, wraps * 2**32 + read)
                    seen.append(self.value(agent))
            self.assertEqual(seen, sorted(seen))
            self.assertEqual(self.resets(agent), before)

    def test_reset_is_a_fall_and_is_counted(self):
        with Agent("roce-8rail") as agent:
            self.change(agent, 2**32 - 2, 2**32 - 2)
            self.change(agent, 2**20, 2**32 + 2**20)
            before = self.resets(agent)
            self.change(agent, 7, 7)
            wait("the reset", lambda: self.resets(agent) == before + 1)
            self.assertEqual(self.resets(agent, "counters"), 0)
            self.assertEqual(self.resets(agent, device="mlx5_2"), 0)

    def test_saturated_counter_is_cleared(self):
        with Agent("roce-8rail") as agent:
            def saturated():
                return agent.metric("rdma_port_saturated_counters", device="mlx5_1", port="1")
            agent.write(f"{PORT}/counters/link_downed", 255)
            wait("a saturated counter", lambda: saturated() == 1)
            agent.write(f"{PORT}/counters/link_downed", 0)
            wait("none", lambda: saturated() == 0)
            self.assertEqual(self.resets(agent, "counters"), 1)

    def test_registered_anew(self):
        with Agent("roce-8rail") as agent:
            self.change(agent, 2**32 - 2, 2**32 - 2)
            self.change(agent, 2**20, 2**32 + 2**20)
            self.change(agent, 2**32 - 2, 2**33 - 2)
            real, new = os.path.realpath(agent.path(DEVICE)), f"{agent.directory}/new"
            shutil.copytree(real, new, symlinks=True)
            with open(f"{new}/ports/1/hw_counters/out_of_buffer", "w", encoding="utf-8") as file:
                file.write("3\n")
            exchange(real, new)
            wait("the new registration", lambda: self.value(agent) == 3)
            for place in ("counters", "hw_counters"):
                wait(f"the reset of {place}", lambda: self.resets(agent, place) == 1)
            self.change(agent, 4, 4)
            self.assertEqual(self.resets(agent), 1)

    def test_source_without_an_answer(self):
        with Agent("roce-8rail") as agent:
            agent.write_config(extra="hw_counters: {source: netlink}\n")
            agent.hang_up()
            wait("the reload", lambda: "configuration reloaded" in agent.log())
            self.change(agent, 11, 11)
            self.assertEqual(agent.metric("rdma_collector_success", collector="hw_counters",
                                          device="mlx5_1"), 1)

    def test_statistics_named_by_a_reload(self):
        labels = {"device": "mlx5_0", "port": "1", "netdev": "enp24s0np0"}

        def named(agent, counter):
            return agent.metric("rdma_port_ethernet_unknown_total", counter=counter, **labels)
        with Agent("roce-ethernet") as agent:
            wait("its Ethernet side", lambda: agent.metric("rdma_port_ethernet_link_up", **labels) == 1)
            self.assertIsNone(named(agent, "rx_prio3_bytes"))
            agent.write_config(extra="ethernet: {statistics: [rx_prio3_bytes]}\n")
            agent.hang_up()
            wait("the one", lambda: named(agent, "rx_prio3_bytes"))
            agent.write_config(extra="ethernet: {statistics: [rx_prio0_bytes]}\n")
            agent.hang_up()
            wait("the other", lambda: named(agent, "rx_prio0_bytes"))
            self.assertIsNone(named(agent, "rx_prio3_bytes"))
            agent.write_config(extra="ethernet: {statistics: [rx_discards_phy]}\n")
            agent.hang_up()
            wait("a refusal", lambda: agent.metric(
                "rdma_agent_config_last_reload_successful") == 0)
            self.assertTrue(named(agent, "rx_prio0_bytes"))


class Gids(unittest.TestCase):
    RARELY = {**BUSY, "gids": "1h"}

    @staticmethod
    def changes(agent):
        return agent.metric("rdma_port_gid_changes_total", device="mlx5_1", port="1")

    @staticmethod
    def infos(agent):
        return sum(name == "rdma_port_gid_info" for name, _ in agent.metrics())

    def test_read_when_a_port_changes(self):
        with Agent("roce-8rail", poll=self.RARELY) as agent:
            wait("GIDs, after the first view", lambda: self.changes(agent) == 0)
            agent.write(f"{PORT}/gids/3", "0000:0000:0000:0000:0000:ffff:0a4d:0001")
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("an index with another GID", lambda: self.changes(agent) == 1)
            agent.write(f"{PORT}/state", "4: ACTIVE")
            agent.wait_snapshots(3)
            self.assertEqual(self.changes(agent), 1)

    def test_series_turned_off(self):
        with Agent("roce-8rail", poll=self.RARELY) as agent:
            wait("a series for each GID", lambda: self.infos(agent) == 9 * 4)
            agent.write_config(extra="metrics: {collectors: full, gid_info: false}\n")
            agent.hang_up()
            wait("none of these", lambda: self.infos(agent) == 0)
            self.assertEqual(agent.metric("rdma_port_gids", device="mlx5_1", port="1",
                                          type="RoCE v2", family="ipv4"), 1)


class Devices(unittest.TestCase):
    def test_gone_and_back(self):
        with Agent("roce-8rail") as agent:
            def count():
                return agent.metric("rdma_devices")
            real = os.path.realpath(agent.path(DEVICE))
            target = os.readlink(agent.path(DEVICE))
            for _ in range(3):
                os.rename(real, f"{agent.directory}/away")
                os.unlink(agent.path(DEVICE))
                wait("one device less", lambda: count() == 8)
                self.assertIsNone(agent.metric("rdma_port_up", device="mlx5_1", port="1"))
                os.rename(f"{agent.directory}/away", real)
                os.symlink(target, agent.path(DEVICE))
                wait("all devices", lambda: count() == 9)
                wait("its port", lambda: agent.metric("rdma_port_up", device="mlx5_1", port="1"))

    def test_stack_loaded_and_unloaded(self):
        with Agent("roce-8rail") as agent:
            path = agent.path("sys/class/infiniband")
            os.rename(path, f"{agent.directory}/class")
            wait("no device", lambda: agent.metric("rdma_devices") == 0)
            os.rename(f"{agent.directory}/class", path)
            wait("all devices", lambda: agent.metric("rdma_devices") == 9)

    def test_renamed(self):
        with Agent("roce-8rail") as agent:
            real = os.path.realpath(agent.path(DEVICE))
            target = os.readlink(agent.path(DEVICE))
            new_link = "sys/class/infiniband/rocep64s0"
            os.unlink(agent.path(DEVICE))
            os.rename(real, real.replace("mlx5_1", "rocep64s0"))
            os.symlink(target.replace("mlx5_1", "rocep64s0"), agent.path(new_link))
            wait("the new name",
                 lambda: agent.metric("rdma_port_up", device="rocep64s0", port="1") == 1)
            self.assertIsNone(agent.metric("rdma_port_up", device="mlx5_1", port="1"))


class Stalled(unittest.TestCase):
    """mlx5_3/1 has a counter whose read blocks for ever."""

    FIFO = "sys/class/infiniband/mlx5_3/ports/1/hw_counters/rx_write_requests"

    def stalled(self, agent):
        return agent.metric("rdma_collector_stalled_seconds", collector="hw_counters",
                            device="mlx5_3") or 0

    def wait_stalled(self, agent, seconds=0):
        wait(f"a stall of {seconds} s", lambda: self.stalled(agent) > seconds)

    def ages_of_others(self, agent):
        ages = [age for (name, labels), age in agent.metrics().items()
                if name == "rdma_collector_age_seconds"
                and dict(labels)["collector"] in ("state", "counters", "hw_counters")
                and dict(labels)["device"] != "mlx5_3"]
        self.assertEqual(len(ages), 3 * 4)
        return ages

    @alone
    def test_others_stay_on_schedule(self):
        with Agent("stalled", poll=STALLING) as agent:
            self.wait_stalled(agent, LATE)  # by now who waits for it is late as well
            for _ in range(3):
                wait("all others to have been read", lambda: max(self.ages_of_others(agent)) < LATE)
                agent.wait_snapshots(3)
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("news of another device",
                 lambda: agent.metric("rdma_port_up", device="mlx5_1", port="1") == 0)

    def test_only_the_stalled_one_is_named(self):
        with Agent("stalled", poll={**STALLING, "deadline": "5s"}) as agent:
            self.wait_stalled(agent, 1)
            wait("no other device to be late", lambda: self.named(agent) == {"mlx5_3"})
            wait("one lane to be stalled", lambda: agent.metric("rdma_agent_lanes_stalled") == 1)

    @staticmethod
    def named(agent):
        return {dict(labels)["device"] for (name, labels), value in agent.metrics().items()
                if name == "rdma_collector_stalled_seconds" and value > 0}

    def test_it_is_named_without_series_for_each_device(self):
        with Installed("stalled", poll=STALLING) as agent:
            self.wait_stalled(agent, 1)
            self.assertEqual(self.named(agent), {"mlx5_3"})
            self.assertEqual(agent.metric("rdma_agent_jobs", state="stalled"), 1)
            self.assertIsNotNone(agent.metric("rdma_collector_age_seconds", collector="state"))
            self.assertIsNone(agent.metric("rdma_collector_age_seconds", collector="state",
                                           device="mlx5_1"))

    @alone
    def test_scrapes_are_fast(self):
        with Agent("stalled", poll=STALLING) as agent:
            self.wait_stalled(agent)
            for _ in range(20):
                start = time.monotonic()
                self.assertEqual(agent.get("/metrics").status, 200)
                self.assertLess(time.monotonic() - start, stretched(SLOW))
            for path in ("/healthz", "/readyz"):
                self.assertEqual(agent.get(path).status, 200)

    def test_is_logged_once(self):
        with Agent("stalled", poll=STALLING) as agent:
            self.wait_stalled(agent)
            wait("a line in the log", lambda: "stalled" in agent.log())
            agent.wait_snapshots(20)
            lines = [line for line in agent.log().splitlines() if "mlx5_3: hw_counters is stalled" in line]
            self.assertEqual(len(lines), 1, agent.log())

    def test_recovers(self):
        with Agent("stalled", poll=STALLING) as agent:
            self.wait_stalled(agent)
            os.close(os.open(agent.path(self.FIFO), os.O_WRONLY))  # the blocked read ends
            wait("a line in the log", lambda: "mlx5_3: hw_counters answered" in agent.log())
            wait("its value", lambda: agent.metric(
                "rdma_port_out_of_buffer_drops_total", device="mlx5_3", port="1") is not None)
            wait("the end of the stall", lambda: self.stalled(agent) == 0)

    @alone
    def test_ends_in_time(self):
        with Agent("stalled", poll=STALLING) as agent:
            self.wait_stalled(agent)
            status, seconds = agent.stop()
            self.assertEqual(status, 0)
            self.assertLess(seconds, stretched(STOP))

    @alone
    def test_ends_in_time_before_the_deadline(self):
        with Agent("stalled", poll={**BUSY, "deadline": "1m"}) as agent:
            status, seconds = agent.stop()
            self.assertEqual(status, 0)
            self.assertLess(seconds, stretched(STOP))
