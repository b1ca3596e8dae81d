# SPDX-License-Identifier: Apache-2.0
"""No more Nodes have the taint at once than there are Leases."""
import copy
import time

from agent import wait
from cluster import TAINT, DoubleTest, once
from test_told import NodeAgent

NAMESPACE, NAME = "rdma", "taints"
LEASES = f"{NAMESPACE}/{NAME}"
RIGHTS = {f"list leases in {NAMESPACE}", f"patch leases in {NAMESPACE}"}
HOUR = 3600


def at(seconds):
    """That time from now on, as a Lease has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() + seconds))


class Client(DoubleTest):
    def setUp(self):
        super().setUp()
        self.api.rules |= RIGHTS
        self.api.make_leases(NAMESPACE, NAME, 2)

    def client(self, **options):
        return super().client(**{"taint_leases": LEASES, **options})

    def spec(self, index):
        return self.api.leases[(NAMESPACE, f"{NAME}-{index}")]["spec"]

    def holders(self):
        return sorted(self.spec(i)["holderIdentity"] for i in range(2) if self.spec(i))

    def hold(self, index, holder, renewed=0, duration=HOUR):
        lease = self.api.leases[(NAMESPACE, f"{NAME}-{index}")]
        lease["spec"] = {"holderIdentity": holder, "renewTime": at(renewed),
                         "leaseDurationSeconds": duration}
        lease["metadata"]["resourceVersion"] += "0"

    def hold_all(self, **options):
        for index in range(2):
            self.hold(index, f"other-{index}", **options)

    @property
    def tainted(self):
        """By us, whatever taints a new Node has."""
        return TAINT in self.node.taints

    def withheld(self, client, text):
        client.wait(f"withheld: {text}", lambda s: text in s.get("withheld", ""))

    def leases_asked(self, since=None):
        return [r for r in (self.asked() if since is None else self.api.log[since:])
                if "/leases" in r.path]

    def test_one_is_held_while_the_taint_is_there(self):
        with self.client() as client:
            client.make(taint=True)
            self.assertEqual((self.tainted, self.holders()), (True, ["node-1"]))
            client.make(taint=False)
            self.assertEqual((self.tainted, self.holders()), (False, []))
        self.assertNotIn("withheld", client.statuses[-1])

    def test_before_the_taint_and_until_it_is_gone(self):
        with self.client() as client:
            client.make(taint=True)
            client.make(taint=False)
        writes = [r.path.split("/")[-2] for r in self.asked("PATCH")
                  if "/leases/" in r.path or "taints" in r.body]
        self.assertEqual(writes, ["leases", "nodes", "nodes", "leases"])

    def test_all_are_held(self):
        self.hold_all()
        with self.client() as client:
            client.want(taint=True, labels={"rdma-node-agent/ports": "8"})
            self.withheld(client, "other nodes hold all Leases")
            client.wait_in_step()
            self.assertEqual((self.tainted, self.holders()), (False, ["other-0", "other-1"]))
            self.assertEqual(self.node.own_labels, {"rdma-node-agent/ports": "8"})
            self.assertNotIn("problem", client.statuses[-1])
            client.make(taint=False)
            self.assertNotIn("withheld", client.statuses[-1])

    def test_it_is_asked_for_again_with_each_look(self):
        self.hold_all()
        with self.client(look=200) as client:
            client.want(taint=True)
            self.withheld(client, "other nodes hold all Leases")
            self.api.leases[(NAMESPACE, f"{NAME}-1")]["spec"] = {}
            wait("the taint", lambda: self.tainted)
            client.wait("no more", lambda s: "withheld" not in s)
        self.assertEqual(self.holders(), ["node-1", "other-0"])

    def test_asking_costs_no_change(self):
        """One request with each look, and none of the tokens that changes have."""
        self.hold_all()
        with self.client(look=200) as client:
            client.want(taint=True)
            self.withheld(client, "other nodes hold all Leases")
            wait("looks", lambda: len(self.leases_asked()) > 10)
            client.make(taint=True, labels={"rdma-node-agent/ports": "7"})
        self.assertEqual([r for r in self.leases_asked() if r.method != "GET"], [])
        self.assertEqual({r.query["resourceVersion"] for r in self.leases_asked()}, {"0"})

    def test_it_is_renewed(self):
        with self.client(look=400) as client:
            client.make(taint=True)
            first = next(self.spec(i) for i in range(2) if self.spec(i))
            self.assertEqual(first["leaseDurationSeconds"], 2)  # three looks
            wait("a renewal", lambda: any(self.spec(i).get("renewTime", "") > first["renewTime"]
                                          for i in range(2)))
            again = next(self.spec(i) for i in range(2) if self.spec(i))
            self.assertEqual(again["acquireTime"], first["acquireTime"])
            self.assertEqual(self.holders(), ["node-1"])

    def test_one_that_ended_is_taken(self):
        """The agent that held it is gone."""
        self.hold(0, "other-0")
        self.hold(1, "dead", renewed=-HOUR - 5)
        with self.client() as client:
            client.make(taint=True)
        self.assertEqual(self.holders(), ["node-1", "other-0"])
        self.assertTrue(self.tainted)

    def test_one_without_times_never_ends(self):
        self.hold(0, "other-0")
        self.api.leases[(NAMESPACE, f"{NAME}-1")]["spec"] = {"holderIdentity": "a person"}
        with self.client() as client:
            client.want(taint=True)
            self.withheld(client, "other nodes hold all Leases")

    def test_a_former_process_held_it(self):
        with self.client() as client:
            client.make(taint=True)
        held = self.holders()
        with self.client() as client:
            client.make(taint=True)
            self.assertEqual((self.holders(), self.tainted), (held, True))
        with self.client() as client:
            client.make(taint=False)
        self.assertEqual((self.holders(), self.tainted), ([], False))

    def test_until_it_is_asked_for_a_taint_stays(self):
        with self.client() as client:
            client.make(taint=True)
        self.api.fault("500", 3)
        with self.client() as client:
            client.make(taint=True)
        self.assertEqual([r for r in self.asked("PATCH", "/nodes/node-1")
                          if '"taints": []' in r.body], [])

    def test_an_api_server_that_starts_takes_no_taint_away(self):
        """It denies everything for a moment, also the look and the renewal."""
        with self.client(look=300) as client:
            client.make(taint=True)
            seen = len(self.api.log)
            self.api.fault("403", 2)
            wait("a refusal of each", lambda: not self.api.faults)
            wait("a renewal", lambda: [r for r in self.api.asked("PATCH", status=200, since=seen)
                                       if "/leases/" in r.path])
            self.assertNotIn("withheld", client.statuses[-1])
        self.assertEqual(self.api.asked("PATCH", "/nodes/node-1", since=seen), [])
        self.assertEqual({r.path.split("/")[-1] for r in self.api.asked(status=403, since=seen)},
                         {"node-1", "leases"})

    def test_one_that_was_lost_takes_the_taint_along(self):
        """Another took it after it had ended, or it was deleted because the limit is lower now."""
        with self.client(look=300) as client:
            client.make(taint=True)
            self.hold_all()
            self.withheld(client, "other nodes hold all Leases")
            wait("no taint", lambda: not self.tainted)

    def test_there_are_none(self):
        self.api.leases.clear()
        with self.client() as client:
            client.want(taint=True)
            self.withheld(client, "there are no Leases")
            self.assertFalse(self.tainted)

    def test_a_missing_right(self):
        """Also a taint that an agent without a limit has set goes; all else is written."""
        self.node.patch({"spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]}})
        for right in sorted(RIGHTS):
            self.api.rules = self.api.rules | RIGHTS - {right}
            self.api.rules.discard(right)
            with self.client() as client:
                client.want(taint=True, labels={"rdma-node-agent/ports": "8"})
                self.withheld(client, "the API server refuses the Leases")
                wait("no taint", lambda: not self.tainted)
                problem = client.wait_problem("leases")
                self.assertIn("check that a Role allows the agent to list and patch", problem)
                self.assertEqual(self.node.own_labels, {"rdma-node-agent/ports": "8"})

    def test_a_cache_that_lags(self):
        """Another took the one that seems to be free: the next try sees it."""
        self.api.lease_cache = copy.deepcopy(self.api.leases)
        self.hold_all()
        with self.client() as client:
            client.want(taint=True)
            self.withheld(client, "other nodes hold all Leases")
        self.assertEqual([(r.method, r.status) for r in self.leases_asked()],
                         [("GET", 200), ("PATCH", 409), ("GET", 200)])
        self.assertEqual((self.tainted, self.holders()), (False, ["other-0", "other-1"]))

    def test_two_of_three_nodes(self):
        self.admin.make_node("node-2")
        third = self.admin.make_node("node-3")
        for name in "node-1", "node-2":
            self.assertEqual(once("apply", self.kubeconfig, name, {"taint": True},
                                  taint_leases=LEASES)[0], 0)
        status, _, errors = once("apply", self.kubeconfig, "node-3",
                                 {"taint": True, "labels": {"rdma-node-agent/ports": "8"}},
                                 taint_leases=LEASES)
        self.assertEqual(status, 1)
        self.assertIn("the Node node-3 does not get the taint rdma-node-agent/rdma-down: other nodes "
                      "hold all Leases", errors)
        self.assertNotIn(TAINT, third.taints)
        self.assertEqual(third.own_labels, {"rdma-node-agent/ports": "8"})
        self.assertEqual(self.holders(), ["node-1", "node-2"])
        self.assertEqual(once("cleanup", self.kubeconfig, "node-1", taint_leases=LEASES)[0], 0)
        self.assertEqual(self.holders(), ["node-2"])

    def test_a_dry_run_asks_nothing_and_says_it(self):
        self.node.patch({"spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]}})
        with self.client(taint_dry_run="true") as client:
            client.want(taint=True)
            self.withheld(client, "kubernetes.taint_dry_run")
            wait("no taint", lambda: not self.tainted)
            self.assertEqual(self.holders(), [])
            client.make(taint=False)
            self.assertNotIn("withheld", client.statuses[-1])

    def test_an_ignored_node_gives_it_back(self):
        with self.client(look=200) as client:
            client.make(taint=True)
            self.node.patch({"metadata": {"annotations": {"rdma-node-agent/ignore": "true"}}})
            wait("no taint", lambda: not self.tainted)
            wait("the Lease", lambda: self.holders() == [])

    def test_without_the_setting_nothing_is_asked(self):
        with self.client(taint_leases="") as client:
            client.want(taint=True)
        with super().client() as client:
            client.make(taint=True)
        self.assertEqual(self.leases_asked(), [])


class Agents(DoubleTest):
    """The agent on a recorded machine, which loses all its ports."""

    def lose_ports(self, a):
        wait("labels", lambda: "rdma-node-agent/ports-up" in self.node.own_labels)
        wait("no condition", lambda: self.status_of("RdmaTaintWithheld") == "False")
        a.set_states("1: DOWN")

    def status_of(self, kind):
        return self.node.conditions.get(kind, {}).get("status")

    def test_what_is_withheld_is_told(self):
        self.api.rules |= RIGHTS
        self.api.make_leases(NAMESPACE, NAME, 1)
        self.api.leases[(NAMESPACE, f"{NAME}-0")]["spec"] = {"holderIdentity": "other"}
        with NodeAgent(self.kubeconfig, "node-1", taint_leases=LEASES, changes=100) as a:
            self.lose_ports(a)
            wait("the condition", lambda: self.status_of("RdmaTaintWithheld") == "True")
            wait("the Event", lambda: [e for e in self.admin.events("node-1")
                                       if "other nodes hold all Leases" in e["message"]])
            self.assertEqual(a.metric("rdma_kubernetes_taint_withheld"), 1)
            self.assertNotIn("rdma-node-agent/down", self.node.taints)
            a.set_states("4: ACTIVE")
            wait("no condition", lambda: self.status_of("RdmaTaintWithheld") == "False")

    def test_a_dry_run(self):
        with NodeAgent(self.kubeconfig, "node-1", taint_dry_run=True, changes=100) as a:
            self.lose_ports(a)
            wait("the condition", lambda: self.status_of("RdmaTaintWithheld") == "True")
            shown = a.command("kube", "show", "--root", a.root).stdout
            self.assertIn("# kubernetes.taint_dry_run: it is not set", shown)

    def test_no_limit_no_condition(self):
        with NodeAgent(self.kubeconfig, "node-1") as a:
            wait("conditions", lambda: self.status_of("RdmaPortDown") == "False")
            a.set_states("1: DOWN")
            wait("the taint", lambda: "rdma-node-agent/down" in self.node.taints)
            self.assertIsNone(self.status_of("RdmaTaintWithheld"))
