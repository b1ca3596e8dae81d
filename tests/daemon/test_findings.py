# SPDX-License-Identifier: Apache-2.0
"""Findings, from the change of a file to metrics, JSON, page, log and exit code."""
import contextlib
import http.server
import json
import re
import subprocess
import tempfile
import threading
import unittest

import agent as agent_module
from agent import PATIENCE, Agent, free_port, wait

DEVICE = "sys/class/infiniband/mlx5_3"
PORT = f"{DEVICE}/ports/1"
AT_ONCE = 'health: {hold_down: ["*=0s"]}\n'
OK, WARNING, CRITICAL, UNKNOWN = range(4)
LABELS = {"rule": "port-init", "severity": "critical", "device": "mlx5_3", "port": "1"}


def check(*arguments):
    """(exit code, lines, complaints)"""
    done = subprocess.run([agent_module.binary, "check", *arguments], text=True, timeout=PATIENCE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


def rules(agent):
    return [finding["rule"] for finding in json.loads(agent.get("/api/v1/findings").text)["findings"]
            if finding["severity"] != "info"]


def texts(agent):
    return [finding["text"] for finding in json.loads(agent.get("/api/v1/findings").text)["findings"]
            if finding["rule"] == "errors-rising"]


def texts_in_metrics(agent):
    return [dict(labels)["text"] for name, labels in agent.metrics()
            if name == "rdma_finding_info" and ("rule", "errors-rising") in labels]


class Findings(unittest.TestCase):
    @contextlib.contextmanager
    def agent(self, settings=AT_ONCE, machine="hgx-h100-ib"):
        with Agent(machine) as agent:
            agent.write_config(extra=settings)
            agent.hang_up()
            wait("the new settings", lambda: "configuration reloaded" in agent.log())
            yield agent

    def test_what_was_there_at_the_start(self):
        """It has no hold-down, so that the agent says what check --once and status say."""
        with Agent("roce-troubles", ready=False) as agent:
            agent.stop()
            agent.write_config(extra='health: {hold_down: ["*=1d"]}\n')
            code, lines, _ = check("--once", "--root", agent.root, "--config", agent.config)
            agent.start()
            wait("readiness", agent.is_ready)
            wait("the findings of check --once", lambda: [
                re.sub(" \\(since.*| 'age'=.*", "", line)
                for line in check("--config", agent.config)[1]] == lines)
            self.assertEqual(check("--config", agent.config)[0], code)
            status = subprocess.run([agent_module.binary, "status", "--wide", "--root",
                                     agent.root, "--config", agent.config],
                                    capture_output=True, text=True, timeout=PATIENCE,
                                    check=True).stdout
            found = [line for line in lines[1:] if line[0] != " "]
            self.assertEqual(len(found), 10)
            for line in found:  # below each: its remedy, and its runbook
                self.assertIn(line.split(None, 1)[1], status)

    def test_appears_everywhere_and_goes(self):
        with self.agent() as agent:
            self.assertEqual(rules(agent), [])
            self.assertEqual(agent.metric("rdma_findings", severity="warning"), 0)
            self.assertEqual(check("--config", agent.config)[0], OK)
            agent.write(f"{PORT}/state", "2: INIT")
            wait("the finding", lambda: agent.metric("rdma_finding", **LABELS) == 1)
            self.assertEqual(agent.metric("rdma_findings", severity="critical"), 1)
            self.assertEqual(rules(agent), ["port-init"])
            document = json.loads(agent.get("/api/v1/findings").text)
            self.assertEqual((document["counts"]["warning"], document["counts"]["critical"]), (0, 1))
            finding = document["findings"][0]
            self.assertEqual((finding["device"], finding["port"], finding["silenced"]),
                             ("mlx5_3", 1, False))
            self.assertTrue(finding["text"].startswith("mlx5_3/1: "))
            page = agent.get("/").text
            self.assertLess(page.index(finding["text"]), page.index("<h2>Ports"))
            self.assertIn(f"error: {finding['text']} (RULE=port-init, SEVERITY=critical, "
                          "DEVICE=mlx5_3, PORT=1", agent.log())
            code, lines, _ = check("--config", agent.config)
            self.assertEqual(code, CRITICAL)
            self.assertTrue(lines[0].startswith("RDMA CRITICAL - 1 critical, 0 warning: mlx5_3/1: "))
            agent.write(f"{PORT}/state", "4: ACTIVE")
            wait("it to be resolved", lambda: agent.metric("rdma_finding", **LABELS) is None)
            self.assertEqual(agent.log().count("RULE=port-init"), 2)
            self.assertRegex(agent.log(), r"notice: resolved( after \w+)?: mlx5_3/1 port-init ")
            self.assertEqual(check("--config", agent.config)[0], OK)

    def test_errors_that_rise(self):
        with self.agent() as agent:
            agent.write(f"{PORT}/counters/symbol_error", 1000)
            wait("the finding", lambda: rules(agent) == ["errors-rising"])  # from some dozens to 1000
            self.assertIn("symbol_error rose by", agent.get("/").text)

    def test_losses_by_a_counter_of_another_driver(self):
        with self.agent(machine="losses") as agent:
            agent.write("sys/class/infiniband/ionic_0/ports/1/hw_counters/req_rx_pkt_seq_err", 92000)
            wait("the finding", lambda: rules(agent) == ["packets-lost"])
            self.assertIn("ionic_0/1: req_rx_pkt_seq_err rose by 770 ", agent.get("/").text)

    def test_the_text_in_metrics(self):
        """It stays while the numbers of the finding change, and a setting omits it."""
        with self.agent() as agent:
            agent.write(f"{PORT}/counters/symbol_error", 1000)
            wait("the finding", lambda: rules(agent) == ["errors-rising"])
            reported = texts_in_metrics(agent)
            self.assertEqual(reported, texts(agent))
            agent.write(f"{PORT}/counters/symbol_error", 2000)
            wait("another text", lambda: texts(agent) != reported)
            self.assertEqual(texts_in_metrics(agent), reported)
            agent.write_config(extra=f"{AT_ONCE}metrics: {{finding_text: false}}\n")
            agent.hang_up()
            wait("no text", lambda: texts_in_metrics(agent) == [])
            self.assertEqual(rules(agent), ["errors-rising"])

    def test_unreadable_state_is_not_down(self):
        with self.agent() as agent:
            agent.write(f"{PORT}/state", "garbage")
            wait("the finding", lambda: rules(agent) == ["reads-failing"])
            agent.wait_snapshots(5)
            self.assertEqual(rules(agent), ["reads-failing"])

    def test_silence(self):
        with self.agent(AT_ONCE[:-2] + ', silence: ["daily 00:00-24:00 mlx5_3"]}\n') as agent:
            agent.write(f"{PORT}/state", "2: INIT")
            wait("the finding", lambda: rules(agent) == ["port-init"])
            self.assertTrue(json.loads(agent.get("/api/v1/findings").text)["findings"][0]["silenced"])
            self.assertIsNone(agent.metric("rdma_finding", **LABELS))
            self.assertNotIn("port-init", agent.log())
            self.assertEqual(check("--config", agent.config)[0], OK)

    def test_disabled_by_reload(self):
        with self.agent() as agent:
            agent.write(f"{PORT}/state", "2: INIT")
            wait("the finding", lambda: rules(agent) == ["port-init"])
            agent.write_config(extra='health: {disable: ["port-*"]}\n')
            agent.hang_up()
            wait("it to be gone", lambda: rules(agent) == [])

    def test_json_is_what_the_agent_says(self):
        with self.agent() as agent:
            code, lines, _ = check("--json", "--config", agent.config)
            self.assertEqual(code, OK)
            self.assertIn("port-down",
                          [f["rule"] for f in json.loads("\n".join(lines))["findings"]])


class Check(unittest.TestCase):
    def test_nobody_answers(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write(f'http: {{listen: ["127.0.0.1:{free_port()}"]}}\n')
            config.flush()
            code, lines, complaint = check("--config", config.name)
        self.assertEqual(code, UNKNOWN)
        self.assertTrue(lines[0].startswith("RDMA UNKNOWN - no agent listens on 127.0.0.1:"), lines)
        self.assertIn("error: ", complaint)

    def test_what_goes_wrong_is_unknown(self):
        for arguments in ("--jsno",), ("now",), ("--config", "/nowhere.yaml"), ("--root", "/nowhere"):
            code, lines, _ = check(*arguments)
            self.assertEqual(code, UNKNOWN, arguments)
            self.assertTrue(lines[0].startswith("RDMA UNKNOWN - "), lines)
        self.assertEqual(check("--help")[0], OK)

    def test_without_an_agent(self):
        for machine, expected in ("switch-management", OK), ("roce-troubles", WARNING):
            with tempfile.TemporaryDirectory() as root:
                subprocess.run([f"{agent_module.TESTS}/machines/unpack", machine, root], check=True)
                self.assertEqual(check("--root", root)[0], expected)

    def answer(self, text):
        """check, of an agent that answers with text."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server, \
                tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            config.write(f'http: {{listen: ["127.0.0.1:{server.server_port}"]}}\n')
            config.flush()
            try:
                return check("--config", config.name)
            finally:
                server.shutdown()

    def test_critical(self):
        finding = {"rule": "port-down", "severity": "critical", "device": "mlx5_3", "port": 1,
                   "since": "2026-11-21T09:20:00Z", "silenced": False,
                   "text": "mlx5_3/1: down | \x1b[31m", "remedy": "Look."}
        code, lines, _ = self.answer(json.dumps({"findings": [finding]}))
        self.assertEqual(code, CRITICAL)
        self.assertEqual(lines[0], "RDMA CRITICAL - 1 critical, 0 warning: mlx5_3/1: down / \ufffd[31m")
        self.assertIn("since 2026-11-21T09:20:00Z", lines[1])
        self.assertIn("Look.", lines[2])
        finding["silenced"] = True
        self.assertEqual(self.answer(json.dumps({"findings": [finding]}))[0], OK)

    def test_answers_that_are_none(self):
        for text in ("", "{}", "[]", "RDMA OK", '{"findings": 1}', '{"findings": [1]}',
                     '{"findings": [{"rule": "x", "severity": "awful", "text": "x", "remedy": "x"}]}'):
            self.assertEqual(self.answer(text)[0], UNKNOWN, text)
