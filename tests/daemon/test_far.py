# SPDX-License-Identifier: Apache-2.0
"""check and events of another node: --url with TLS and logins, and whatever may answer there."""
import contextlib
import http.server
import json
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import agent as agent_module
from agent import BUSY, EMULATED, PATIENCE, Agent, free_port, stretched, wait
from pki import Authority, bcrypt
from test_web import TLS, TlsAgent, WebAgent, basic

OK, WARNING, CRITICAL, UNKNOWN = range(4)
USERS = {"basic_auth_users": {"alice": bcrypt("secret")}}
DEADLINE = 5  # seconds that the command waits for a reply


def run(*arguments):
    done = subprocess.run([agent_module.binary, *arguments], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def run_patiently(*arguments):
    """Again while the machine is too busy for the seconds that the command waits."""
    end = time.monotonic() + PATIENCE
    while True:
        done = run(*arguments)
        if not re.search("timed out|does not answer within", done[2]) or time.monotonic() > end:
            return done


class Far(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="rna-far-")
        self.addCleanup(self.directory.cleanup)

    def file(self, name, text):
        path = f"{self.directory.name}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def assert_refused(self, url, words, *arguments):
        """The commands say why, and no secret; monitoring hears that the state is unknown."""
        for command, expected in ("check", UNKNOWN), ("probe", UNKNOWN), ("events", 1):
            code, out, err = run_patiently(command, "--url", url, *arguments)
            self.assertEqual(code, expected, (command, out, err))
            self.assertIn(words, err)
            self.assertNotIn("secret", out + err)
            if command == "check":
                self.assertTrue(out.startswith(f"RDMA UNKNOWN - {url.rstrip('/')}: "), out)
                self.assertIn(words, out)
            else:
                self.assertEqual(out, "")


class Agents(Far):
    def test_tls_and_password(self):
        with TlsAgent(web=USERS, ready=False, machine="roce-troubles", poll=BUSY) as agent:
            agent.login = basic("alice", "secret")
            wait("the agent", agent.is_ready)
            url = f"https://127.0.0.1:{agent.port}"
            trust = "--ca-file", agent.ca.certificate
            login = "--user", "alice", "--password-file", self.file("password", "secret\n")
            wait("findings", lambda: json.loads(agent.get("/api/v1/findings").text)["findings"])
            code, out, err = run_patiently("check", "--url", url, *trust, *login)
            self.assertIn(code, (WARNING, CRITICAL), err)
            self.assertNotIn("UNKNOWN", out)
            for form in "slurm", "nhc", "npd", "json":
                code, out, err = run_patiently("check", f"--format={form}", "--deadline=30s", "--url",
                                               f"{url}/", *trust, *login)
                self.assertNotIn("unknown", out.lower().split("\n")[0], err)
                self.assertIn("the agent watches a recorded node: ", err)
                self.assertEqual(err.count("\n"), 1)
            path = "sys/class/infiniband/mlx5_0/ports/1/state"
            agent.write(path, "1: DOWN")
            wait("the event", lambda: "mlx5_0" in agent.get("/api/v1/events.txt").text)
            code, out, err = run_patiently("events", "--url", url, *trust, *login)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("mlx5_0", out)
            code, out, err = run_patiently("events", "--json", "--url", url, *trust, *login)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("mlx5_0", json.dumps(json.loads(out)))

            self.assert_refused(url, "see --ca-file", *login)
            self.assert_refused(url, "requires a login (HTTP status 401); see --user", *trust)
            wrong = "--user", "alice", "--password-file", self.file("wrong", "secretive")
            self.assert_refused(url, "refuses this login (HTTP status 401)", *trust, *wrong)
            token = "--token-file", self.file("token", "secret-token\n")
            self.assert_refused(url, "refuses this login (HTTP status 401)", *trust, *token)
            other = Authority(tempfile.mkdtemp(dir=self.directory.name), "other")
            self.assert_refused(url, "certificate", "--ca-file", other.certificate, *login)
            self.assert_refused(f"http://127.0.0.1:{agent.port}", "this port may want https")
            self.assert_refused(f"https://localhost.localdomain:{agent.port}", "", *trust, *login)

    def test_another_name_than_that_of_the_certificate(self):
        agent = TlsAgent()
        agent.ca.sign("server", san="DNS:node-17.example")
        agent.context = agent.trust()
        agent.context.check_hostname = False
        with agent:
            self.assert_refused(f"https://127.0.0.1:{agent.port}", "127.0.0.1", "--ca-file",
                                agent.ca.certificate)

    @unittest.skipIf(EMULATED, "an emulated handshake exceeds the time limit of the command")
    def test_client_certificate(self):
        agent = TlsAgent({"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": "ca.pem"},
                         machine="switch-management", poll=BUSY)
        certificate, key = agent.ca.sign_client("admin")
        agent.context = agent.trust((certificate, key))
        url = f"https://127.0.0.1:{agent.port}"
        with agent:
            trust = "--ca-file", agent.ca.certificate
            code, out, err = run_patiently("check", "--url", url, *trust, "--cert-file", certificate,
                                           "--key-file", key)
            self.assertEqual(code, OK, (out, err))
            self.assert_refused(url, "see --cert-file and --key-file", *trust)

    def test_without_tls(self):
        with Agent("switch-management") as agent:
            url = f"http://127.0.0.1:{agent.port}"
            self.assertEqual(run_patiently("check", "--url", url)[0], OK)
            self.assertEqual(run_patiently("events", "--url", url)[0], 0)
            code, out, err = run_patiently("probe", "--url", url)
            self.assertEqual((code, err), (UNKNOWN, ""))
            self.assertIn("Probes are disabled: probe.enabled is false.", out)
            self.assert_refused(f"https://127.0.0.1:{agent.port}", "speak TLS")
            self.assert_refused(f"{url}/elsewhere", "there is no /api/v1/", )

    def test_files_that_are_of_no_use(self):
        url = f"https://127.0.0.1:{free_port()}"
        empty, binary = self.file("empty", "\n"), self.file("lines", "one\ntwo\n")
        for arguments, words in (
                (("--ca-file", "/nowhere.pem"), "--ca-file: /nowhere.pem: cannot open"),
                (("--token-file", empty), f"--token-file: {empty}: expected one line"),
                (("--token-file", binary), f"--token-file: {binary}: expected one line"),
                (("--user", "me", "--password-file", self.directory.name), "is a directory")):
            code, out, err = run_patiently("check", "--url", url, *arguments)
            self.assertEqual(code, UNKNOWN)
            self.assertIn(words, err)
            self.assertIn(words, out)


class Strangers(Far):
    """Servers that are no agent, or none of this version."""

    @contextlib.contextmanager
    def server(self, status=200, headers=None, body=b"", pause=0):
        seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append((self.path, dict(self.headers)))
                time.sleep(pause)
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    for name, value in (headers or {}).items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                yield f"http://127.0.0.1:{server.server_port}", seen
            finally:
                server.shutdown()

    def test_redirects_are_not_followed(self):
        with self.server() as (target, reached):
            for status in 301, 302, 307, 308:
                with self.server(status, {"Location": f"{target}/"}) as (url, _):
                    self.assert_refused(url, f"redirects to another address (HTTP status {status})")
            self.assertEqual(reached, [])

    def test_another_service(self):
        with self.server(200, {"Content-Type": "text/html"}, b"<html>welcome</html>") as (url, _):
            self.assert_refused(url, "not an rdma-node-agent: the reply is of type text/html")
        with self.server(200) as (url, _):
            self.assert_refused(url, "not an rdma-node-agent: the reply is of type unknown")
        with self.server(200, {"Content-Type": "application/json"}, b'{"status": "up"}') as (url, _):
            code, out, _ = run_patiently("check", "--url", url)
            self.assertEqual(code, UNKNOWN)
            self.assertIn("cannot read the reply of the agent", out)
        with self.server(500, body=b"out of \x1b[31mcheese\n") as (url, _):
            self.assert_refused(url, "HTTP status 500: out of ")

    def test_older_agent(self):
        with self.server(404, body=b"not found\n") as (url, _):
            self.assert_refused(url, "not an rdma-node-agent, or an older one")

    def test_no_service(self):
        self.assert_refused(f"http://127.0.0.1:{free_port()}", "connect")
        self.assert_refused("http://node.invalid:10879", "node.invalid")

    def test_no_http(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def greet():
                with contextlib.suppress(OSError):
                    while True:
                        connection, _ = server.accept()
                        with connection:
                            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                            connection.recv(1000)

            threading.Thread(target=greet, daemon=True).start()
            self.assert_refused(f"http://127.0.0.1:{server.getsockname()[1]}", "HTTP/0.9")

    def test_no_answer(self):
        with self.server(pause=3 * DEADLINE) as (url, _):
            start = time.monotonic()
            code, out, _ = run("check", "--url", url)
            self.assertEqual(code, UNKNOWN)
            self.assertIn("timed out", out)
            self.assertLess(time.monotonic() - start, stretched(2 * DEADLINE))
            start = time.monotonic()
            code, out, _ = run("check", "--url", url, "--deadline=300ms")
            self.assertEqual((code, out.split("\n")[0]),
                             (UNKNOWN, "RDMA UNKNOWN - the agent does not answer within 0.3 s"))
            self.assertLess(time.monotonic() - start, stretched(DEADLINE))

    def test_schedulers_do_not_look_at_this_node_instead(self):
        url = f"http://127.0.0.1:{free_port()}"
        for form, code in ("slurm", 0), ("nhc", 3), ("npd", 2):
            done = run("check", f"--format={form}", "--url", url)
            self.assertEqual(done[0], code)
            self.assertIn("UNKNOWN", done[1])

    def test_what_is_sent(self):
        token, password = self.file("token", "abc.def\n"), self.file("password", "pass word\r\n")
        with self.server(404) as (url, seen):
            run("events", "--url", f"{url}/nodes/a/", "--token-file", token)
            run("events", "--url", url, "--user", "alice", "--password-file", password, "--json")
            run("events", "--url", url)
        self.assertEqual(seen[0][0], "/nodes/a/api/v1/events.txt")
        self.assertEqual(seen[0][1]["Authorization"], "Bearer abc.def")
        self.assertEqual(seen[1][0], "/api/v1/events")
        self.assertEqual(seen[1][1]["Authorization"], basic("alice", "pass word")["Authorization"])
        self.assertNotIn("Authorization", seen[2][1])


class Command(unittest.TestCase):
    """run: options in the place of settings."""

    def start(self, agent, *arguments):
        agent.write_config()
        with open(agent.log_path, "ab") as log:
            agent.process = subprocess.Popen(
                [agent_module.binary, "run", "--root", agent.root, "--config", agent.config,
                 *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=agent.directory)

    def test_addresses(self):
        agent = Agent("no-stack")
        filed, agent.port, other = agent.port, free_port(), free_port()
        agent.http_settings = {"listen": [f"127.0.0.1:{filed}"]}
        try:
            self.start(agent, f"--web.listen-address=127.0.0.1:{agent.port}",
                       "--web.listen-address", f"[::1]:{other}", "--log.level=debug")
            wait("the agent", agent.is_ready)
            with socket.create_connection(("::1", other), PATIENCE):
                pass
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", filed), PATIENCE)
            agent.write_config(extra="log: {level: error}\n")
            agent.hang_up()
            wait("the reload", lambda: agent.metric("rdma_agent_config_last_reload_successful") == 1
                 and "configuration reloaded" in agent.log())
            self.assertEqual(agent.get("/healthz").status, 200)
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", filed), PATIENCE)
            self.assertEqual(agent.stop()[0], 0)
        finally:
            agent.kill()

    def test_web_configuration(self):
        """A relative path, as a user would type it; a reload keeps it."""
        agent = WebAgent({"tls_server_config": TLS})
        del agent.http_settings["web_config_file"]
        agent.context = agent.trust()
        try:
            self.start(agent, "--web.config.file=web.yml")
            wait("the agent", agent.is_ready)
            agent.hang_up()
            wait("the reload", lambda: "configuration reloaded" in agent.log())
            self.assertEqual(agent.get("/healthz").status, 200)
            self.assertEqual(agent.stop()[0], 0)
        finally:
            agent.kill()

    def test_values_that_are_wrong(self):
        """Plain lines in a log file too, and the exit code of usage."""
        for arguments, words in (
                (["--web.listen-address=node:9100"], '--web.listen-address: "node:9100" is not host:port'),
                (["--log.level=loud"], '--log.level: "loud" is not one of '),
                (["--web.listen-adress=:1"], "did you mean --web.listen-address?")):
            agent = Agent("no-stack", ready=False)
            try:
                self.start(agent, *arguments)
                self.assertEqual(agent.process.wait(PATIENCE), 2)
                self.assertTrue(agent.log().startswith("rdma-node-agent: "), agent.log())
                self.assertIn(words, agent.log())
            finally:
                agent.kill()
        agent = Agent("no-stack", ready=False)
        try:
            self.start(agent, "--web.config.file=nowhere.yml")
            self.assertEqual(agent.process.wait(PATIENCE), 2)
            self.assertIn("nowhere.yml", agent.log())
        finally:
            agent.kill()


if __name__ == "__main__":
    unittest.main()
