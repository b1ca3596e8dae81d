# SPDX-License-Identifier: Apache-2.0
"""The scrape examples: by the real program where Debian has it, else key by key."""
import os
import re
import subprocess
import tempfile
import unittest

import yaml
from prometheus_client.parser import text_string_to_metric_families

from agent import QUIET, TESTS, Agent, wait
from pki import bcrypt
from prometheus import Prometheus
from test_textfile import collect
from test_web import TlsAgent, basic

EXAMPLES = os.path.join(os.path.dirname(TESTS), "exporter", "scrape")
RULES = os.path.join(os.path.dirname(TESTS), "helm/rdma-node-agent/files/alerts.yaml")

# Documented keys, as far as examples of this kind may want them. "[]" is an entry of a list.
KEYS = {
    # prometheus-operator, Documentation/api-reference/api.md: ScrapeConfigSpec (v1alpha1), SafeTLSConfig,
    # SecretOrConfigMap, BasicAuth, StaticConfig
    "prometheus-operator.yaml": """
        apiVersion kind metadata metadata.name metadata.namespace metadata.labels
        metadata.labels.release spec spec.jobName spec.scrapeInterval spec.scrapeTimeout spec.scheme
        spec.metricsPath spec.relabelings spec.tlsConfig spec.tlsConfig.ca
        spec.tlsConfig.ca.configMap spec.tlsConfig.ca.configMap.name spec.tlsConfig.ca.configMap.key
        spec.tlsConfig.ca.secret spec.tlsConfig.serverName spec.basicAuth spec.basicAuth.username
        spec.basicAuth.username.name spec.basicAuth.username.key spec.basicAuth.password
        spec.basicAuth.password.name spec.basicAuth.password.key spec.staticConfigs
        spec.staticConfigs[] spec.staticConfigs[].targets spec.staticConfigs[].targets[]
        spec.staticConfigs[].labels""",
    # opentelemetry-collector-contrib, receiver/prometheusreceiver/README.md; opentelemetry-collector,
    # exporter/otlphttpexporter/README.md. What is below config is Prometheus's.
    "otel-collector.yaml": """
        receivers receivers.prometheus/rdma receivers.prometheus/rdma.config
        receivers.prometheus/rdma.target_allocator exporters exporters.otlphttp
        exporters.otlphttp.endpoint exporters.otlphttp.headers exporters.otlphttp.tls service
        service.pipelines service.pipelines.metrics service.pipelines.metrics.receivers
        service.pipelines.metrics.receivers[] service.pipelines.metrics.exporters
        service.pipelines.metrics.exporters[]""",
    # DataDog/integrations-core, openmetrics/datadog_checks/openmetrics/config_models/instance.py
    "datadog.yaml": """
        init_config instances instances[] instances[].openmetrics_endpoint instances[].namespace
        instances[].metrics instances[].metrics[] instances[].min_collection_interval
        instances[].exclude_metrics instances[].exclude_labels instances[].rename_labels
        instances[].tags instances[].tls_ca_cert instances[].tls_cert instances[].tls_private_key
        instances[].username instances[].password""",
}

# grafana/alloy, docs/sources/reference/components/prometheus/prometheus.scrape.md and
# prometheus.remote_write.md; shared/reference/components: basic-auth-block.md, tls-config-block.md
ALLOY = {
    "prometheus.scrape": {"job_name", "scrape_interval", "scrape_timeout", "targets", "forward_to",
                          "scheme", "tls_config", "basic_auth", "metrics_path"},
    "tls_config": {"ca_file", "ca_pem", "cert_file", "key_file", "server_name"},
    "basic_auth": {"username", "password", "password_file"},
    "prometheus.remote_write": {"endpoint", "external_labels"},
    "endpoint": {"url", "name", "headers", "basic_auth", "tls_config"},
}


def read(name):
    with open(f"{EXAMPLES}/{name}", encoding="utf-8") as file:
        return file.read()


def with_comments(name):
    """With the lines in it that are for TLS and a login."""
    return re.sub(r"^(\s*)(?:#|//)   (?=\S)", r"\1", re.sub(r"^(\s*)(?:#|//)     (?=\S)", r"\1  ", read(name),
                                                          flags=re.M), flags=re.M)


def paths(node, place=""):
    """Of all keys in it."""
    if isinstance(node, dict):
        for key, value in node.items():
            path = f"{place}.{key}" if place else key
            yield path
            yield from paths(value, path)
    elif isinstance(node, list):
        for entry in node:
            yield f"{place}[]"
            yield from paths(entry, f"{place}[]")


