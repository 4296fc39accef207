"""The oracle of architectures_test.py, against a second way to say the same and published numbers. No server."""

import json
import math
import pathlib
import struct
import tempfile
import unittest

import numpy as np

from architectures.checkpoint import Tables
from architectures.checkpoints import all_checkpoints
from architectures.expected import Batch, Norm
from architectures.oracle import GPT2, M2M100, Bart, Esm, Opt, Roberta, Xglm
from architectures.rotary_oracle import INTERLEAVED, Rotation
from architectures.sinusoids import marian_table, tensor2tensor_table

TOKEN = np.arange(80, dtype=np.float32).reshape(40, 2)
POSITION = np.zeros((64, 2), np.float32)


def rows(stage_class, ids, pad=None, **more):
    more = {key: np.array(value) for key, value in more.items()}
    return stage_class(TOKEN, POSITION, pad=pad).rows(Batch(np.array(ids), **more)).tolist()


class NumberingTest(unittest.TestCase):
    def test_roberta_counts_what_is_not_padding(self):
        self.assertEqual(rows(Roberta, [[5, 1, 7]], pad=1), [[2, 1, 3]])
        self.assertEqual(rows(Roberta, [[7, 8]], pad=3), [[4, 5]])
        self.assertEqual(rows(Roberta, [[5, 1, 7]], pad=1, offsets=[4]), [[6, 1, 7]])

    def test_m2m100_counts_as_roberta(self):
        self.assertEqual(rows(M2M100, [[5, 6, 1]], pad=1), [[2, 3, 1]])

    def test_opt_counts_the_mask(self):
        self.assertEqual(rows(Opt, [[0, 0, 5, 6]], mask=[[0, 0, 1, 1]]), [[1, 1, 2, 3]])
        self.assertEqual(rows(Opt, [[0, 0, 5, 6]]), [[2, 3, 4, 5]])
        self.assertEqual(rows(Opt, [[0, 5]], mask=[[0, 1]], offsets=[3]), [[1, 5]])

    def test_gpt2_counts_the_mask(self):
        self.assertEqual(rows(GPT2, [[0, 0, 5, 6]], mask=[[0, 0, 1, 1]]), [[1, 1, 0, 1]])
        self.assertEqual(rows(GPT2, [[0, 5]], mask=[[0, 1]], offsets=[3]), [[1, 3]])

    def test_xglm_and_bart_are_two_rows_on(self):
        self.assertEqual(rows(Xglm, [[1, 1, 5]], pad=1), [[2, 3, 4]])
        self.assertEqual(rows(Bart, [[9]], offsets=[5]), [[7]])

    def test_explicit_positions_are_rows_for_roberta_and_two_before_them_for_bart(self):
        self.assertEqual(rows(Roberta, [[5, 1]], pad=1, position_ids=[[9, 8]]), [[9, 8]])
        self.assertEqual(rows(Bart, [[5, 1]], position_ids=[[9, 8]]), [[11, 10]])
        self.assertEqual(rows(Opt, [[5, 1]], position_ids=[[9, 8]]), [[11, 10]])

    def test_counting_one_by_one_gives_the_same(self):
        random = np.random.default_rng(1)
        ids, mask, past = random.integers(0, 4, (50, 9)), random.integers(0, 2, (50, 9)), random.integers(0, 5, 50)
        seen = {"roberta": [], "opt": [], "gpt2": []}
        for b in range(50):
            unpadded = unmasked = past[b]
            for t in range(9):
                unpadded += ids[b, t] != 1
                unmasked += mask[b, t]
                seen["roberta"].append(1 + unpadded if ids[b, t] != 1 else 1)
                seen["opt"].append(unmasked + 1 if mask[b, t] else 1)
                seen["gpt2"].append(unmasked - 1 if mask[b, t] else 1)
        batch = Batch(ids, offsets=past, mask=mask)
        for name, stage_class in (("roberta", Roberta), ("opt", Opt), ("gpt2", GPT2)):
            with self.subTest(rule=name):
                actual = stage_class(TOKEN, POSITION, pad=1).rows(batch)
                self.assertEqual(actual.ravel().tolist(), [int(row) for row in seen[name]])


