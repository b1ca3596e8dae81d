# SPDX-License-Identifier: Apache-2.0
"""The shipped configuration of node-problem-detector, in a double of its custom plugin monitor.

The double does what pkg/custompluginmonitor of kubernetes/node-problem-detector does: Validate() and
the defaults of types/config.go, run() of plugin/plugin.go (both outputs are read to their end, within
the timeout; the text is trimmed and cut at max_output_length bytes; the exit code becomes a status)
and generateStatus() of custom_plugin_monitor.go.
"""
import json
import re
import subprocess
import unittest

import agent as agent_module
from nodes import SHIPPED, break_port, command, forget_states, heal_port, node

BUFFER = 4096  # maxCustomPluginBufferBytes
STATUSES = {0: "False", 1: "True"}  # of the condition, by exit code; any other: Unknown


def seconds(text):
    return float(re.fullmatch(r"(\d+)s", text)[1])


class Monitor:
    def __init__(self, path, replace):
        with open(path, encoding="utf-8") as file:
            self.config = json.load(file)
        self.options = {"invoke_interval": "30s", "timeout": "5s", "max_output_length": 80,
                        **self.config["pluginConfig"]}
        self.validate()
        self.replace = replace
        self.conditions = {condition["type"]: {**condition, "status": "False"}
                           for condition in self.config["conditions"]}

    def validate(self):
        assert self.config["plugin"] == "custom"
        assert set(self.options) <= {"invoke_interval", "timeout", "max_output_length", "concurrency",
                                     "enable_message_change_based_condition_update",
                                     "skip_initial_status"}
        for rule in self.config["rules"]:
            assert seconds(rule["timeout"]) <= seconds(self.options["timeout"])
            assert rule["type"] == "permanent"
            assert rule["condition"] in [one["type"] for one in self.config["conditions"]]

    def run(self, rule):
        """(exit code, text)"""
        done = subprocess.run(self.replace(rule["path"], rule["args"]), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=100, check=False)
        text = done.stdout[:BUFFER].strip()
        return done.returncode, text[:self.options["max_output_length"]].decode()

    def turn(self):
        """Each rule once. The conditions."""
        for rule in self.config["rules"]:
            code, text = self.run(rule)
            default = next(one for one in self.config["conditions"]
                           if one["type"] == rule["condition"])
            condition = self.conditions[rule["condition"]]
            status = STATUSES.get(code, "Unknown")
            changed = condition["status"] != status
            condition["status"] = status
            if status == "True":
                condition.update(reason=rule["reason"], message=text)
            elif changed:
                condition.update(reason=default["reason"],
                                 message=default["message"] if status == "False" else text)
        return self.conditions


class NodeProblemDetector(unittest.TestCase):
    def test_condition(self):
        with node("ok") as root:
            def replace(path, arguments):
                self.assertEqual((path, arguments),
                                 ("/usr/bin/rdma-node-agent", ["check", "--format=npd"]))
                return command("npd", "--root", root)

            monitor = Monitor(f"{SHIPPED}/node-problem-detector.json", replace)
            self.assert_condition(monitor, "False", "RdmaHealthy", "^rdma-node-agent reports no ")
            break_port(root)
            self.assert_condition(monitor, "True", "RdmaCritical", "^CRITICAL: mlx5_3/1: ")
            heal_port(root)
            self.assert_condition(monitor, "False", "RdmaHealthy", "^rdma-node-agent reports no ")
            forget_states(root)
            self.assert_condition(monitor, "Unknown", "RdmaHealthy", "^UNKNOWN: the state of no port")

    def assert_condition(self, monitor, status, reason, message):
        condition = monitor.turn()["RdmaUnhealthy"]
        self.assertEqual((condition["status"], condition["reason"]), (status, reason))
        self.assertRegex(condition["message"], message)

    def test_the_command_takes_these_arguments(self):
        with open(f"{SHIPPED}/node-problem-detector.json", encoding="utf-8") as file:
            rule = json.load(file)["rules"][0]
        done = subprocess.run([agent_module.binary, *rule["args"], "--root", "/nowhere"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stdout, "^UNKNOWN: /nowhere")
