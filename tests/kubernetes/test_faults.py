# SPDX-License-Identifier: Apache-2.0
"""Faults of the API: how the client waits, what it reports, and that it recovers."""
import glob
import socket
import subprocess
import time
import unittest

import api
import cluster
from agent import stretched
from cluster import (CONDITIONS, PATIENCE, TAINT, DoubleTest, Driver, condition, event, wait)

ROCE = {"network.nvidia.com/roce": "true"}


class Trouble(DoubleTest):
    """With the API as a whole: all waits for it, and comes right by itself."""

    def survive(self, kind, result, times=2, **wish):
        """times answers that are such; then the Node is as wished. Returns the last status."""
        self.api.fault(kind, times)
        with self.client() as client:
            client.want(labels=ROCE, **wish)
            status = client.wait_in_step()
            problems = client.problems
        self.assertEqual(self.node.own_labels, ROCE)
        self.assertIsNone(status.get("problem"))
        self.assertGreaterEqual(status["requests"][result], times)
        return problems

    def test_500(self):
        problem, = self.survive("500", "failed")
        self.assertIn("etcdserver: leader changed", problem)

    def test_503(self):
        self.survive("503", "failed")

    def test_504_after_a_while(self):
        self.survive("504", "failed")

    def test_half_a_reply(self):
        problem, = self.survive("half a reply", "unreachable")
        self.assertIn(self.api.url, problem)

    def test_429_is_text_and_asks_to_wait(self):
        problem, = self.survive("429", "throttled")
        self.assertIn("429: Too many requests, please try again later.", problem)
        times = [r.time for r in self.asked()]
        self.assertGreaterEqual(times[1] - times[0], 1.9)  # what it asked for, and ours

    def test_waits_count_from_the_answer(self):
        """That takes longer to come than the wait would be."""
        self.api.delay = 3
        self.survive("504", "failed")
        ended = [r.time + self.api.delay for r in self.asked()[:2]]
        self.assertGreaterEqual(self.asked()[1].time - ended[0], 0.9)

    def test_once_is_no_problem(self):
        self.assertEqual(self.survive("500", "failed", times=1), [])

    def test_403_of_a_server_that_restarts(self):
        self.assertEqual(self.survive("403", "forbidden", times=1), [])

    def test_storm(self):
        """Each time it waits longer; the server is not asked more often than that."""
        self.api.fault("429")
        with self.client() as client:
            client.want(labels=ROCE)
            client.wait_result("throttled", 4)
            times = [r.time for r in self.asked()]
            self.assertLessEqual(len(times), 5)
            self.assertGreaterEqual(times[3] - times[0], 5.9)
            self.assertEqual(len(client.problems), 1)

    def test_nobody_there(self):
        self.api.stop()
        with self.client() as client:
            client.want(labels=ROCE)
            problem = client.wait_problem(self.api.url)
            self.assertIn("onnect", problem)
            self.api.start()
            client.wait_in_step()
            self.assertEqual(len(client.problems), 1)

    def test_a_restart_is_not_noticed(self):
        with self.client() as client:
            client.make(labels=ROCE)
            self.api.stop()
            self.api.start()
            client.make(labels={"network.nvidia.com/roce": "false"})
            self.assertEqual(client.problems, [])

    def hang(self, kind, seconds):
        """One that never answers is left after seconds; the next one is asked anew."""
        self.api.fault(kind, 1)
        start = time.monotonic()
        with self.client() as client:
            client.want(labels=ROCE)
            client.wait_result("unreachable")
            self.assertGreaterEqual(time.monotonic() - start, seconds - 0.5)
            client.wait_in_step()

    def test_hang_in_tls(self):
        self.hang("hang in TLS", 5)

    def test_hang_in_the_reply(self):
        self.hang("hang in reply", 15)

    def test_hang_in_connect(self):
        with self.api.hang_in_connect():
            client = self.enter(self.client())
            client.want(labels=ROCE)
            client.wait_result("unreachable")
        client.wait_in_step()

    def test_leaving_while_it_hangs(self):
        self.api.fault("hang in reply")
        with self.client() as client:
            client.want(labels=ROCE)
            wait("the request", self.asked)
            start = time.monotonic()
        self.assertLess(time.monotonic() - start, stretched(10))  # the request has more

    def test_a_reply_without_end(self):
        self.node_object().images = 30000
        with self.client() as client:
            client.want(labels=ROCE)
            self.assertIn("more than 8192 KiB", client.wait_problem("reply"))

    def test_a_reply_that_takes_much_memory(self):
        """Of a GET, of a PATCH, and of a refusal; afterwards all is as wished."""
        many, deep = '{"a": [' + "[]," * 200000 + "[]]}", "[" * 3000000
        serve = self.api.serve
        for number, (method, code, body, why) in enumerate((
                ("GET", 200, many, "more than 32768 KiB of memory"),
                ("PATCH", 200, deep, "more than 64 levels"),
                ("PATCH", 422, many, "more than 32768 KiB of memory"))):
            def swamp(record, data, who, wanted=method, answer=(code, body)):
                return answer if record.method == wanted else serve(record, data, who)

            self.api.serve = swamp
            with self.subTest(method=method, code=code), self.client() as client:
                client.want(labels={"network.nvidia.com/roce": f"value-{number}"})
                self.assertIn(why, client.wait_problem("the reply is not read"))
                self.api.serve = serve
                client.wait_in_step()

    def node_object(self):
        return self.api.nodes["node-1"]


FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")


@unittest.skipUnless(FAKETIME, "libfaketime is not installed")
class Clock(DoubleTest):
    """The wall clock jumps; what measures time is another one."""

    def setUp(self):
        super().setUp()
        self.set_clock("+0")

    def set_clock(self, offset):
        self.api.write_file("clock", f"{offset}\n")

    def client(self, **options):
        environment = {"LD_PRELOAD": FAKETIME[0], "FAKETIME_TIMESTAMP_FILE": self.api.path("clock"),
                       "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"}
        return Driver(self.kubeconfig, "node-1", environment, **options)

    def jump(self, offset):
        """Nothing happens but what is wanted, and that happens at once."""
        with self.client(look=3600000, resync=36000000, heartbeat=3600000) as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])])
            seen = len(self.asked())
            self.set_clock(offset)
            client.make(labels={"network.nvidia.com/roce": "later"},
                        conditions=[condition(CONDITIONS[0])])
            self.assertEqual(len(self.asked()), seen + 1)
            client.make(labels={"network.nvidia.com/roce": "later"}, events=[event()],
                        conditions=[condition(CONDITIONS[0])])
            self.assertEqual(len(self.asked()), seen + 2)

    def test_a_day_ahead(self):
        self.jump("+1d")
        told, = self.api.events.values()
        self.assertGreater(told["firstTimestamp"], api.now())

    def test_a_day_back(self):
        self.set_clock("+1d")  # certificates, made a moment ago, were not valid before
        self.jump("+0")

    def test_a_certificate_of_the_future(self):
        with self.client() as client:
            self.set_clock("-400d")
            client.want(labels=ROCE)
            self.assertIn("not yet valid", client.wait_problem("certificate"))
            self.set_clock("+0")
            client.wait_in_step()


