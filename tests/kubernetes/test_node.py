# SPDX-License-Identifier: Apache-2.0
"""Changes of a Node. Runs on any API server: RNA_TEST_KUBECONFIG names a real one."""
import time
import unittest

from cluster import (CONDITIONS, TAINT, Driver, condition, event, once, shared_cluster, wait)

ROCE = {"network.nvidia.com/roce": "true"}


class AnyServer(unittest.TestCase):
    def setUp(self):
        self.admin, self.kubeconfig = shared_cluster()
        self.node = self.admin.make_node()
        self.addCleanup(self.node.delete)

    def client(self, **options):
        return Driver(self.kubeconfig, self.node.name, **options)


class Labels(AnyServer):
    def test_written_changed_and_taken_away(self):
        with self.client() as client:
            client.make(labels={**ROCE, "rdma-node-agent/ports": "8"})
            self.assertEqual(self.node.own_labels, {**ROCE, "rdma-node-agent/ports": "8"})
            client.make(labels={"network.nvidia.com/roce": "false"})
            self.assertEqual(self.node.own_labels, {"network.nvidia.com/roce": "false"})
            client.make()
            self.assertEqual(self.node.own_labels, {})

    def test_others_stay(self):
        self.node.label(theirs="yes")
        with self.client() as client:
            client.make(labels=ROCE)
            client.make()
        self.assertEqual(self.node.labels["theirs"], "yes")

    def test_what_a_person_wrote_is_taken_over(self):
        self.node.label(**{"network.nvidia.com/roce": "by-hand"})
        with self.client() as client:
            client.make(labels=ROCE)
        self.assertEqual(self.node.own_labels, ROCE)

    def test_what_a_person_wrote_as_well_goes_with_ours(self):
        """Two owners of one value: leaving it out would leave it there."""
        self.node.label(**ROCE)
        with self.client() as client:
            client.make(labels=ROCE)
            client.make()
        self.assertEqual(self.node.own_labels, {})

    def test_another_agent_finds_nothing_to_do(self):
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])])
        version = self.node.version
        with self.client(condition_types="") as client:
            client.make(labels=ROCE)
        self.assertEqual(self.node.version, version)

    def test_labels_of_an_earlier_agent_go(self):
        with self.client() as client:
            client.make(labels={**ROCE, "rdma-node-agent/old": "1"})
        with self.client() as client:
            client.make(labels=ROCE)
        self.assertEqual(self.node.own_labels, ROCE)

    def test_what_is_not_decided_stays(self):
        """An agent that has just started, without what the one before knew."""
        before = {"rdma-node-agent/rails": "8", "rdma-node-agent/ports": "7"}
        with self.client() as client:
            client.make(labels={**ROCE, **before})
        undecided = {"rdma-node-agent/rails": None, "rdma-node-agent/fresh": None}
        with self.client() as client:
            client.make(labels={**ROCE, **undecided, "rdma-node-agent/ports": "8"})
            self.assertEqual(self.node.own_labels, {**ROCE, "rdma-node-agent/rails": "8",
                                                    "rdma-node-agent/ports": "8"})
            version = self.node.version
            client.make(labels={**ROCE, "rdma-node-agent/ports": "8",
                                "rdma-node-agent/rails": "8"})  # as it was: nothing to write
            self.assertEqual(self.node.version, version)
            client.make(labels=ROCE)
        self.assertEqual(self.node.own_labels, ROCE)

    def test_they_stay_when_the_agent_goes(self):
        with self.client() as client:
            client.make(labels=ROCE)
        self.assertEqual(self.node.own_labels, ROCE)

    def test_an_illegal_one_is_refused_in_words(self):
        with self.client() as client:
            client.want(labels={"rdma-node-agent/x": "a b"})
            problem = client.wait_problem("422")
        self.assertIn("a b", problem)
        self.assertEqual(self.node.own_labels, {})