class ValueTest(unittest.TestCase):
    def test_square_roots_round_to_bfloat16_as_published(self):
        tables = Tables("any", "BF16")
        published = {3072: 55.5, 2048: 45.25, 2304: 48.0, 3584: 59.75, 1152: 34.0, 2560: 50.5}

        self.assertEqual({dim: tables.rounded(math.sqrt(dim)) for dim in published}, published)

    def test_layer_norm_equals_sums_of_python_floats(self):
        random = np.random.default_rng(2)
        x, weight, bias = (random.standard_normal(n).astype(np.float32) for n in (24, 24, 24))
        mean = math.fsum(x) / 24
        variance = math.fsum((float(v) - mean) ** 2 for v in x) / 24
        expected = [
            (float(v) - mean) / math.sqrt(variance + 1e-5) * float(w) + float(b) for v, w, b in zip(x, weight, bias)
        ]

        np.testing.assert_allclose(Norm(weight, bias, 1e-5)(x), expected, rtol=0, atol=1e-12)

    def test_sinusoidal_rows_have_published_values(self):
        marian = [0.141120, 0.295520, 0.029996, 0.003000, -0.989992, 0.955336, 0.999550, 0.999996]
        fairseq = [0.141120, 0.138798, 0.006463, 0.000300, -0.989992, 0.990321, 0.999979, 1.0]
        odd_marian = [0.141120, 0.214232, 0.015538, 0.001118, -0.989992, 0.976783, 0.999879]
        odd_fairseq = [0.141120, 0.029996, 0.000300, -0.989992, 0.999550, 1.0, 0.0]
        for actual, expected in (
            (marian_table(4, 8), marian),
            (tensor2tensor_table(4, 8), fairseq),
            (marian_table(4, 7), odd_marian),
            (tensor2tensor_table(4, 7), odd_fairseq),
        ):
            np.testing.assert_allclose(actual[3], expected, rtol=0, atol=1e-6)

    def test_padding_row_of_a_computed_table_is_zero(self):
        self.assertFalse(tensor2tensor_table(4, 8, pad=1)[1].any())

    def test_esm_scales_by_the_share_of_masked_tokens(self):
        ids = np.array([[5, 32, 6, 7]])
        stage = Esm(np.ones((40, 2), np.float32), None, pad=1, token_dropout=True, mask_token=32)

        values = stage.composed(Batch(ids)).values[0, :, 0]

        np.testing.assert_allclose(values, [0.88 / 0.75, 0, 0.88 / 0.75, 0.88 / 0.75], rtol=1e-6)


class CompositionTest(unittest.TestCase):
    """Each folder's stage against the few words that say what its family adds, on the tensors of its files."""

    ADDED = {
        "gpt2 gpt_bigcode gpt_neo openai-gpt mpt blenderbot distilbert blenderbot-small": "token p",
        "bert electra albert big_bird": "token type p",
        "roberta xlm-roberta camembert": "token type counted",
        "longformer": "token counted type",
        "mpnet esm": "token counted",
        "deberta deberta-v2": "token p type",
        "opt biogpt bart mbart plbart": "token p+2",
    }
    TABLES = {
        "token": (
            "word_embeddings.weight",
            "wte.weight",
            "tokens_embed.weight",
            "shared.weight",
            "embed_tokens.weight",
        ),
        "type": ("token_type_embeddings.weight",),
        "position": ("position_embeddings.weight", "wpe.weight", "positions_embed.weight", "embed_positions.weight"),
    }

    def test_stages_add_what_their_family_adds(self):
        words = {family: each for families, each in self.ADDED.items() for family in families.split()}
        checked = set()
        for checkpoint in all_checkpoints():
            if checkpoint.family in words and checkpoint.name != "gpt2-tied-head":
                with self.subTest(folder=checkpoint.name):
                    self.assert_sum(checkpoint, words[checkpoint.family].split())
                    checked.add(checkpoint.family)
        self.assertEqual(checked, set(words))

    def table(self, checkpoint, kind):
        side = checkpoint.side or "encoder"
        for suffix in self.TABLES[kind]:
            names = [name for name in checkpoint.tensors if name.endswith(suffix)]
            if names:
                return checkpoint.tensors[next((name for name in names if side in name), names[0])].values
        return None

    def assert_sum(self, checkpoint, added):
        stage, ids = checkpoint.stage, [7, 9, 4, 30]
        norm, stage.norm = stage.norm, None
        dropout = getattr(stage, "token_dropout", False)
        actual = stage.composed(Batch(np.array([ids]))).values[0]
        for t, token in enumerate(ids):
            total = self.table(checkpoint, "token")[token] * stage.scale
            if dropout:
                total = total * np.float32(0.88)
            for each in added[1:]:
                row = {"type": 0, "p": t, "p+2": t + 2, "counted": t + 1 + (getattr(stage, "pad", None) or 0)}[each]
                table = self.table(checkpoint, "type" if each == "type" else "position")
                if table is not None and (each == "type" or stage.table_rows is not None):
                    total = total + table[row]
            self.assertEqual(actual[t].tobytes(), total.tobytes(), f"column {t}")
        stage.norm = norm


