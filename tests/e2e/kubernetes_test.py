"""The Kubernetes manifests: by the published schemas, and that they fit each other, the image and the server."""

import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import yaml

from support.node_modules import node_modules
from support.server_process import binary, clean_environment

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "docker" / "kubernetes"
MODULES = node_modules()


def documents():
    """All objects of the files that the kustomization lists."""
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    return [each for name in listed for each in yaml.safe_load_all((FOLDER / name).read_text())]


def faults(objects):
    """What the schemas find, a list for each object."""
    done = subprocess.run(
        ["node", "kubernetes_schemas.mjs"],
        cwd=HERE,
        env={**os.environ, "NODE_PATH": str(MODULES)},
        input=json.dumps(objects),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)


class ManifestsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.objects = documents()
        cls.by_kind = {each["kind"]: each for each in cls.objects}
        cls.pod = cls.by_kind["Deployment"]["spec"]["template"]
        cls.container = cls.pod["spec"]["containers"][0]

    def test_every_file_is_listed(self):
        listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
        there = {file.name for file in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}

        self.assertEqual(set(listed), there)

    def test_all_objects_keep_the_schemas(self):
        self.assertEqual(faults(self.objects), [[] for _ in self.objects])

    def test_what_the_schemas_forbid_is_found(self):
        def broken(change):
            deployment = copy.deepcopy(self.by_kind["Deployment"])
            change(deployment["spec"])
            return deployment

        def misspell(spec):
            spec["template"]["spec"]["containers"][0]["livenesProbe"] = {}

        found = faults([broken(misspell), broken(lambda spec: spec.update(replicas="2")), broken(lambda spec: spec.pop("selector"))])

        self.assertIn("livenesProbe", found[0][0])
        self.assertIn("replicas must be integer", found[1][0])
        self.assertIn("selector", found[2][0])

    def test_selectors_find_the_pods(self):
        labels = self.pod["metadata"]["labels"].items()
        spec = self.by_kind["Deployment"]["spec"]
        services = [each["spec"]["selector"] for each in self.objects if each["kind"] == "Service"]
        budget = self.by_kind["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]
        spreads = [each["labelSelector"]["matchLabels"] for each in self.pod["spec"]["topologySpreadConstraints"]]

        self.assertEqual(len(services), 2)
        for selector in [spec["selector"]["matchLabels"], budget, *services, *spreads]:
            self.assertLessEqual(selector.items(), labels)

    def test_the_monitor_finds_one_service(self):
        wanted = self.by_kind["ServiceMonitor"]["spec"]["selector"]["matchLabels"].items()
        found = [each for each in self.objects if each["kind"] == "Service" and wanted <= each["metadata"]["labels"].items()]

        self.assertEqual(len(found), 1)

    def test_the_autoscaler_names_the_deployment(self):
        target = self.by_kind["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]

        self.assertEqual(target["name"], self.by_kind["Deployment"]["metadata"]["name"])
        self.assertNotIn("replicas", self.by_kind["Deployment"]["spec"])

    def test_ports_that_are_named_are_there(self):
        there = {each["name"] for each in self.container["ports"]}
        probes = [self.container[name]["httpGet"]["port"] for name in ("startupProbe", "readinessProbe", "livenessProbe")]
        targets = [port["targetPort"] for each in self.objects if each["kind"] == "Service" for port in each["spec"]["ports"]]

        self.assertLessEqual({*probes, *targets}, there)

    def test_every_volume_is_mounted(self):
        volumes = {each["name"] for each in self.pod["spec"]["volumes"]}

        self.assertEqual({each["name"] for each in self.container["volumeMounts"]}, volumes)

    def test_the_pod_may_take_as_long_to_end_as_the_server(self):
        server = yaml.safe_load(self.by_kind["ConfigMap"]["data"]["embd.yaml"])["server"]
        pause = int(self.container["lifecycle"]["preStop"]["exec"]["command"][1])
        drain = int(server["drain_timeout"].removesuffix("s"))

        self.assertGreater(self.pod["spec"]["terminationGracePeriodSeconds"], pause + drain)

    def test_the_server_takes_the_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "embd.yaml"
            file.write_text(self.by_kind["ConfigMap"]["data"]["embd.yaml"])
            done = subprocess.run(
                [binary("embd"), "--config", file, "--check-config"],
                env=clean_environment(),
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        self.assertEqual((done.returncode, done.stdout), (0, "configuration is valid: 1 model\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
