# SPDX-License-Identifier: Apache-2.0
"""The web configuration: TLS, client certificates, logins, limits, and files that change."""
import base64
import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import agent as agent_module
from agent import PATIENCE, QUIET, STOP, Agent, Reply, free_port, stretched, wait
from lines import alone
from pki import Authority, bcrypt
from prometheus import Prometheus
from test_sockets import UnixConnection, failed_start, get_unix

RELOADED = "rdma_agent_web_config_last_reload_successful"
LOGINS = "rdma_agent_http_logins_total"
DEFAULT_CLIENT = object()


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


class WebAgent(Agent):
    """An agent with a web configuration file, and a client that fits it."""

    def __init__(self, web, **rest):
        http_settings = {"idle_timeout": "30s", **rest.pop("http_settings", {})}
        super().__init__(rest.pop("machine", "no-stack"), poll=rest.pop("poll", dict(QUIET)),
                         http_settings=http_settings, **rest)
        self.web_path = f"{self.directory}/web.yml"
        self.ca = Authority(self.directory)
        self.ca.sign("server")
        self.login, self.context = {}, None
        self.set_web(web)
        self.http_settings["web_config_file"] = self.web_path

    def set_web(self, web):
        """Replaces the file atomically."""
        if isinstance(web, dict):
            web = json.dumps(web)
        with open(f"{self.web_path}.new", "w", encoding="utf-8") as file:
            file.write(web)
        os.rename(f"{self.web_path}.new", self.web_path)

    def trust(self, client=None, **options):
        """A context for this server, with the certificate of a client."""
        context = ssl.create_default_context(cafile=self.ca.certificate)
        if client:
            context.load_cert_chain(*client)
        for name, value in options.items():
            setattr(context, name, value)
        return context

    def open(self, timeout=PATIENCE):
        if self.context:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout,
                                               context=self.context)
        return super().open(timeout)

    def request(self, method, path, headers=None, body=None, timeout=PATIENCE):
        return super().request(method, path, {**self.login, **(headers or {})}, body, timeout)

    def anonymous(self, path="/metrics", method="GET", **headers):
        with contextlib.closing(self.open()) as connection:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            return Reply(response, response.read())

    def curl(self, *arguments):
        """The status that curl sees, 0 where it gets none."""
        result = subprocess.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", self.ca.certificate,
             *arguments, f"https://127.0.0.1:{self.port}/metrics"], stdout=subprocess.PIPE, check=False)
        return int(result.stdout)


TLS = {"cert_file": "server.pem", "key_file": "server.key"}  # beside the file


class TlsAgent(WebAgent):
    def __init__(self, tls=None, **rest):
        super().__init__({"tls_server_config": {**TLS, **(tls or {})}, **rest.pop("web", {})}, **rest)
        self.context = self.trust()


def refused(agent, context):
    """Does the server end the handshake, or what looked like one to a client of TLS 1.3?"""
    agent.context = context
    try:
        agent.get("/healthz")
        return False
    except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected):
        return True