class RotationTest(unittest.TestCase):
    def assert_frequencies(self, rotation, length, expected, tolerance=1e-7):
        actual, _ = rotation.frequencies(length)
        for index, value in expected.items():
            self.assertAlmostEqual(actual[index] / value, 1, delta=tolerance, msg=f"frequency {index}")

    def test_plain_and_linear(self):
        self.assert_frequencies(Rotation(8, 8), 1, {0: 1, 1: 0.1, 2: 0.01, 3: 0.001})
        linear = Rotation(8, 8, scaling={"type": "linear", "factor": 4})
        self.assert_frequencies(linear, 1, {0: 0.25, 1: 0.025, 2: 0.0025, 3: 0.00025})

    def test_llama3(self):
        scaling = {
            "type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        }
        published = {0: 1, 28: 3.211446e-3, 29: 2.1665708e-3, 30: 1.3718936e-3, 31: 8.5675141e-4, 32: 5.2484616e-4}
        published.update({34: 1.7850781e-4, 35: 9.5562124e-5, 63: 3.068926e-7})

        self.assert_frequencies(Rotation(128, 128, 5e5, scaling=scaling), 1, published, 2e-7)

    def test_yarn(self):
        scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
        rotation = Rotation(128, 128, scaling=scaling)
        published = {10: 0.23713737, 20: 0.049486037, 30: 0.0077344243, 40: 8.8543774e-4, 63: 2.886955e-5}

        self.assert_frequencies(rotation, 1, published, 2e-7)
        self.assertAlmostEqual(rotation.frequencies(1)[1], 1.1386294, places=7)

    def test_yarn_with_two_magnitudes(self):
        scaling = {
            "type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "mscale": 1, "mscale_all_dim": 0.707
        }

        factor = Rotation(64, 64, pairing=INTERLEAVED, scaling=scaling).frequencies(1)[1]

        self.assertAlmostEqual(factor, 1.0857264, places=7)

    def test_dynamic(self):
        scaling = {"type": "dynamic", "factor": 2.0, "max_position_embeddings": 2048}
        frequencies, _ = Rotation(128, 128, scaling=scaling).frequencies(4096)

        self.assertAlmostEqual(frequencies[1] ** -64, 30527.737, delta=0.01)

    def test_longrope(self):
        scaling = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}
        scaling.update(original_max_position_embeddings=4096, max_position_embeddings=131072)
        rotation = Rotation(8, 8, scaling=scaling)

        self.assertAlmostEqual(rotation.frequencies(1)[1], 1.1902381, places=7)
        self.assert_frequencies(rotation, 4096, {0: 1.0, 1: 0.1})
        self.assert_frequencies(rotation, 4097, {0: 0.5, 1: 0.05})


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_every_folder_is_small_and_its_files_are_whole(self):
        for checkpoint in all_checkpoints():
            with self.subTest(folder=checkpoint.name):
                folder = checkpoint.write(self.folder)

                files = list(folder.rglob("*.safetensors"))
                self.assertTrue(files)
                self.assertLess(sum(file.stat().st_size for file in files), 64 * 1024)
                for file in files:
                    self.assert_whole(file.read_bytes())

    def assert_whole(self, data):
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        spans = sorted(entry["data_offsets"] for name, entry in header.items() if name != "__metadata__")
        self.assertEqual([begin for begin, _ in spans], [0] + [end for _, end in spans[:-1]])
        self.assertEqual(spans[-1][1], len(data) - 8 - length)

    def test_the_same_folder_is_made_again(self):
        first, second = (checkpoint.write(self.folder / each) for each in "ab" for checkpoint in all_checkpoints()[:1])

        self.assertEqual((first / "model.safetensors").read_bytes(), (second / "model.safetensors").read_bytes())


if __name__ == "__main__":
    unittest.main()