class Keys(unittest.TestCase):
    def test_yaml(self):
        for name, known in KEYS.items():
            for text in read(name), with_comments(name):
                document = yaml.safe_load(text)
                if name == "otel-collector.yaml":
                    document["receivers"]["prometheus/rdma"]["config"] = None
                self.assertEqual(set(paths(document)) - set(known.split()), set(), name)

    def test_what_is_commented_out_is_in_it(self):
        self.assertIn("username", yaml.safe_load(with_comments("datadog.yaml"))["instances"][0])
        self.assertRegex(with_comments("config.alloy"), r"(?m)^  basic_auth \{$")

    def test_pipelines_name_what_there_is(self):
        document = yaml.safe_load(read("otel-collector.yaml"))
        for kind in "receivers", "exporters":
            self.assertEqual(document["service"]["pipelines"]["metrics"][kind], list(document[kind]))

    def test_alloy(self):
        """Blocks and attributes; values are not read, but that brackets match and names exist."""
        for text in read("config.alloy"), with_comments("config.alloy"):
            text = re.sub(r"//.*", "", re.sub(r'"[^"\n]*"', '""', text))
            stack, seen = [], set()
            for line in filter(None, map(str.strip, text.splitlines())):
                block = re.fullmatch(r'([a-z_.]+)(?: "")? \{(.*)\}?', line)
                attribute = re.match(r'(""|[a-z_]+)\s*= ', line)
                if block and not attribute:
                    owner = stack[-1] if stack else None
                    self.assertIn(block[1], ALLOY[owner] if owner else ALLOY, line)
                    seen.add(block[1])
                    if line.endswith("}"):
                        self.assertIn(block[2].split("=")[0].strip(), ALLOY[block[1]], line)
                    else:
                        stack.append(block[1])
                elif attribute and attribute[1] != '""':
                    self.assertIn(attribute[1], ALLOY[stack[-1]], line)
                    stack += ["["] if line.endswith("[") else []
                elif line == "{":
                    stack.append("{")
                elif line in ("}", "},", "]"):
                    self.assertEqual({"{": "}", "[": "]"}.get(stack.pop(), "}"), line[0])
                else:
                    self.assertTrue(attribute, line)
            self.assertEqual(stack, [])
            self.assertLessEqual({"prometheus.scrape", "endpoint"}, seen)

    def test_datadog_finds_metrics(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([f"{TESTS}/machines/unpack", "roce-troubles", f"{directory}/root"], check=True)
            families = {family.name for family in text_string_to_metric_families(
                collect("--root", f"{directory}/root").stdout)}
        for pattern in yaml.safe_load(read("datadog.yaml"))["instances"][0]["metrics"]:
            if "selftest" not in pattern:  # there was none
                self.assertTrue([name for name in families if re.search(pattern, name)], pattern)


class Scraped(unittest.TestCase):
    """By a real Prometheus."""

    def check(self, config, directory):
        path = f"{directory}/prometheus.yml"
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(config, file)
        done = subprocess.run(["promtool", "check", "config", path], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_scraped(self, agent, job):
        job = {**job, "static_configs": [{"targets": [f"127.0.0.1:{agent.port}"]}],
               "scrape_interval": "1s", "scrape_timeout": "1s"}
        with Prometheus(agent.port, job=job) as prometheus:
            prometheus.wait_scrapes()
            wait("a metric of the agent", lambda: prometheus.value("rdma_devices") is not None)

    def test_prometheus(self):
        users = {"basic_auth_users": {"prometheus": bcrypt("secret")}}
        tls = TlsAgent(web=users)
        tls.login = basic("prometheus", "secret")
        with tls, Agent("no-stack", poll=QUIET) as plain:
            with open(f"{tls.directory}/password", "w", encoding="utf-8") as file:
                file.write("secret")
            config = yaml.safe_load(read("prometheus.yml"))
            config["rule_files"] = [RULES]  # that of the package, which is not installed here
            self.check(config, tls.directory)
            jobs = {job["job_name"]: job for job in config["scrape_configs"]}
            self.assertEqual(list(jobs), ["rdma", "rdma-tls"])
            self.assert_scraped(plain, jobs["rdma"])
            login = jobs["rdma-tls"]
            login["tls_config"]["ca_file"] = tls.ca.certificate
            login["basic_auth"]["password_file"] = f"{tls.directory}/password"
            self.assert_scraped(tls, login)

    def test_config_of_the_collector(self):
        config = yaml.safe_load(read("otel-collector.yaml"))["receivers"]["prometheus/rdma"]["config"]
        with Agent("no-stack", poll=QUIET) as agent:
            self.check(config, agent.directory)
            self.assert_scraped(agent, config["scrape_configs"][0])


if __name__ == "__main__":
    unittest.main()