class Credentials(DoubleTest):
    def in_cluster(self, **options):
        return Driver(None, "node-1", server=self.api.url, service_account=self.api.path("sa"),
                      **options)

    def test_an_expired_token(self):
        self.api.tokens[api.TOKEN]["expires"] = time.time() - 3600
        with self.in_cluster() as client:
            client.want(labels=ROCE)
            self.assertIn("401: Unauthorized", client.wait_problem("valid"))
            self.api.tokens["new"] = {"user": api.USER, "expires": time.time() + 3600}
            self.api.write_service_account(token="new\n")
            client.wait_in_step()
            self.assertEqual(len(client.problems), 1)

    def test_a_token_without_rights(self):
        """What is forbidden waits long, but not for a new token: that is seen within 15 s."""
        self.api.tokens[api.TOKEN]["user"] = "system:serviceaccount:default:default"
        with self.in_cluster() as client:
            client.want(labels=ROCE)
            client.wait_result("forbidden", 6)
            self.api.tokens["new"] = {"user": api.USER, "expires": time.time() + 3600}
            since = time.monotonic()
            self.api.write_service_account(token="new\n")
            client.wait_in_step()
            self.assertLess(time.monotonic() - since, stretched(20))

    def test_a_token_that_is_rotated_in_the_middle(self):
        """The file is newer than what the round began with: one more request, and no problem."""
        with self.in_cluster() as client:
            client.make(labels=ROCE)
            serve = self.api.serve

            def rotate(record, data, who):
                self.api.serve = serve
                self.api.tokens["new"] = self.api.tokens.pop(api.TOKEN)
                self.api.write_service_account(token="new")
                raise api.Refusal(401, "Unauthorized", "Unauthorized")

            self.api.serve = rotate
            status = client.make(labels={"network.nvidia.com/roce": "false"})
        self.assertEqual(status["requests"]["unauthorized"], 1)
        self.assertEqual(client.problems, [])

    def test_another_ca(self):
        self.api.write_service_account(authority="other-ca")
        with self.in_cluster() as client:
            client.want(labels=ROCE)
            self.assertIn("certificate", client.wait_problem(self.api.url))
            self.assertEqual(self.asked(), [])  # the token was not sent
            self.api.write_service_account()  # the CA was rotated, and we see it
            client.wait_in_step()

    def test_no_service_account(self):
        with Driver(None, "node-1", server=self.api.url, service_account="/nowhere") as client:
            client.want(labels=ROCE)
            self.assertIn("/nowhere/token: cannot open", client.wait_problem("token"))

    def test_an_empty_token_is_not_sent(self):
        self.api.write_service_account(token="\n")
        with self.in_cluster() as client:
            client.want(labels=ROCE)
            client.wait_problem("contains no token")
        self.assertEqual(self.asked(), [])

    def test_the_service_of_the_cluster(self):
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "NODE_NAME": "node-1",
                       "KUBERNETES_SERVICE_PORT": str(self.api.port)}
        with Driver(environment=environment, service_account=self.api.path("sa")) as client:
            client.make(labels=ROCE)
        self.assertEqual(self.node.own_labels, ROCE)

    def test_a_proxy_of_the_environment_is_not_asked(self):
        environment = {"https_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1",
                       "ALL_PROXY": "http://127.0.0.1:1"}
        with Driver(self.kubeconfig, "node-1", environment) as client:
            client.make(labels=ROCE)

    def test_kubeconfigs(self):
        in_place = {"certificate-authority-data": self.api.in_place("ca.crt")}
        for user, place in (
                ({"client-certificate": "client.crt", "client-key": "client.key"}, None),
                ({"client-certificate-data": self.api.in_place("client.crt"),
                  "client-key-data": self.api.in_place("client.key")}, in_place),
                ({"tokenFile": "sa/token"}, None),
                ({"token": api.TOKEN}, in_place)):
            with self.subTest(user=list(user)):
                path = self.api.kubeconfig(
                    "some", user, {"server": self.api.url, **place} if place else None)
                with Driver(path, "node-1") as client:
                    client.make(labels=ROCE)
                    client.make()

    def test_kubeconfigs_that_are_refused(self):
        ca = {"certificate-authority": "ca.crt"}
        for user, place, text in (
                ({"exec": {"command": "aws"}}, None, "exec is not supported; use a token"),
                ({"username": "me", "password": "x"}, None, "username is not supported"),
                ({"token": ""}, None, "neither a token nor a client certificate"),
                ({"token": "a b"}, None, "contains no token"),
                ({"tokenFile": "nowhere"}, None, "nowhere: cannot open"),
                ({"client-certificate-data": "%"}, None, "client-certificate-data is not valid base64"),
                (None, {**ca, "insecure-skip-tls-verify": True}, "insecure-skip-tls-verify is not"),
                (None, {**ca, "server": "http://127.0.0.1:1"}, "https://HOST:PORT"),
                (None, {"certificate-authority": "kubeconfig"}, "contains no PEM")):
            with self.subTest(text=text):
                path = self.api.kubeconfig("some", user, place)
                with Driver(path, "node-1") as client:
                    client.want(labels=ROCE)
                    client.wait_problem(text)

    def test_a_kubeconfig_that_gets_better(self):
        path = self.api.kubeconfig("some", {"token": "wrong"})
        with Driver(path, "node-1") as client:
            client.want(labels=ROCE)
            client.wait_problem("401")
            self.api.kubeconfig("some")
            client.wait_in_step()

    def test_no_name(self):
        for environment, name, text in (
                ({"NODE_NAME": ""}, None, "the name of this Node is unknown; set $NODE_NAME"),
                ({"NODE_NAME": "../../secrets"}, None, "is not a valid Node name"),
                ({"NODE_NAME": ".."}, None, "is not a valid Node name"),
                ({}, "Node", "is not a valid Node name")):
            with self.subTest(text=text):
                client = Driver(self.kubeconfig, name, environment)
                done = subprocess.run([cluster.driver, *client.arguments], env=client.environment,
                                      input="", capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(text, done.stderr)

    def test_an_address_of_six(self):
        self.api.stop()
        self.api.family, self.api.port = socket.AF_INET6, 0
        self.api.start()
        environment = {"KUBERNETES_SERVICE_HOST": "::1",
                       "KUBERNETES_SERVICE_PORT": str(self.api.port)}
        with Driver(None, "node-1", environment, service_account=self.api.path("sa")) as client:
            client.make(labels=ROCE)


class Rights(DoubleTest):
    """A denied request is logged once, and does not block others."""

    def without(self, *rules):
        self.api.rules -= set(rules)
        with self.client() as client:
            client.want(labels=ROCE, conditions=[condition(CONDITIONS[0])], events=[event()])
            problem = client.wait_problem("403")
            client.wait_result("forbidden", 3)
            self.assertEqual(len(client.problems), 1, client.problems)
            self.assertIn("check that a ClusterRole allows", problem)
            got = (bool(self.node.own_labels), CONDITIONS[0] in self.node.conditions,
                   bool(self.api.events))
            self.api.rules |= set(rules)
            client.wait_in_step()
        self.assertEqual(self.node.own_labels, ROCE)
        self.assertIn(CONDITIONS[0], self.node.conditions)
        self.assertTrue(self.api.events)
        return got

    def test_no_labels(self):
        self.assertEqual(self.without("patch nodes"), (False, True, True))

    def test_no_conditions(self):
        self.assertEqual(self.without("patch nodes/status"), (True, False, True))

    def test_refused_conditions_do_not_hurry_labels(self):
        """They stay the first ones for ever; later changes are spread like any other."""
        self.api.rules.discard("patch nodes/status")
        with self.client(spread=86_400_000) as client:
            client.want(labels=ROCE, conditions=[condition(CONDITIONS[0])])
            client.wait_problem("403")
            client.want(labels={**ROCE, "rdma-node-agent/ports": "8"},
                        conditions=[condition(CONDITIONS[0])])
            time.sleep(1)  # nothing is to happen: there is nothing to wait for
            self.assertEqual(self.node.own_labels, ROCE)

    def test_no_events(self):
        self.assertEqual(self.without("create events"), (True, True, False))

    def test_no_look(self):
        self.assertEqual(self.without("get nodes"), (True, True, True))

    def test_none_at_all(self):
        """One thing to say, however many requests are forbidden."""
        self.api.rules.clear()
        with self.client() as client:
            client.want(labels=ROCE, conditions=[condition(CONDITIONS[0])], events=[event()])
            client.wait_result("forbidden", 12)
            self.assertEqual(len(client.problems), 1, client.problems)
            self.assertIn("check that a ClusterRole allows", client.problems[0])

    def test_after_an_outage_of_another_kind(self):
        """The current problem is reported, not a former one."""
        self.api.fault("503", 2)
        self.api.rules.discard("patch nodes")
        with self.client() as client:
            client.want(labels=ROCE)
            client.wait_problem("503")
            client.wait_problem("403")

    def test_policy(self):
        self.api.policy = ["network.nvidia.com/"]
        self.api.tokens[api.TOKEN]["node"] = "node-1"
        with self.client() as client:
            client.make(labels=ROCE)
            client.want(labels={**ROCE, "rdma-node-agent/ports": "8"})
            self.assertIn("denied request: key rdma-node-agent/ports",
                          client.wait_problem("ValidatingAdmissionPolicy"))

    def test_a_token_of_another_node(self):
        self.api.policy = ["network.nvidia.com/"]
        self.api.tokens[api.TOKEN]["node"] = "node-2"
        with self.client() as client:
            client.want(labels=ROCE)
            client.wait_problem("not its own node")


class Missing(DoubleTest):
    """The Node is not there (yet), or not any more, or another of the same name."""

    def test_not_yet(self):
        self.node.delete()
        with self.client() as client:
            client.want(labels=ROCE)
            self.assertIn("the Node does not exist (yet)", client.wait_problem("nodes/node-1"))
            self.assertNotIn("node-1", self.api.nodes)  # it was not created
            self.admin.make_node("node-1")
            client.wait_in_step()
            self.assertEqual(self.node.own_labels, ROCE)

    def test_made_anew(self):
        wish = {"labels": ROCE, "conditions": [condition(CONDITIONS[0])], "taint": True}
        with self.client(look=200) as client:
            client.make(**wish)
            self.node.delete()
            self.admin.make_node("node-1")
            wait("all of it again", lambda: self.node.own_labels == ROCE and
                 CONDITIONS[0] in self.node.conditions and TAINT in self.node.taints)

    def test_made_anew_and_seen_by_a_write(self):
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])])
            self.node.delete()
            self.admin.make_node("node-1")
            client.want(labels={"network.nvidia.com/roce": "false"},
                        conditions=[condition(CONDITIONS[0])])
            wait("the condition", lambda: CONDITIONS[0] in self.node.conditions)


    def test_made_anew_for_ever(self):
        """And the rights to look are gone: no loop of writes."""
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])])
            self.api.rules.discard("get nodes")
            serve, seen = self.api.serve, len(self.api.log)

            def serve_another(record, data, who):
                answer = serve(record, data, who)
                if record.method == "PATCH" and who[0] != api.ADMIN:
                    self.api.nodes["node-1"] = api.Node("node-1")
                return answer

            self.api.serve = serve_another
            client.want(labels={"network.nvidia.com/roce": "false"},
                        conditions=[condition(CONDITIONS[0], "True")])
            client.wait_result("forbidden")
            time.sleep(2)
            self.assertLess(len([r for r in self.api.log[seen:] if r.method == "PATCH"]), 8)


