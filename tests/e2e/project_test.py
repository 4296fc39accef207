"""Project against numpy in float64: folders of families that do something to their scores, and nothing else."""

import json
import pathlib
import tempfile
import unittest

import grpc
import numpy as np

from architectures.checkpoint import Tables, write_safetensors
from support.calls import DEADLINE_SECONDS, Client, refusal_of
from support.arrays import to_array, to_tensor
from support.server_process import ServerProcess
from support.stubs import tensor_pb2
from embd.v1 import project_pb2

V, D, TOP = 4099, 48, 25
LLAMA = "model.embed_tokens.weight"


def softcapped(softcap):
    return lambda scores, _: softcap * np.tanh(scores / softcap)


def scaled(factor):
    return lambda scores, _: scores * factor


# Settings of config.json, the token table's name, its type, the bias's name, and what becomes of dot products.
FOLDERS = {
    "gpt2": ({"model_type": "gpt2"}, "wte.weight", "F32", None, scaled(1)),
    "gemma2": ({"model_type": "gemma2", "final_logit_softcapping": 3.0}, LLAMA, "BF16", None, softcapped(3.0)),
    "cohere": ({"model_type": "cohere", "logit_scale": 0.25}, LLAMA, "F16", None, scaled(0.25)),
    "granite": (
        {"model_type": "granite", "tie_word_embeddings": True, "logits_scaling": 8.0},
        LLAMA, "F32", None, scaled(1 / 8),
    ),
    "minicpm": ({"model_type": "minicpm", "dim_model_base": 12}, LLAMA, "F32", None, scaled(12 / D)),
    "t5": ({"model_type": "t5"}, "shared.weight", "F32", None, scaled(D**-0.5)),
    "bert": (
        {"model_type": "bert"},
        "bert.embeddings.word_embeddings.weight", "F32", "cls.predictions.bias", lambda scores, bias: scores + bias,
    ),
    "marian": (
        {"model_type": "marian"},
        "model.shared.weight", "F32", "final_logits_bias", lambda scores, bias: scores + bias.reshape(V),
    ),
}


def setUpModule():
    global client, vectors, tensors
    parent = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory(prefix="embd-project-")))
    tensors, lines = {}, ["models:"]
    for name, (config, token, dtype, bias, _) in FOLDERS.items():
        tables = Tables(name, dtype)
        tensors[name] = {token: tables.normal(V, D)}
        if bias is not None:
            tensors[name][bias] = tables.normal(*((1, V) if name == "marian" else (V,)))
        (parent / name).mkdir()
        (parent / name / "config.json").write_text(json.dumps(config))
        write_safetensors(parent / name / "model.safetensors", tensors[name])
        rest = "position: none, token_type: none, layer_norm: none"
        lines.append(f'  - {{ name: {name}, path: "{parent / name}", {rest} }}')
    (parent / "llama").mkdir()
    (parent / "llama" / "config.json").write_text(json.dumps({"model_type": "llama"}))
    write_safetensors(parent / "llama" / "model.safetensors", {LLAMA: Tables("llama").normal(V, D)})
    lines.append(f'  - {{ name: llama, path: "{parent / "llama"}", position: none }}')
    server = unittest.enterModuleContext(ServerProcess(config="\n".join(lines) + "\n"))
    client = unittest.enterModuleContext(Client(server.address))
    vectors = np.random.default_rng(5).standard_normal((7, D)).astype(np.float32)


def project(model, **fields):
    request = project_pb2.ProjectRequest(
        model=model, vectors=to_tensor(tensor_pb2.DATA_TYPE_FLOAT32, vectors), **fields
    )
    return client.embedding.Project(request, timeout=DEADLINE_SECONDS)


def expected_scores(name):
    _, token, _, bias, formula = FOLDERS[name]
    rows = tensors[name][token].values.astype(np.float64)
    added = None if bias is None else tensors[name][bias].values.astype(np.float64)
    return formula(vectors.astype(np.float64) @ rows.T, added)


class ProjectTest(unittest.TestCase):
    def test_the_best_ids_and_scores_are_numpys(self):
        for name in FOLDERS:
            with self.subTest(family=name):
                scores = expected_scores(name)

                reply = project(name, top_k=TOP)

                best = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
                self.assertTrue(reply.tied)
                np.testing.assert_array_equal(np.reshape(reply.ids, (-1, TOP)), best)
                expected = np.take_along_axis(scores, best, axis=1)
                np.testing.assert_allclose(to_array(reply.scores), expected, rtol=1e-6, atol=1e-6)

    def test_log_probabilities_are_numpys(self):
        ids = [0, V - 1, 17, 4000]
        for name in FOLDERS:
            with self.subTest(family=name):
                scores = expected_scores(name)
                largest = scores.max(axis=1)
                sums = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))

                reply = project(name, candidate_ids=ids, log_probabilities=True)

                self.assertEqual(list(reply.ids), ids * len(vectors))
                np.testing.assert_allclose(to_array(reply.log_sum_exp), sums, rtol=1e-5)
                np.testing.assert_allclose(to_array(reply.scores), scores[:, ids] - sums[:, None], rtol=1e-5, atol=1e-5)

    def test_a_model_that_is_not_tied_is_scored_raw_only(self):
        refusal = refusal_of(lambda: project("llama"))

        self.assertEqual((refusal.code, refusal.reason), (grpc.StatusCode.FAILED_PRECONDITION, "NOT_TIED"))
        self.assertFalse(project("llama", raw_scores=True).tied)


if __name__ == "__main__":
    unittest.main()
