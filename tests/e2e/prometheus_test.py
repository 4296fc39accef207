"""Metrics, alerts and dashboard of docker/ against Debian's Prometheus and its promtool."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import grpc

from support.calls import Client
from support.certificates import Authority
from support.prometheus import Prometheus, missing
from support.server_process import ServerProcess

DOCKER = pathlib.Path(__file__).resolve().parents[2] / "docker"
CONFIG, RULES = DOCKER / "prometheus/prometheus.yml", DOCKER / "prometheus/alerts.yml"
DASHBOARD = DOCKER / "grafana/dashboards/embd.json"
REQUEST = {"model": "demo-learned", "ids": [1, 2, 3], "batch_size": 1, "sequence_length": 3}


def page(server, path="/metrics"):
    with urllib.request.urlopen(f"http://{server.metrics_address}{path}", timeout=30) as answer:
        return answer.read().decode()


def series(server):
    """Name and labels of every sample."""
    return {line.rpartition(" ")[0] for line in page(server).splitlines() if not line.startswith("#")}


def promtool(*arguments, text=""):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, timeout=60, check=False)


def fail(client, model):
    try:
        client.call(**{**REQUEST, "model": model})
    except grpc.RpcError as refused:
        return refused.code()
    raise AssertionError("the call was answered")


def dashboard_expressions():
    """(title of the panel, expression) of every query, with the dashboard's variables filled in."""
    variables = {"$job": "embd", "$instance": ".*", "$__rate_interval": "30s"}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for name, value in variables.items():
                expression = expression.replace(name, value)
            yield panel["title"], expression


class CheckTest(unittest.TestCase):
    def test_metrics_pass_the_check(self):
        with ServerProcess() as server, Client(server.address) as client:
            client.call(**REQUEST)
            fail(client, "none")
            text = page(server)

        done = promtool("check", "metrics", text=text)

        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_every_metric_has_help_and_type(self):
        with ServerProcess() as server:
            for path in "/metrics", "/metrics/triton":
                text = page(server, path)
                told = {kind: set(re.findall(rf"^# {kind} (\S+) \S", text, re.MULTILINE)) for kind in ("HELP", "TYPE")}
                names = {re.match(r"[a-z0-9_]+", line)[0] for line in text.splitlines() if not line.startswith("#")}
                families = {re.sub(r"_(bucket|sum|count)$", "", name) if name not in told["TYPE"] else name for name in names}

                self.assertEqual(told["HELP"], families)
                self.assertEqual(told["TYPE"], families)

    def test_rules_and_configuration_pass_the_check(self):
        for kind, file in ("rules", RULES), ("config", CONFIG):
            done = promtool("check", kind, str(file))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class ScrapedTest(unittest.TestCase):
    """One server with some traffic, and a Prometheus that has seen it come."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        certificate = Authority(folder).issue("server", days=10)  # TLS, for what is told of it; calls come by the socket
        files = ("--tls-certificate", certificate.certificate_file, "--tls-key", certificate.key_file)
        cls.server = cls.enterClassContext(ServerProcess(*files, "--listen", f"unix:{folder}/socket"))
        cls.prometheus = cls.enterClassContext(Prometheus([cls.server.metrics_address], RULES))
        cls.client = cls.enterClassContext(Client(f"unix:{folder}/socket"))
        cls.client.call(**REQUEST)
        fail(cls.client, "none")
        cls.prometheus.await_query('nv_inference_request_failure{model="unknown"} > 0')
        for _ in range(20):
            cls.client.call(**REQUEST)
            fail(cls.client, "none")
        for expression in (
            'rate(grpc_server_handled_total{grpc_method="Embed",grpc_code="NotFound"}[30s]) > 0',
            'rate(nv_inference_request_failure{model="unknown"}[30s]) > 0',
            'rate(embd_tokens_total{model="demo-learned"}[30s]) > 0',
        ):
            cls.prometheus.await_query(expression)

    def test_every_query_of_the_dashboard_has_data(self):
        queries = list(dashboard_expressions())
        self.assertGreater(len(queries), 20)
        for title, expression in queries:
            with self.subTest(title, expression=expression):
                self.assertTrue(self.prometheus.await_query(expression))

    def test_every_alert_is_evaluated_and_none_fires(self):
        for group in self.prometheus.get("rules")["groups"]:
            self.assertEqual(len(group["rules"]), RULES.read_text().count("- alert:"))
            for rule in group["rules"]:
                with self.subTest(rule["name"]):
                    self.assertEqual((rule["health"], rule["state"]), ("ok", "inactive"), rule.get("lastError"))

    def test_what_alerts_compare_has_data(self):
        for rule in self.prometheus.get("rules")["groups"][0]["rules"]:
            compared = re.sub(r" (==|<|>) [0-9.]+$", "", rule["query"])
            self.assertNotEqual(compared, rule["query"])
            with self.subTest(rule["name"], compared=compared):
                self.assertTrue(self.prometheus.await_query(compared))

    def test_names_of_no_model_add_no_further_series(self):
        before = series(self.server)

        for i in range(10_000):
            self.assertEqual(fail(self.client, f"random-{i * 7919}"), grpc.StatusCode.NOT_FOUND)

        self.assertEqual(series(self.server), before)
        counted = 'nv_inference_request_failure{model="unknown",reason="OTHER"} >= 10021'
        self.assertEqual(len(self.prometheus.await_query(counted)), 1)

    def test_first_name_of_no_model_adds_one_series(self):
        with ServerProcess() as server, Client(server.address) as client:
            client.call(**REQUEST)
            before = series(server)
            fail(client, "none")

            (added,) = series(server) - before

        self.assertEqual(added, 'nv_inference_request_failure{model="unknown",version="unknown",reason="OTHER"}')


class DownTest(unittest.TestCase):
    def test_server_that_is_gone_is_pending_as_down(self):
        with ServerProcess() as server, Prometheus([server.metrics_address], RULES) as prometheus:
            prometheus.await_query('up{job="embd"} == 1')
            server.send_signal(15)
            server.await_end()

            prometheus.await_query('ALERTS{alertname="EmbdDown",alertstate="pending"}')


if __name__ == "__main__":
    if reason := missing():
        print(f"not run: {reason}")
        sys.exit(77)
    unittest.main()
