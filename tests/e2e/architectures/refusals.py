"""Folders that must not be served, each with what the refusal has to name."""

import copy
import dataclasses
import json
import pathlib

import numpy as np

from architectures.checkpoint import Tables, Tensor, write_safetensors
from architectures.checkpoints import all_checkpoints


@dataclasses.dataclass
class Refusal:
    """A folder's files: config.json, tensors, and others by name; and words of the message."""

    name: str
    parts: tuple
    config: dict = None
    tensors: dict = None
    files: dict = dataclasses.field(default_factory=dict)
    side: str = None

    def write(self, parent):
        folder = pathlib.Path(parent) / self.name
        folder.mkdir()
        if self.config is not None:
            (folder / "config.json").write_text(json.dumps(self.config), encoding="utf-8")
        if self.tensors is not None:
            write_safetensors(folder / "model.safetensors", self.tensors)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder


class _Good:
    """Copies of folders that are served, to be spoiled."""

    def __init__(self):
        self._checkpoints = {checkpoint.name: checkpoint for checkpoint in all_checkpoints()}

    def spoiled(self, name, base, *parts, without=(), tensors=None, side=None, **keys):
        """`base` with other config keys (None: left out), without some tensors, with others."""
        checkpoint = self._checkpoints[base]
        side = side or checkpoint.side
        config = {**copy.deepcopy(checkpoint.config), **keys}
        config = {key: value for key, value in config.items() if value is not None}
        kept = {key: tensor for key, tensor in checkpoint.tensors.items() if key not in without}
        return Refusal(name, parts, config, {**kept, **(tensors or {})}, side=side)

    def config(self, name):
        return self._checkpoints[name].config

    def tensors(self, name):
        return self._checkpoints[name].tensors


def refusals():
    """Every folder that must be refused."""
    good = _Good()
    yield from _unknown(good)
    yield from _weights(good)
    yield from _files(good)
    yield from _unsupported(good)


def _unknown(good):
    yield good.spoiled("unknown-model-type", "llama-2-7b", '"whisper"', "model_type", "token:", model_type="whisper")
    yield good.spoiled("no-model-type", "llama-2-7b", "model_type", model_type=None)
    yield good.spoiled(
        "per-layer-embeddings",
        "gemma-3-1b",
        "gemma3n_text",
        "model_type",
        model_type="gemma3n_text",
        hidden_size_per_layer_input=8,
        vocab_size_per_layer_input=37,
    )
    yield good.spoiled(
        "unknown-rope-type",
        "llama-2-7b",
        "rope_scaling",
        "mystery",
        rope_scaling={"rope_type": "mystery", "factor": 2.0},
    )


def _weights(good):
    word = Tables("other").normal(37, 24)
    yield good.spoiled("no-position-table", "gpt2", "wpe.weight", without=("wpe.weight",))
    yield good.spoiled("no-token-table", "gpt2", "wte.weight", without=("wte.weight",))
    yield good.spoiled(
        "no-layer-norm-bias", "bert-position-ids", "LayerNorm.bias", without=("bert.embeddings.LayerNorm.bias",)
    )
    yield good.spoiled(
        "no-type-table",
        "bert-position-ids",
        "token_type_embeddings.weight",
        without=("bert.embeddings.token_type_embeddings.weight",),
    )
    yield good.spoiled(
        "two-token-tables", "gpt2", '"transformer.wte.weight"', '"wte.weight"', tensors={"transformer.wte.weight": word}
    )
    yield good.spoiled("larger-vocab-size", "gpt2", "vocab_size", "50257", "37", vocab_size=50257)
    yield good.spoiled("other-width", "gpt2", "n_embd", "768", "24", n_embd=768)
    yield good.spoiled("other-length", "bart-base", "max_position_embeddings", "1024", max_position_embeddings=1024)
    yield good.spoiled(
        "untied-head-alone", "llama-tied-head", "lm_head.weight", "tie_word_embeddings", tie_word_embeddings=False
    )
    yield good.spoiled(
        "float8-table",
        "gpt2",
        "wte.weight",
        "F8_E4M3",
        tensors={"wte.weight": Tensor("F8_E4M3", np.zeros((37, 24), np.uint8))},
    )


def _files(good):
    config = good.config("gpt2")
    yield Refusal("pickled-weights", ("pytorch_model.bin", "safetensors"), config, files={"pytorch_model.bin": "PK"})
    yield Refusal("no-weights", ("safetensors",), config)
    yield Refusal("no-config", ("config.json",), None, good.tensors("gpt2"))
    yield Refusal(
        "broken-config", ("config.json",), None, good.tensors("gpt2"), {"config.json": '{"model_type": "gpt2",'}
    )
    outside = {"weight_map": {"wte.weight": "../model.safetensors", "wpe.weight": "../model.safetensors"}}
    yield Refusal(
        "shard-outside", ("../model.safetensors",), config, files={"model.safetensors.index.json": json.dumps(outside)}
    )
    missing = {"weight_map": {"wte.weight": "model-00001-of-00001.safetensors"}}
    yield Refusal(
        "shard-missing",
        ("model-00001-of-00001.safetensors",),
        config,
        files={"model.safetensors.index.json": json.dumps(missing)},
    )


def _unsupported(good):
    yield good.spoiled("opt-350m", "opt-125m", "word_embed_proj_dim", word_embed_proj_dim=24, hidden_size=40)
    yield good.spoiled("deberta-projected", "deberta-base", "embedding_size", embedding_size=24, hidden_size=40)
    yield good.spoiled("small-blenderbot-decoder", "blenderbot-small", "decoder", side="decoder")
    yield good.spoiled(
        "m2m100-two-columns",
        "m2m100-unscaled",
        "embedding_dim",
        without=("model.decoder.embed_tokens.weight",),
        tensors={"model.encoder.embed_tokens.weight": Tables("narrow").normal(37, 2)},
        d_model=2,
    )
    yield good.spoiled("esm-without-padding", "esm1-absolute", "pad_token_id", pad_token_id=None)
    yield good.spoiled("chatglm-6b", "chatglm3-6b", "position_encoding_2d", position_encoding_2d=True)
    yield good.spoiled("odd-rotary-part", "phi-1.5", "partial_rotary_factor", partial_rotary_factor=0.4)