class Forms(DoubleTest):
    def test_only_metadata_is_asked_for(self):
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])], taint=True)
        self.assertTrue(all(r.sent < 4096 for r in self.asked("PATCH")))
        self.assertEqual([r.query.get("resourceVersion") for r in self.asked("GET")], ["0", None])

    def test_undecided_is_left_alone(self):
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])], taint=True)
        seen = len(self.api.log)
        with self.client() as client:
            client.want(labels=None, conditions=None, taint=None, events=[event()])
            client.wait("the event", lambda s: s["events_sent"] == 1)
        self.assertEqual([r.method for r in self.api.log[seen:]], ["GET", "POST"])
        self.assertEqual(self.node.own_labels, ROCE)
        self.assertIn(TAINT, self.node.taints)

    def test_a_taint_and_somebody_who_is_faster(self):
        serve, conflicts = self.api.serve, []

        def interfere(record, data, who):
            if record.method == "PATCH" and "taints" in record.body and len(conflicts) < 2:
                conflicts.append(record)
                self.api.nodes["node-1"].set(("label", "theirs"), str(len(conflicts)))
            return serve(record, data, who)

        self.api.serve = interfere
        with self.client() as client:
            client.make(taint=True)
            self.assertEqual(client.problems, [])
        self.assertEqual([r.status for r in conflicts], [409, 409])
        self.assertEqual(self.node.taints, {TAINT, "node.kubernetes.io/not-ready"})