class Drift(AnyServer):
    """Another client changes our data; the agent checks periodically."""

    def test_a_label_comes_back(self):
        with self.client(look=200) as client:
            client.make(labels=ROCE)
            self.node.label(**{"network.nvidia.com/roce": None})
            wait("the label", lambda: self.node.own_labels == ROCE)

    def test_a_label_that_nobody_wants_goes(self):
        """By kubectl label node, out of habit, where there is no RoCE."""
        with self.client(look=200) as client:
            client.make(labels={"rdma-node-agent/ports": "8"})
            self.node.label(**ROCE, theirs="yes")
            wait("no label", lambda: self.node.own_labels == {"rdma-node-agent/ports": "8"})
        self.assertEqual(self.node.labels["theirs"], "yes")

    def test_a_condition_comes_back(self):
        with self.client(look=200) as client:
            client.make(conditions=[condition(CONDITIONS[0])])
            self.node.patch({"status": {"conditions": [
                {"type": CONDITIONS[0], "status": "Unknown", "reason": "Odd"}]}}, "/status",
                kind="application/strategic-merge-patch+json")
            wait("the condition", lambda: self.node.conditions[CONDITIONS[0]]["status"] == "False")

    def test_a_taint_that_nobody_wants_goes(self):
        with self.client() as client:
            client.make(taint=True)
        with self.client() as client:
            client.make()
            wait("no taint", lambda: TAINT not in self.node.taints)


    def test_it_is_told_who_did_it(self):
        with self.client(look=200) as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])], taint=True)
            self.node.label(**{"network.nvidia.com/roce": "no"})
            told = client.wait("it", lambda s: s["reverts"] == 1)["reverted"]
            self.assertEqual(told, 'label network.nvidia.com/roce: "no" instead of "true" '
                                   "(written by other-client)")
            wait("the label", lambda: self.node.own_labels == ROCE)
            self.node.label(**{"network.nvidia.com/roce": None})
            told = client.wait("it", lambda s: s["reverts"] == 2)["reverted"]
            self.assertEqual(told, 'label network.nvidia.com/roce: "" instead of "true"')
            wait("the label", lambda: self.node.own_labels == ROCE)
            self.node.patch({"status": {"conditions": [
                {"type": CONDITIONS[0], "status": "Unknown", "reason": "Odd"}]}}, "/status",
                kind="application/strategic-merge-patch+json")
            told = client.wait("it", lambda s: s["reverts"] == 3)["reverted"]
            self.assertEqual(told, f'condition {CONDITIONS[0]}: "Odd" instead of "AllPortsUp" '
                                   "(written by other-client)")
            wait("the condition", lambda: self.node.conditions[CONDITIONS[0]]["status"] == "False")
            self.node.patch({"spec": {"taints": None}})
            told = client.wait("it", lambda s: s["reverts"] == 4)["reverted"]
            self.assertIn(f"taint {TAINT}", told)
            wait("the taint", lambda: TAINT in self.node.taints)

    def test_own_changes_are_no_others(self):
        with self.client(look=50) as client:
            for ports in range(5):
                client.make(labels={"rdma-node-agent/ports": str(ports)}, taint=ports % 2 == 0)
            self.assertEqual(client.statuses[-1]["reverts"], 0)