class Tls(unittest.TestCase):
    def test_served(self):
        with TlsAgent() as agent:
            self.assertEqual(agent.get("/metrics").status, 200)
            self.assertEqual(agent.curl(), 200)
            self.assertEqual(agent.curl("--http2"), 200)
            self.assertEqual(agent.get("/metrics%00x").status, 400)
            with agent.connect() as sock:  # plain
                sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertNotIn(b"rdma", sock.recv(4096))

    def test_versions(self):
        versions = ["TLS10", "TLS11", "TLS12", "TLS13"]
        openssl = dict(zip(versions, ("-tls1", "-tls1_1", "-tls1_2", "-tls1_3")))

        def negotiates(agent, version):
            result = subprocess.run(
                ["openssl", "s_client", "-connect", f"127.0.0.1:{agent.port}", openssl[version],
                 "-cipher", "ALL:@SECLEVEL=0"], input=b"", check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return result.returncode == 0

        for low, high in (("TLS10", "TLS13"), ("TLS12", "TLS12"), ("TLS13", "TLS13"),
                          ("TLS11", "TLS12"), (None, None)):
            bounds = {"min_version": low, "max_version": high} if low else {}
            with self.subTest(low=low, high=high), TlsAgent(bounds, ready=False) as agent:
                wait("the listener", lambda agent=agent: can_connect(agent))
                allowed = versions[versions.index(low or "TLS12"):
                                   versions.index(high or "TLS13") + 1]
                self.assertEqual([v for v in versions if negotiates(agent, v)], allowed)

    def test_suites_and_curves(self):
        suites = {"max_version": "TLS12", "curve_preferences": ["CurveP384"],
                  "cipher_suites": ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"]}
        agent = TlsAgent(suites)
        agent.ca.sign("server", rsa=True)
        with agent:
            for cipher, curve, works in (("ECDHE-RSA-AES256-GCM-SHA384", "P-384", True),
                                         ("ECDHE-RSA-AES256-GCM-SHA384", "X25519:P-384", True),
                                         ("ECDHE-RSA-AES128-GCM-SHA256", "P-384", False),
                                         ("ECDHE-RSA-AES256-GCM-SHA384", "P-256", False)):
                status = agent.curl("--ciphers", cipher, "--curves", curve)
                self.assertEqual(status, 200 if works else 0, (cipher, curve))

    def test_rsa(self):
        with TlsAgent() as agent:
            agent.ca.sign("server", rsa=True)
            wait("the new certificate", lambda: agent.get("/healthz").status == 200)
            self.assertEqual(agent.curl("--ciphers", "ECDHE-RSA-AES128-GCM-SHA256", "--tls-max", "1.2"),
                             200)


class TlsSessions(unittest.TestCase):
    """Each handshake is a whole one, so that a certificate or a password is never taken over from an
    earlier connection, and a connection has one handshake."""

    ASK = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    def client(self, agent, *arguments, port=None):
        return ["openssl", "s_client", "-connect", f"127.0.0.1:{port or agent.port}", "-CAfile",
                agent.ca.certificate, *arguments]

    def handshake(self, agent, *arguments, port=None):
        """The first word of what openssl says of it: "New" or "Reused"."""
        text = subprocess.run([*self.client(agent, *arguments, port=port), "-ign_eof"], input=self.ASK,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PATIENCE).stdout.decode()
        self.assertRegex(text, r"(?m)^HTTP/1\.. 200 ")
        return re.search(r"^(New|Reused), TLS", text, re.M)[1]

    @contextlib.contextmanager
    def other_server(self, agent):
        """Resumes sessions. It has the same certificate."""
        port = free_port()
        with subprocess.Popen(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-www", "-cert",
                               f"{agent.directory}/server.pem", "-key", f"{agent.directory}/server.key"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                wait("the other server", lambda: can_connect_to(port))
                yield port
            finally:
                process.kill()

    def test_nothing_is_resumed(self):
        with TlsAgent() as agent:
            for version in ("-tls1_2", "-tls1_3"):
                session = f"{agent.directory}/session{version}"
                self.assertEqual(self.handshake(agent, version, "-sess_out", session), "New")
                if os.path.exists(session):  # with TLS 1.3 there is no ticket, and so no session
                    self.assertEqual(self.handshake(agent, version, "-sess_in", session), "New", version)
                with self.other_server(agent) as port:
                    self.handshake(agent, version, "-sess_out", session, port=port)
                    self.assertEqual(self.handshake(agent, version, "-sess_in", session, port=port), "Reused")
                self.assertEqual(self.handshake(agent, version, "-sess_in", session), "New", version)

    def test_a_second_handshake_ends_the_connection(self):
        """Which costs the server more than the client. TLS 1.3 has none."""
        with TlsAgent() as agent, \
                subprocess.Popen(self.client(agent, "-tls1_2"), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as client:
            for line in client.stdout:  # until the first is over
                if line.startswith(b"    Extended master secret"):
                    break
            client.stdin.write(b"R\n")
            client.stdin.flush()
            self.assertIn(b"RENEGOTIATING\nclosed\n", client.stdout.read())
            self.assertEqual(agent.get("/healthz").status, 200)


def can_connect_to(port):
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        return True
    except OSError:
        return False


def can_connect(agent):
    return can_connect_to(agent.port)


class Clients(unittest.TestCase):
    """What each client_auth_type makes of each kind of client, as Go's crypto/tls does."""

    #                                none   ours   foreign of a server
    answers = {"NoClientCert":               (True, True, True, True),
               "RequestClientCert":          (True, True, True, True),
               "RequireAnyClientCert":       (False, True, True, True),
               "VerifyClientCertIfGiven":    (True, True, False, False),
               "RequireAndVerifyClientCert": (False, True, False, False)}

    def test_types(self):
        for kind, expected in self.answers.items():
            tls = {"client_auth_type": kind}
            if "Verify" in kind:
                tls["client_ca_file"] = "ca.pem"
            with self.subTest(kind), TlsAgent(tls, ready=False) as agent:
                foreign = Authority(tempfile.mkdtemp(dir=agent.directory), "foreign")
                clients = (None, agent.ca.sign_client("client"), foreign.sign_client("stranger"),
                           agent.ca.sign("other-server"))
                wait("the listener", lambda agent=agent: can_connect(agent))
                for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                    answers = tuple(not refused(agent, agent.trust(client, maximum_version=version))
                                    for client in clients)
                    self.assertEqual(answers, expected, version)

    def test_names(self):
        tls = {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": "ca.pem",
               "client_allowed_sans": ["good.example", "10.1.2.3", "spiffe://x/prometheus",
                                       "admin@good.example"]}
        with TlsAgent(tls, ready=False) as agent:
            wait("the listener", lambda: can_connect(agent))
            for san, works in (("DNS:good.example", True), ("DNS:bad.example,DNS:good.example", True),
                               ("IP:10.1.2.3", True), ("URI:spiffe://x/prometheus", True),
                               ("email:admin@good.example", True), ("DNS:bad.example", False),
                               ("DNS:10.1.2.3", True),  # texts are compared, as Go does
                               ("DNS:x.good.example", False), ("IP:10.1.2.4", False)):
                client = agent.ca.sign_client("client", san)
                self.assertEqual(not refused(agent, agent.trust(client)), works, san)


class Logins(unittest.TestCase):
    users = {"basic_auth_users": {"alice": bcrypt("secret"), "bob": bcrypt("pässwörd")}}

    def test_who_may_see_what(self):
        with WebAgent(self.users) as agent:
            for path in ("/", "/metrics", "/api/v1/snapshot", "/api/v1/topology.svg",
                         "/runbooks/", "/runbooks/RdmaPortDown", "/runbooks/x", "/nothing"):
                reply = agent.anonymous(path)
                self.assertEqual((reply.status, reply.text), (401, "unauthorized\n"), path)
                self.assertTrue(reply.headers["www-authenticate"].startswith("Basic "))
                self.assertEqual(agent.anonymous(path, "HEAD").status, 401)
            for path in ("/healthz", "/readyz"):
                self.assertEqual(agent.anonymous(path).status, 200, path)
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
                self.assertEqual(agent.anonymous("/metrics", method).status, 405, method)
            agent.login = basic("alice", "secret")
            for path, status in (("/", 200), ("/metrics", 200), ("/nothing", 404)):
                self.assertEqual(agent.get(path).status, status, path)
            agent.login = basic("bob", "pässwörd")
            self.assertEqual(agent.get("/metrics").status, 200)

    def test_what_is_no_login(self):
        with WebAgent(self.users) as agent:
            for header in ("Basic", "Basic !!!!", "Bearer secret", "Basic YWxpY2U=", "Basic ====",
                           "Basic " + base64.b64encode(b"alice:secret\0x").decode(),
                           "Basic " + base64.b64encode("bob:pässwörd".encode()).decode().rstrip("="),
                           "Basic " + "A" * 8000):
                self.assertEqual(agent.anonymous(Authorization=header).status, 401, header[:40])
            # a scheme is a word without case (RFC 7617)
            header = "bAsIc " + base64.b64encode(b"alice:secret").decode()
            self.assertEqual(agent.anonymous(Authorization=header).status, 200)

    def test_wrong_passwords_are_limited(self):
        with WebAgent(self.users) as agent:
            with contextlib.closing(agent.open()) as scraper:

                def scrape():
                    scraper.request("GET", "/metrics", headers=basic("alice", "secret"))
                    response = scraper.getresponse()
                    response.read()
                    return response.status

                self.assertEqual(scrape(), 200)
                started = time.monotonic()
                replies = [agent.anonymous(**basic("alice", f"guess {i}")) for i in range(30)]
                seconds = time.monotonic() - started  # in which more tries are allowed
                statuses = [reply.status for reply in replies]
                self.assertEqual(set(statuses), {401, 429})
                self.assertEqual(statuses[:10], [401] * 10)
                self.assertLessEqual(statuses.count(401), 14 + seconds / 5)
                self.assertIn(int(replies[-1].headers["retry-after"]), range(1, 11))
                # the right one was remembered, and the limit is alice's alone
                self.assertEqual(agent.anonymous(**basic("alice", "secret")).status, 200)
                self.assertEqual(agent.anonymous(**basic("bob", "pässwörd")).status, 200)
                self.assertEqual(scrape(), 200)
                self.assertEqual(agent.anonymous("/healthz").status, 200)

    def test_a_wrong_name_locks_nobody_else_out(self):
        """Behind a proxy all clients have one address."""
        with WebAgent(self.users) as agent:
            statuses = [agent.anonymous(**basic("carol", "secret")).status for _ in range(30)]
            self.assertEqual(statuses[:10], [401] * 10)
            self.assertIn(429, statuses)
            self.assertEqual(agent.anonymous(**basic("alice", "secret")).status, 200)

    def test_addresses_have_their_turn(self):
        """One has 64 passwords in the queue, which is all of it, and another one comes after two."""
        agent = WebAgent({"basic_auth_users": {"alice": bcrypt("secret", 10)}},
                         http_settings={"max_connections": 1024})
        name = f"rna-web-{os.getpid()}"
        agent.http_settings["listen"] = [f"127.0.0.1:{agent.port}", f"unix:@{name}"]
        with agent, contextlib.ExitStack() as stack:
            guesses = [stack.enter_context(agent.connect()) for _ in range(64)]
            for i, sock in enumerate(guesses):
                header = basic(f"guess{i % 8}", "wrong")["Authorization"].encode()
                sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: " + header + b"\r\n\r\n")
            with contextlib.closing(UnixConnection(f"\0{name}")) as other:
                other.request("GET", "/metrics", headers=basic("alice", "secret"))
                self.assertEqual(other.getresponse().status, 200)
            answered = len(select.select(guesses, [], [], 0)[0])
            self.assertLess(answered, 32)
            self.assertLessEqual({int(sock.recv(16).split()[1]) for sock in guesses}, {401, 429})

    @alone
    def test_hashing_holds_up_nobody(self):
        dear = {"basic_auth_users": {"alice": bcrypt("secret", 14)}}  # a second and more
        with WebAgent(dear) as agent, concurrent.futures.ThreadPoolExecutor(8) as pool:
            started = time.monotonic()
            logins = [pool.submit(agent.anonymous, **basic("alice", "secret")) for _ in range(8)]
            probes = 0
            while not any(login.done() for login in logins):
                self.assertEqual(agent.anonymous("/healthz").status, 200)
                probes += 1  # one that waited for the hash would be the only one
            self.assertEqual([login.result().status for login in logins], [200] * 8)
            all_of_them = time.monotonic() - started
            self.assertGreater(probes, 3)
            # they share one hash, and the next one needs none
            started = time.monotonic()
            self.assertEqual(agent.anonymous(**basic("alice", "secret")).status, 200)
            self.assertLess(time.monotonic() - started, max(all_of_them / 2, 0.2))

    @alone
    def test_unknown_users_take_as_long(self):
        """Of the CPU, which is what a client can time on a machine that does nothing else."""
        dear = {"basic_auth_users": {"alice": bcrypt("secret", 12), "bob": bcrypt("secret", 4)}}
        with WebAgent(dear) as agent:

            def seconds(user):
                before = cpu_seconds(agent)
                self.assertEqual(agent.anonymous(**basic(user, "wrong")).status, 401)
                return cpu_seconds(agent) - before

            dearest, cheapest, unknown = (min(seconds(user) for _ in range(3))
                                          for user in ("alice", "bob", "nobody"))
            self.assertGreater(unknown, dearest / 2)
            self.assertGreater(cheapest, dearest / 2)

    def test_clients_that_leave_while_they_wait(self):
        dear = {"basic_auth_users": {"alice": bcrypt("secret", 10)}}
        with WebAgent(dear) as agent:
            header = basic("alice", "wrong")["Authorization"].encode()
            for _ in range(20):
                with agent.connect() as sock:
                    sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: " + header + b"\r\n\r\n")
            self.assertEqual(agent.anonymous("/healthz").status, 200)
            # and the agent ends and reloads while some still do
            agent.hang_up()
            wait("the reload", lambda: "configuration reloaded" in agent.log())
            self.assertEqual(agent.anonymous("/healthz").status, 200)

    @alone
    def test_stopping_while_one_waits(self):
        dear = {"basic_auth_users": {"alice": bcrypt("secret", 14)}}
        with WebAgent(dear) as agent:
            header = basic("alice", "wrong")["Authorization"].encode()
            with contextlib.ExitStack() as stack:
                for _ in range(5):
                    sock = stack.enter_context(agent.connect())
                    sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: " + header + b"\r\n\r\n")
                wait("the thread", lambda: "rna-login" in threads(agent))
                agent.http_settings["max_connections"] = 99
                agent.write_config()
                agent.hang_up()  # another server
                wait("the reload", lambda: "configuration reloaded" in agent.log())
                self.assertEqual(agent.anonymous("/healthz").status, 200)
                for _ in range(5):
                    sock = stack.enter_context(agent.connect())
                    sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: " + header + b"\r\n\r\n")
                status, seconds = agent.stop()
                self.assertEqual(status, 0)
                self.assertLess(seconds, stretched(STOP))

    def test_unix_socket_needs_none(self):
        agent = WebAgent(self.users)
        path = f"{agent.directory}/http.sock"
        agent.http_settings["listen"] = [f"127.0.0.1:{agent.port}", f"unix:{path}"]
        with agent:
            self.assertEqual(agent.anonymous().status, 401)
            self.assertEqual(get_unix(path, "/metrics"), 200)

    def test_unix_socket_that_all_can_open_does(self):
        agent = WebAgent(self.users)
        name = f"rna-web-{os.getpid()}"
        agent.http_settings["listen"] = [f"127.0.0.1:{agent.port}", f"unix:@{name}"]
        with agent:
            self.assertEqual(get_unix(f"\0{name}", "/metrics"), 401)
            self.assertEqual(get_unix(f"\0{name}", "/healthz"), 200)


def threads(agent):
    names = []
    for task in os.listdir(agent.proc("task")):
        with contextlib.suppress(OSError), open(agent.proc(f"task/{task}/comm"), encoding="utf-8") as file:
            names.append(file.read().strip())
    return names


class Headers(unittest.TestCase):
    def test_they_are_chosen(self):
        web = {"http_server_config": {"http2": True, "headers": {
            "X-Frame-Options": "sameorigin", "X-XSS-Protection": "1; mode=block",
            "Strict-Transport-Security": "max-age=31536000", "Content-Security-Policy": ""}}}
        with WebAgent(web) as agent:
            headers = agent.get("/").headers
            self.assertEqual(headers["x-frame-options"], "sameorigin")
            self.assertEqual(headers["x-xss-protection"], "1; mode=block")
            self.assertEqual(headers["strict-transport-security"], "max-age=31536000")
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertNotIn("content-security-policy", headers)

    def test_rate_limit(self):
        with WebAgent({"rate_limit": {"interval": "1h", "burst": 5}}) as agent:
            statuses = [agent.anonymous("/api/v1/events").status for _ in range(20)]
            self.assertEqual(statuses.count(429), 20 - statuses.count(200))
            self.assertLessEqual(statuses.count(200), 5)
            self.assertEqual(agent.anonymous("/healthz").status, 200)


class Changes(unittest.TestCase):
    def test_users(self):
        with WebAgent({"basic_auth_users": {"alice": bcrypt("one")}}) as agent:
            with contextlib.closing(agent.open()) as kept:

                def ask(password):
                    kept.request("GET", "/metrics", headers=basic("alice", password))
                    response = kept.getresponse()
                    response.read()
                    return response.status

                self.assertEqual(ask("one"), 200)
                agent.set_web({"basic_auth_users": {"alice": bcrypt("two")}})
                self.assertEqual(ask("one"), 401)  # at once, on a connection that was logged in
                self.assertEqual(ask("two"), 200)
            agent.set_web({})
            self.assertEqual(agent.anonymous().status, 200)
            self.assertEqual(agent.log().count("web configuration reloaded"), 2)

    def test_broken_files_change_nothing(self):
        with WebAgent({"basic_auth_users": {"alice": bcrypt("one")}}, poll=None) as agent:
            agent.login = basic("alice", "one")
            self.assertEqual(agent.metric(RELOADED), 1)
            agent.set_web("basic_auth_users: {alice: secret}")
            wait("the failure in a metric", lambda: agent.metric(RELOADED) == 0)
            self.assertEqual(agent.get("/metrics").status, 200)
            self.assertEqual(agent.anonymous().status, 401)
            self.assertEqual(agent.log().count("web configuration not reloaded"), 1, agent.log())
            self.assertIn("web.yml:1: basic_auth_users.alice: not a bcrypt hash", agent.log())
            self.assertNotIn("secret", agent.log())
            os.unlink(agent.web_path)
            self.assertEqual(agent.get("/metrics").status, 200)
            wait("the next message", lambda: "No such file" in agent.log())
            agent.set_web({"basic_auth_users": {"alice": bcrypt("one")}})
            wait("success in a metric", lambda: agent.metric(RELOADED) == 1)

    def test_certificate_under_load(self):
        """Certificates change while clients come and go; no request fails."""
        with TlsAgent() as agent:
            stop, failures, serials = threading.Event(), [], set()

            def load():
                while not stop.is_set():
                    try:
                        with contextlib.closing(agent.open()) as connection:
                            connection.connect()
                            serials.add(connection.sock.getpeercert()["serialNumber"])
                            for _ in range(3):
                                connection.request("GET", "/metrics")
                                response = connection.getresponse()
                                response.read()
                                if response.status != 200:
                                    failures.append(response.status)
                    except (OSError, http.client.HTTPException) as error:
                        failures.append(repr(error))

            kept = agent.open()
            kept.request("GET", "/healthz")
            kept.getresponse().read()
            loaders = [threading.Thread(target=load) for _ in range(4)]
            for loader in loaders:
                loader.start()
            try:
                for number in range(1, 6):
                    count = len(serials)
                    certificate, key = agent.ca.sign(f"new-{number}")
                    shutil.copy(key, f"{agent.directory}/copy")  # the two never fit for a moment
                    os.rename(f"{agent.directory}/copy", agent.ca.path("server", "key"))
                    shutil.copy(certificate, f"{agent.directory}/copy")
                    os.rename(f"{agent.directory}/copy", agent.ca.path("server"))
                    wait("the new certificate", lambda count=count: len(serials) > count)
            finally:
                stop.set()
                for loader in loaders:
                    loader.join()
            self.assertEqual(failures, [])
            kept.request("GET", "/healthz")  # a connection of before them all
            self.assertEqual(kept.getresponse().status, 200)
            kept.close()

    def test_as_kubernetes_changes_secrets(self):
        """A link to a directory is replaced; the files are links through it."""
        agent = TlsAgent()
        volume = f"{agent.directory}/volume"

        def publish(number):
            os.makedirs(f"{volume}/..{number}")
            for path, name in zip(agent.ca.sign(f"secret-{number}"), ("tls.crt", "tls.key")):
                shutil.copy(path, f"{volume}/..{number}/{name}")
            os.symlink(f"..{number}", f"{volume}/..new")
            os.rename(f"{volume}/..new", f"{volume}/..data")

        publish(1)
        for name in ("tls.crt", "tls.key"):
            os.symlink(f"..data/{name}", f"{volume}/{name}")
        agent.set_web({"tls_server_config": {"cert_file": "volume/tls.crt",
                                             "key_file": "volume/tls.key"}})
        with agent:
            first = peer_serial(agent)
            publish(2)
            self.assertNotEqual(peer_serial(agent), first)

    def test_tls_comes_with_a_reload(self):
        with WebAgent({}) as agent:
            agent.set_web({"tls_server_config": TLS})
            self.assertEqual(agent.anonymous().status, 200)
            self.assertIn("takes a reload of the agent (SIGHUP)", agent.log())
            agent.hang_up()
            wait("the reload", lambda: "configuration reloaded" in agent.log())
            agent.context = agent.trust()
            self.assertEqual(agent.anonymous().status, 200)
            # and a reload of what is broken keeps all of the old
            agent.set_web({"tls_server_config": {**TLS, "key_file": "ca.key"}})
            agent.hang_up()
            wait("the error", lambda: "this key does not belong to the certificate" in agent.log())
            self.assertEqual(agent.anonymous().status, 200)


def peer_serial(agent):
    with contextlib.closing(agent.open()) as connection:
        connection.connect()
        return connection.sock.getpeercert()["serialNumber"]


class Commands(unittest.TestCase):
    web = {"basic_auth_users": {"alice": bcrypt("secret")}}

    def run_command(self, agent, *words):
        return subprocess.run([agent_module.binary, *words, "--config", agent.config], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")

    def test_they_ask_at_the_unix_socket(self):
        agent = WebAgent(self.web)
        path = f"{agent.directory}/http.sock"
        agent.http_settings["listen"] = [f"127.0.0.1:{agent.port}", f"unix:{path}"]
        with agent:
            self.assertEqual(self.run_command(agent, "events").returncode, 0)
            result = self.run_command(agent, "check")  # of this node, whatever its state is
            self.assertIn("'devices'=", result.stdout)
        for agent in WebAgent(self.web), TlsAgent():
            with agent:
                result = self.run_command(agent, "events")
                self.assertEqual(result.returncode, 1)
                self.assertIn("add unix:/run/rdma-node-agent/http.sock to http.listen",
                              result.stdout)
        with WebAgent({"rate_limit": {"interval": "1h", "burst": 1}}) as agent:
            for words in "", "429":
                self.assertIn(words, self.run_command(agent, "events").stdout)

    def test_check_config(self):
        with WebAgent(self.web) as agent:
            self.assertEqual(self.run_command(agent, "check-config").returncode, 0)
            for web, words in (({"tls_server_config": {**TLS, "key_file": "ca.key"}},
                                "key_file: this key does not belong to the certificate of"),
                               ({"tls_server_config": {**TLS, "cert_file": "server.key"}},
                                "cert_file: no certificate in PEM"),
                               ({"tls_server_config": {**TLS, "key_file": "server.pem"}},
                                "key_file: no key in PEM"),
                               ({"tls_server_config": {**TLS, "client_ca_file": "server.key",
                                                       "client_auth_type": "RequireAndVerifyClientCert"}},
                                "client_ca_file"),
                               ({"tls_server_config": {**TLS, "cipher_suites": ["RC4"]}},
                                "cipher_suites: no cipher suite that can be chosen"),
                               ({"basic_auth_user": {}}, "did you mean basic_auth_users?")):
                agent.set_web(web)
                result = self.run_command(agent, "check-config")
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertRegex(result.stdout, r"web\.yml:1: .*" + re.escape(words))

    def test_start_with_a_broken_file(self):
        agent = WebAgent({"basic_auth_users": {"alice": "secret"}})
        status, log = failed_start(agent)
        self.assertEqual(status, 2)
        self.assertTrue(log.startswith("rdma-node-agent: "), log)
        self.assertIn("web.yml:1: basic_auth_users.alice: not a bcrypt hash", log)


class Unfriendly(unittest.TestCase):
    @alone
    def test_handshakes_that_stop(self):
        """Half a greeting each: they use no CPU, delay no other client, and time out."""
        with TlsAgent() as agent, contextlib.ExitStack() as stack:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            client = agent.trust().wrap_bio(incoming, outgoing, server_hostname="localhost")
            with contextlib.suppress(ssl.SSLWantReadError):
                client.do_handshake()
            hello = outgoing.read()
            socks = [stack.enter_context(agent.connect()) for _ in range(50)]
            for index, sock in enumerate(socks):
                sock.sendall(hello[:100] if index % 2 else hello)
            before, begin = cpu_seconds(agent), time.monotonic()
            for _ in range(10):
                started = time.monotonic()
                self.assertEqual(agent.get("/healthz").status, 200)
                self.assertLess(time.monotonic() - started, stretched(10))
                time.sleep(0.3)
            share = (cpu_seconds(agent) - before) / (time.monotonic() - begin)
            self.assertLess(share, 0.9 if agent.is_sanitized() else 0.5)  # a loop that spins: 1
            for sock in socks:
                sock.settimeout(PATIENCE)
                while sock.recv(4096):
                    pass

    def test_garbage(self):
        with TlsAgent() as agent:
            for garbage in (b"\x16\x03\x01\xff\xff" + b"x" * 70000, b"GET / HTTP/1.0\r\n\r\n",
                            b"\x15\x03\x03\x00\x02\x02\x28", b"\x80\x2e\x01\x00\x02" + b"\0" * 41,
                            os.urandom(4096)):
                with agent.connect() as sock, contextlib.suppress(OSError):
                    sock.sendall(garbage)
                    sock.recv(4096)
                self.assertEqual(agent.get("/healthz").status, 200)


def cpu_seconds(agent):
    with open(agent.proc("stat"), encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Prometheuses(unittest.TestCase):
    def test_scraped(self):
        """A real one, with authority, certificate and password."""
        tls = {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": "ca.pem"}
        agent = TlsAgent(tls, poll=None, web={"basic_auth_users": {"prometheus": bcrypt("secret")}})
        client = agent.ca.sign_client("prometheus")
        agent.context, agent.login = agent.trust(client), basic("prometheus", "secret")
        job = {"scheme": "https", "basic_auth": {"username": "prometheus", "password": "secret"},
               "tls_config": {"ca_file": agent.ca.certificate, "cert_file": client[0],
                              "key_file": client[1]}}
        with agent, Prometheus(agent.port, job=job) as prometheus:
            prometheus.wait_scrapes()
            wait("its login in a metric",
                 lambda: (prometheus.value(f'{LOGINS}{{result="ok"}}') or 0) >= 3)
            self.assertEqual(prometheus.complaints(), [])


class Together(unittest.TestCase):
    """The same file and the same requests at node_exporter, which has the real exporter-toolkit."""

    def setUp(self):
        self.program = shutil.which("prometheus-node-exporter")
        if not self.program:
            self.skipTest("prometheus-node-exporter is not there")

    def statuses(self, port, context, path, headers):
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE, context=context)
        with contextlib.closing(connection):
            try:
                connection.request("GET", path, headers=headers)
                response = connection.getresponse()
                response.read()
                return response.status, {n: response.getheader(n) for n in
                                         ("X-Frame-Options", "X-XSS-Protection")}
            except (OSError, http.client.HTTPException):
                return None

    def test_same_answers(self):
        web = {"basic_auth_users": {"alice": bcrypt("secret")},
               "http_server_config": {"headers": {"X-Frame-Options": "sameorigin",
                                                  "X-XSS-Protection": "1"}}}
        tls = {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": "ca.pem",
               "min_version": "TLS12"}
        with TlsAgent(tls, web=web, ready=False) as agent, \
                tempfile.TemporaryFile() as log:
            port = free_port()
            other = subprocess.Popen(
                [self.program, f"--web.listen-address=127.0.0.1:{port}",
                 f"--web.config.file={agent.web_path}", "--collector.disable-defaults"],
                stdout=log, stderr=log)
            try:
                foreign = Authority(tempfile.mkdtemp(dir=agent.directory), "foreign")
                good = agent.trust(agent.ca.sign_client("client"))
                wait("node_exporter", lambda: self.statuses(port, good, "/", {}))
                agent.context = good
                wait("the agent", agent.is_ready)
                for name, context in (("good", good), ("none", agent.trust()),
                                      ("foreign", agent.trust(foreign.sign_client("stranger"))),
                                      ("old", agent.trust(agent.ca.sign_client("old"),
                                                          maximum_version=ssl.TLSVersion.TLSv1_2))):
                    for headers in ({}, basic("alice", "secret"), basic("alice", "wrong"),
                                    basic("nobody", "secret"), {"Authorization": "Basic x"}):
                        ours = self.statuses(agent.port, context, "/metrics", headers)
                        theirs = self.statuses(port, context, "/metrics", headers)
                        self.assertEqual(ours, theirs, (name, headers))
            finally:
                other.send_signal(signal.SIGTERM)
                other.wait()


if __name__ == "__main__":
    unittest.main()