class OldServer(DoubleTest):
    version = (1, 20)

    def test_labels_and_conditions(self):
        with self.client() as client:
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0])])
            client.make(labels=ROCE, conditions=[condition(CONDITIONS[0], "True")])
            self.assertEqual(self.node.own_labels, ROCE)

    def test_not_yet(self):
        self.node.delete()
        with self.client() as client:
            client.want(labels=ROCE)
            # to a look it answers 404, and of several problems the first is reported
            client.wait("a 403, and a problem",
                        lambda s: s["requests"]["forbidden"] and s.get("problem"))
            self.admin.make_node("node-1")
            client.wait_in_step()


class Pace(DoubleTest):
    """The numbers are in tests/unit/exporter/kubernetes/test_kubernetes_pace.c; here it is that they are kept."""

    def test_changes_cost_tokens(self):
        """One flips all the time: the burst is written, the rest waits."""
        with self.client() as client:
            for i in range(5):
                client.make(labels={"network.nvidia.com/roce": str(i)})
            seen = len(self.asked("PATCH"))
            for i in range(20):
                client.want(labels={"network.nvidia.com/roce": f"more-{i}"})
            time.sleep(1)  # nothing is to happen: there is nothing to wait for
        self.assertEqual(len(self.asked("PATCH")), seen)
        self.assertEqual(self.node.own_labels, {"network.nvidia.com/roce": "4"})

    def test_what_changes_back_is_not_written(self):
        with self.client(spread=2000) as client:
            client.make(labels=ROCE)
            seen = len(self.asked("PATCH"))
            client.want_all({}, {"labels": ROCE})
            time.sleep(2.2)  # as above
        self.assertEqual(len(self.asked("PATCH")), seen)

    def test_many_events_are_counted_not_sent(self):
        with self.client() as client:
            client.make(events=[event(message=f"port {i}") for i in range(100)])
            status = client.wait("all counted",
                                 lambda s: s["events_sent"] + s["events_dropped"] == 100)
        self.assertEqual(status["events_sent"], 32)
        self.assertEqual(len(self.api.events), 32)

    def test_many_wishes_during_one_request(self):
        """The newest is written; the Events of all are sent, or counted."""
        with self.client() as client:
            client.make(labels=ROCE)
            seen, self.api.delay = len(self.asked("PATCH")), 3
            self.api.fault("504", 1)
            client.want(labels={"network.nvidia.com/roce": "first"})
            wait("the request", lambda: len(self.asked("PATCH")) > seen)
            for i in range(40):
                client.want(labels={"network.nvidia.com/roce": str(i)},
                            events=[event(message=f"port {i}")])
            client.wait("all counted",
                        lambda s: s["events_sent"] + s["events_dropped"] == 40 and s["in_step"])
        self.assertEqual(self.node.own_labels, {"network.nvidia.com/roce": "39"})

    def test_an_event_that_is_refused_holds_up_no_other(self):
        self.api.disliked = "port 1"
        with self.client() as client:
            client.want(events=[event(message=f"port {i}") for i in range(3)])
            client.wait("the others", lambda s: (s["events_sent"], s["events_dropped"]) == (2, 1))
        self.assertEqual({e["message"] for e in self.api.events.values()}, {"port 0", "port 2"})

    def test_a_known_event_that_the_api_forgot(self):
        with self.client() as client:
            client.make(events=[event()])
            self.api.events.clear()
            client.make(events=[event()])
        again, = self.api.events.values()
        self.assertEqual(again["count"], 2)

    def test_resync(self):
        with self.client(resync=400) as client:
            client.make(labels=ROCE)
            wait("more of the same", lambda: len(self.asked("PATCH", "/node-1")) >= 3, PATIENCE)
        versions = self.node.version
        self.assertEqual(versions, self.node.version)