class SharedLabel(AnyServer):
    """A label that the agent sets only where no other client has it."""

    def client(self, **options):
        return super().client(shared_label="network.nvidia.com/roce", label_keys="rdma-node-agent/*",
                              **options)

    def test_the_value_of_another_stays(self):
        self.node.label(**{"network.nvidia.com/roce": "by-hand"})
        with self.client(look=100) as client:
            client.make(labels={**ROCE, "rdma-node-agent/ports": "8"})
            held = client.wait("held", lambda s: "held" in s)["held"]
            self.assertEqual(held, 'network.nvidia.com/roce is "by-hand" instead of "true" '
                                   '(written by other-client)')
            version = self.node.version
            client.wait("more looks", lambda s: s["requests"]["ok"] > 8)
            self.assertEqual(self.node.version, version)
            self.assertEqual(client.statuses[-1]["reverts"], 0)
        self.assertEqual(self.node.own_labels, {"network.nvidia.com/roce": "by-hand",
                                                "rdma-node-agent/ports": "8"})

    def test_the_same_value_is_no_trouble_and_stays_with_the_other(self):
        self.node.label(**ROCE)
        with self.client(look=100) as client:
            client.make(labels=ROCE)
            self.assertNotIn("held", client.statuses[-1])
            client.make()
            client.wait("held", lambda s: "held" in s)
        self.assertEqual(self.node.own_labels, ROCE)

    def test_what_another_writes_over_ours_is_the_other_s(self):
        with self.client(look=100) as client:
            client.make(labels=ROCE)
            self.node.label(**{"network.nvidia.com/roce": "false"})
            client.wait("held", lambda s: "held" in s and s["in_step"])
            self.assertEqual(self.node.own_labels, {"network.nvidia.com/roce": "false"})
            self.node.label(**{"network.nvidia.com/roce": None})
            wait("ours", lambda: self.node.own_labels == ROCE)
            client.wait("not held", lambda s: "held" not in s)

    def test_ours_goes_with_us(self):
        with self.client() as client:
            client.make(labels=ROCE)
            client.make()
        self.assertEqual(self.node.own_labels, {})


class Ignored(AnyServer):
    """The Node has the annotation rdma-node-agent/ignore: "true"."""

    def annotate(self, value):
        self.node.patch({"metadata": {"annotations": {"rdma-node-agent/ignore": value}}})

    def test_all_goes_once_and_comes_back(self):
        wish = {"labels": ROCE, "conditions": [condition(CONDITIONS[0])], "taint": True}
        self.node.label(theirs="yes")
        with self.client(look=200) as client:
            client.make(**wish)
            self.annotate("true")
            client.wait("ignored", lambda s: s["ignored"] and s["in_step"])
            wait("no label", lambda: self.node.own_labels == {})
            wait("no condition", lambda: CONDITIONS[0] not in self.node.conditions)
            wait("no taint", lambda: TAINT not in self.node.taints)
            self.assertEqual(self.node.labels["theirs"], "yes")
            self.annotate(None)
            wait("the label", lambda: self.node.own_labels == ROCE)
            wait("the condition", lambda: CONDITIONS[0] in self.node.conditions)
            wait("the taint", lambda: TAINT in self.node.taints)
            self.assertEqual(client.statuses[-1]["reverts"], 0)

    def test_what_others_write_there_is_theirs(self):
        self.annotate("true")
        with self.client(look=100, resync=100, heartbeat=100) as client:
            client.want(labels=ROCE, conditions=[condition(CONDITIONS[0])], taint=True)
            client.wait("ignored", lambda s: s["ignored"] and s["in_step"])
            self.node.label(**{"network.nvidia.com/roce": "by-hand", "rdma-node-agent/mine": "1"})
            seen, version = len(client.statuses), self.node.version
            client.want(labels={}, events=[event()], taint=True)
            client.wait("more looks", lambda s: len(client.statuses) > seen + 5)
            self.assertEqual(self.node.version, version)
            self.assertEqual(self.node.own_labels, {"network.nvidia.com/roce": "by-hand",
                                                    "rdma-node-agent/mine": "1"})
        self.assertEqual(self.admin.events(self.node.name), [])

    def test_another_value_means_nothing(self):
        self.annotate("yes")
        with self.client() as client:
            client.make(labels=ROCE)
        self.assertEqual(self.node.own_labels, ROCE)

    def test_no_taint_between_two_looks(self):
        """It evicts pods, so the Node is read before it is written."""
        with self.client() as client:
            client.make(labels=ROCE)
            self.annotate("true")
            client.want(labels=ROCE, taint=True)
            client.wait("ignored", lambda s: s["ignored"] and s["in_step"])
        self.assertNotIn(TAINT, self.node.taints)
        self.assertEqual(self.node.own_labels, {})

    def test_within_a_minute_where_there_is_a_taint(self):
        """The look is due in half an hour at the earliest."""
        with self.client(look=3600 * 1000) as client:
            client.make(labels=ROCE, taint=True)
            self.annotate("true")
            wait("no taint", lambda: TAINT not in self.node.taints, 75)
            wait("no label", lambda: self.node.own_labels == {})

    def test_commands(self):
        with self.client() as client:
            client.make(labels=ROCE)
        self.annotate("true")
        status, _, errors = once("apply", self.kubeconfig, self.node.name, {"labels": ROCE})
        self.assertEqual(status, 1)
        self.assertIn(f"kubectl annotate node {self.node.name} rdma-node-agent/ignore-", errors)
        self.assertEqual(self.node.own_labels, {})
        self.node.label(**ROCE)
        self.assertEqual(once("cleanup", self.kubeconfig, self.node.name)[0], 0)
        self.assertEqual(self.node.own_labels, {})


