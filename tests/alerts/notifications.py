# SPDX-License-Identifier: Apache-2.0
"""What files/notifications.tmpl makes of alerts: a real Alertmanager sends them to a webhook in place
of Slack and to an SMTP server. Texts of others neither mention a channel nor become markup."""
import email
import email.policy
import html
import http.server
import json
import socketserver
import threading

from alertmanager import FILES, Alertmanager

from agent import free_port, wait  # behind alertmanager, which knows where it is

PATIENCE = 60
LINKS = {"runbook_url": "http://node1:10879/runbooks/RdmaPortDown", "page_url": "http://node1:10879/",
         "dashboard_url": "https://grafana.test/d/rdma-node?var-job=rdma&var-instance=node1"}
ALERTS = [
    {"labels": {"alertname": "RdmaPortDown", "severity": "critical", "device": "a"},
     "annotations": {"summary": 'node1: a/1: <!channel> & "down"', "description": "Port <b>.",
                     **LINKS}},
    # A dashboard whose address is only a path, and nothing but that.
    {"labels": {"alertname": "RdmaPortDown", "severity": "warning", "device": "b"},
     "annotations": {"summary": "node1: b/1: " + "long " * 40 + "text", "description": "Port.",
                     "dashboard_url": "/d/rdma-node"}},
]
TITLE = '[FIRING 2] node1: a/1: {} "down"'
SLACK = ('*critical* node1: a/1: &lt;!channel&gt; &amp; "down"\n'
         f"Port &lt;b&gt;. <{LINKS['runbook_url']}|Runbook> <{LINKS['page_url']}|Node> "
         f"<{LINKS['dashboard_url']}|Dashboard>\n"
         f"*warning* {ALERTS[1]['annotations']['summary']}\nPort.")
TEXT = ('critical node1: a/1: <!channel> & "down"\n'
        f"Port <b>. {' '.join(LINKS.values())}\n"
        f"warning {ALERTS[1]['annotations']['summary']}\nPort.")
HTML = ["<b>critical</b> node1: a/1: &lt;!channel&gt; &amp; &#34;down&#34;<br>", "Port &lt;b&gt;.",
        *(f'<a href="{html.escape(url)}">' for url in LINKS.values())]


class Slack(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Mail(socketserver.StreamRequestHandler):
    """SMTP, as far as one client needs it (RFC 5321)."""

    def handle(self):
        self.wfile.write(b"220 sink\r\n")
        for line in self.rfile:
            verb = line.split()[0].upper()
            if verb == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                body = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.server.got.append(email.message_from_bytes(body, policy=email.policy.default))
            self.wfile.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n")
            if verb == b"QUIT":
                return


def serve(server_class, handler):
    server = server_class(("127.0.0.1", free_port()), handler)
    server.daemon_threads, server.got = True, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def config(slack, mail):
    """As the head of the file has it."""
    return {
        "global": {"slack_api_url": f"http://127.0.0.1:{slack}/",
                   "smtp_smarthost": f"127.0.0.1:{mail}", "smtp_from": "alerts@test",
                   "smtp_require_tls": False},
        "templates": [f"{FILES}/notifications.tmpl"],
        "route": {"receiver": "people", "group_by": ["alertname"], "group_wait": "1s"},
        "receivers": [{
            "name": "people",
            "slack_configs": [{"channel": "#rdma", "title": '{{ template "rdma.slack.title" . }}',
                               "text": '{{ template "rdma.slack" . }}'}],
            "email_configs": [{"to": "people@test",
                               "headers": {"Subject": '{{ template "rdma.title" . }}'},
                               "html": '{{ template "rdma.email.html" . }}',
                               "text": '{{ template "rdma.email.text" . }}'}]}]}


def check(what, got, expected):
    if got != expected:
        yield f"{what}: {got!r}, expected {expected!r}"


def complaints():
    slack = serve(http.server.ThreadingHTTPServer, Slack)
    mail = serve(socketserver.ThreadingTCPServer, Mail)
    with Alertmanager(config(slack.server_address[1], mail.server_address[1])) as manager:
        wait("Alertmanager answers", lambda: manager.alerts() is not None, PATIENCE)
        manager.ask("POST", "alerts", ALERTS)
        wait("both notifications", lambda: slack.got and mail.got, PATIENCE)
    slack.shutdown()
    mail.shutdown()
    attachment, letter = slack.got[0]["attachments"][0], mail.got[0]
    yield from check("title", attachment["title"], TITLE.format("&lt;!channel&gt; &amp;"))
    yield from check("text for Slack", attachment["text"], SLACK)
    yield from check("subject", letter["Subject"], TITLE.format("<!channel> &"))
    yield from check("text of the letter",
                     letter.get_body(["plain"]).get_content().strip().replace("\r", ""), TEXT)
    shown = letter.get_body(["html"]).get_content()
    for piece in HTML:
        if piece not in shown:
            yield f"the letter lacks {piece!r}: {shown}"