class Conditions(AnyServer):
    def test_written_changed_and_taken_away(self):
        with self.client() as client:
            client.make(conditions=[condition(kind) for kind in CONDITIONS])
            got = self.node.conditions[CONDITIONS[0]]
            self.assertEqual((got["status"], got["reason"], got["message"]),
                             ("False", "AllPortsUp", "all is well"))
            self.assertEqual(got["lastTransitionTime"], "2023-11-14T22:13:20Z")
            self.assertRegex(got["lastHeartbeatTime"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            client.make(conditions=[condition(CONDITIONS[0], "True", "PortDown", "mlx5_0/1")])
            self.assertEqual(self.node.conditions[CONDITIONS[0]]["status"], "True")
            self.assertNotIn(CONDITIONS[1], self.node.conditions)
            client.make()
            self.assertFalse(set(CONDITIONS) & set(self.node.conditions))

    def test_those_of_others_stay(self):
        self.node.patch({"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
                        "/status", kind="application/strategic-merge-patch+json")
        with self.client() as client:
            client.make(conditions=[condition(CONDITIONS[0])])
            client.make()
        self.assertEqual(self.node.conditions["Ready"]["status"], "True")

    def test_they_and_the_labels_leave_each_other_alone(self):
        """On 1.20 one name for both owners loses the labels."""
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])])
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0], "True")])
            self.assertEqual(self.node.own_labels, ROCE)
            client.make(labels={}, conditions=[condition(CONDITIONS[0], "True")])
            self.assertIn(CONDITIONS[0], self.node.conditions)

    def test_heartbeat(self):
        with self.client(heartbeat=300) as client:
            client.make(conditions=[condition(CONDITIONS[0])])
            first = self.node.conditions[CONDITIONS[0]]["lastHeartbeatTime"]
            wait("a later heartbeat",
                 lambda: self.node.conditions[CONDITIONS[0]]["lastHeartbeatTime"] > first)

    def test_what_is_not_decided_has_no_heartbeat(self):
        """An agent that has just started knows some, and sends none until it knows all."""
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(kind) for kind in CONDITIONS])
        with self.client(heartbeat=100, resync=100) as client:
            client.want(labels=None, conditions=None, events=[event()])
            client.wait("the event", lambda s: s["events_sent"] == 1)
            time.sleep(1)
        self.assertEqual(self.node.own_labels, ROCE)
        self.assertLessEqual(set(CONDITIONS), set(self.node.conditions))

    def test_one_that_is_not_decided_stays_as_it_is(self):
        with self.client() as client:
            client.make(conditions=[condition(kind) for kind in CONDITIONS])
        before = self.node.conditions
        undecided = {"type": CONDITIONS[1], "status": None}
        time.sleep(1.1)  # heartbeats are whole seconds
        with self.client(heartbeat=300) as client:
            client.make(conditions=[condition(CONDITIONS[0], "True"), undecided])
            self.assertEqual(self.node.conditions[CONDITIONS[0]]["status"], "True")
            wait("a heartbeat", lambda: self.node.conditions[CONDITIONS[0]]["lastHeartbeatTime"] >
                 before[CONDITIONS[0]]["lastHeartbeatTime"])
        self.assertEqual(self.node.conditions[CONDITIONS[1]], before[CONDITIONS[1]])

    def test_none_of_our_business(self):
        with self.client(condition_types="") as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])])
        self.assertNotIn(CONDITIONS[0], self.node.conditions)


class Taint(AnyServer):
    def test_comes_and_goes_and_leaves_others(self):
        self.node.patch({"spec": {"taints": [{"key": "theirs", "value": "1",
                                              "effect": "NoExecute"}]}})
        with self.client() as client:
            client.make(taint=True)
            self.assertEqual(self.node.taints, {"theirs", TAINT})
            client.make(taint=False)
            self.assertEqual(self.node.taints, {"theirs"})


    def test_another_effect(self):
        """The settings have changed while the Node was tainted."""
        with self.client(taint_effect="NoExecute") as client:
            client.make(taint=True)
        with self.client(taint_effect="PreferNoSchedule") as client:
            client.make(taint=True)
        self.assertEqual([t["effect"] for t in self.node.get()["spec"]["taints"]
                          if t["key"] == TAINT], ["PreferNoSchedule"])


class Former(AnyServer):
    """Data under names that the settings no longer have."""

    def test_a_taint_that_was_turned_off_or_renamed(self):
        other = "rdma-node-agent/other"
        with self.client() as client:
            client.make(taint=True)
        with self.client(taint_key=other, former_taints=TAINT) as client:
            client.make(labels=ROCE, taint=True)
            self.assertEqual(self.node.taints & {TAINT, other}, {other})
            client.wait("the end of it", lambda s: s["former_gone"])
        with self.client(taint_key="", former_taints=f"{TAINT},{other}") as client:
            client.make(labels=ROCE, taint=False)
            wait("no taint", lambda: not self.node.taints & {TAINT, other})

    def test_nothing_is_gone_before_it_is_known_what_to_say(self):
        with self.client() as client:
            client.make(labels={"old.example/x": "1"}, taint=True)
        with self.client(taint_key="", former_taints=TAINT) as client:
            client.want(labels=None, conditions=None, taint=None, events=[event()])
            status = client.wait("the event", lambda s: s["events_sent"] == 1)
        self.assertFalse(status["former_gone"])
        self.assertIn(TAINT, self.node.taints)

    def test_labels(self):
        with self.client() as client:
            client.make(labels={"old.example/x": "1", "old.example/y": "1"})
        self.node.label(**{"old.example/theirs": "1"})
        self.node.label(**{"old.example/x": "2"})  # owned by another client as well
        keys = "network.nvidia.com/roce,rdma-node-agent/*,old.example/x,old.example/y"
        with self.client(label_keys=keys) as client:
            client.make(labels=ROCE)
            client.wait("the end of it", lambda s: s["former_gone"])
        self.assertEqual({k for k in self.node.labels if k.startswith("old.example/")},
                         {"old.example/theirs"})
        self.assertEqual(self.node.own_labels, ROCE)


class Events(AnyServer):
    def test_told_once_and_counted(self):
        with self.client() as client:
            client.make(events=[event()])
            client.make(events=[event(), event("RdmaPortUp", "mlx5_0/1 is up", False)])
        down, up = sorted(self.admin.events(self.node.name), key=lambda e: e["reason"])
        self.assertEqual((down["reason"], down["type"], down["count"], down["message"]),
                         ("RdmaPortDown", "Warning", 2, "mlx5_0/1 is down"))
        self.assertEqual((up["reason"], up["type"], up["count"]), ("RdmaPortUp", "Normal", 1))
        self.assertEqual(down["involvedObject"]["uid"], self.node.get()["metadata"]["uid"])
        self.assertEqual(down["source"]["component"], "rdma-node-agent")

    def test_the_same_one_waits(self):
        """A policy allows it once in some minutes; another one need not wait."""
        with self.client(event_pause=3600000) as client:
            client.make(events=[event()])
            client.make(events=[event(), event(message="mlx5_1/1 is down")])
            client.wait("the other one", lambda s: s["events_sent"] == 2)
        self.assertEqual({e["message"]: e["count"] for e in self.admin.events(self.node.name)},
                         {"mlx5_0/1 is down": 1, "mlx5_1/1 is down": 1})

    def test_an_agent_that_is_started_again_writes_the_same_one(self):
        for age in (60, 0):
            with self.client() as client:
                client.make(events=[event(age=age)])
                client.wait("the event", lambda s: s["events_sent"] == 1)
        known, = self.admin.events(self.node.name)
        self.assertRegex(known["metadata"]["name"], rf"^{self.node.name}\.rdma-[0-6][0-9]$")
        self.assertEqual(known["firstTimestamp"], known["lastTimestamp"])

    def test_a_long_message_is_cut_between_characters(self):
        with self.client() as client:
            client.make(events=[event(message="ä" * 2000)])
        self.assertEqual(self.admin.events(self.node.name)[0]["message"], "ä" * 512)

    def test_old_ones_are_not_told(self):
        with self.client() as client:
            client.want(events=[event(age=7200)])
            status = client.wait("dropped", lambda s: s["events_dropped"] == 1)
        self.assertEqual(status["events_sent"], 0)
        self.assertEqual(self.admin.events(self.node.name), [])


class Resources(AnyServer):
    def test_what_is_asked_for(self):
        self.node.patch({"status": {"capacity": {"rdma/hca": "63", "rdma/none": "4", "rdma/k": "1k"},
                                    "allocatable": {"rdma/hca": "62", "rdma/none": "0",
                                                    "rdma/k": "999"}}},
                        "/status", kind="application/strategic-merge-patch+json")
        with self.client() as client:
            status = client.make(labels=ROCE)
        self.assertEqual(status["resources"], {"rdma/hca": [63, 62], "rdma/none": [4, 0],
                                               "rdma/k": [1000, 999]})

    def test_labels_of_others_are_known(self):
        self.node.patch({"metadata": {"labels": {"site/tests": "allowed"}}})
        with self.client() as client:
            status = client.make(labels=ROCE)
        self.assertEqual(status["labels"]["site/tests"], "allowed")


class Commands(AnyServer):
    WISH = {"labels": ROCE, "conditions": [condition(CONDITIONS[0])], "taint": True}

    def test_apply_and_cleanup(self):
        self.node.label(theirs="yes")
        status, _, errors = once("apply", self.kubeconfig, self.node.name, self.WISH)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(self.node.own_labels, ROCE)
        self.assertIn(CONDITIONS[0], self.node.conditions)
        self.assertIn(TAINT, self.node.taints)
        status, _, errors = once("cleanup", self.kubeconfig, self.node.name)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(self.node.own_labels, {})
        self.assertFalse(set(CONDITIONS) & set(self.node.conditions))
        self.assertNotIn(TAINT, self.node.taints)
        self.assertEqual(self.node.labels["theirs"], "yes")
        managers = {m["manager"] for m in self.node.get()["metadata"].get("managedFields") or []
                    if m["operation"] == "Apply"}
        self.assertFalse(managers)

    def test_cleanup_twice(self):
        for _ in range(2):
            self.assertEqual(once("cleanup", self.kubeconfig, self.node.name)[0], 0)

    def test_print(self):
        status, output, _ = once("print", "/nowhere", "", self.WISH)
        self.assertEqual(status, 0)
        self.assertIn("PATCH /api/v1/nodes/NODE?fieldManager=rdma-node-agent&force=true\n", output)
        self.assertIn('"network.nvidia.com/roce": "true"', output)
        self.assertIn('"type": "RdmaPortDown"', output)
