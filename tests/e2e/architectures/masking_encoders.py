"""Folders of encoders that go their own ways: ESM, DeBERTa, ModernBERT."""

import numpy as np

from architectures.checkpoint import Checkpoint, Tables, Tensor
from architectures.encoders import APART, D, L, V, bert_config, random_norm
from architectures.expected import Norm
from architectures.oracle import Deberta, Esm, Rotary
from architectures.rotary_oracle import Rotation


def _esms():
    def config(**more):
        return bert_config(
            "esm",
            **{
                "emb_layer_norm_before": False,
                "esmfold_config": None,
                "is_folding_model": False,
                "layer_norm_eps": 1e-05,
                "mask_token_id": 32,
                "pad_token_id": 1,
                "position_embedding_type": "rotary",
                "token_dropout": True,
                "type_vocab_size": None,
                "vocab_list": None,
                **more,
            },
        )

    for name, keys in (
        ("esm2-t6", {}),
        ("esm2-plain", {"token_dropout": False}),
        ("esm1b", {"position_embedding_type": "absolute", "emb_layer_norm_before": True}),
        ("esm1-absolute", {"position_embedding_type": "absolute", "token_dropout": False}),
    ):
        tables = Tables(name)
        made = config(**keys)
        word, position = tables.normal(V, D), tables.normal(L, D)
        weight, bias = random_norm(tables)
        learned, normed = made["position_embedding_type"] == "absolute", made["emb_layer_norm_before"]
        tensors = {
            "esm.embeddings.word_embeddings.weight": word,
            "esm.embeddings.position_ids": Tensor("I64", np.arange(L).reshape(1, L)),
            "esm.encoder.emb_layer_norm_after.weight": tables.normal(D),
            "esm.encoder.emb_layer_norm_after.bias": tables.normal(D),
        }
        if learned:
            tensors["esm.embeddings.position_embeddings.weight"] = position
        if normed:
            tensors["esm.embeddings.layer_norm.weight"], tensors["esm.embeddings.layer_norm.bias"] = weight, bias
        stage = Esm(
            word.values,
            position.values if learned else None,
            norm=Norm(weight.values, bias.values, 1e-05) if normed else None,
            pad=1,
            token_dropout=made["token_dropout"],
            mask_token=32,
        )
        yield Checkpoint(
            name,
            "esm",
            made,
            tensors,
            stage,
            context=L - 2 if learned else None,
            rotation=None if learned else Rotation(D // 3, D // 3),
            may_be_refused="token_dropout" if made["token_dropout"] else None,
        )


def _debertas():
    def config(model_type, **more):
        return bert_config(
            model_type,
            **{
                "layer_norm_eps": 1e-07,
                "max_relative_positions": -1,
                "pos_att_type": "c2p|p2c",
                "position_biased_input": False,
                "relative_attention": True,
                "type_vocab_size": 0,
                **more,
            },
        )

    for name, model_type, keys in (
        ("deberta-base", "deberta", {}),
        ("deberta-v3-base", "deberta-v2", {"position_buckets": 4, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
        ("deberta-biased-typed", "deberta-v2", {"position_biased_input": True, "type_vocab_size": 2}),
        ("deberta-biased-absent", "deberta", {"position_biased_input": None}),
    ):
        tables = Tables(name)
        made = config(model_type, **keys)
        types = made["type_vocab_size"]
        word, position = tables.normal(V, D, mean=APART if types else 0), tables.normal(L, D)
        kind = tables.normal(2, D, mean=-APART)
        weight, bias = random_norm(tables)
        learned = made.get("position_biased_input", True)
        base = "deberta.embeddings."
        tensors = {
            base + "word_embeddings.weight": word,
            base + "LayerNorm.weight": weight,
            base + "LayerNorm.bias": bias,
            "deberta.encoder.LayerNorm.weight": tables.normal(D),
            "deberta.encoder.rel_embeddings.weight": tables.normal(8, D),
        }
        if learned:
            tensors[base + "position_embeddings.weight"] = position
        if types:
            tensors[base + "token_type_embeddings.weight"] = kind
        stage = Deberta(
            word.values,
            position.values if learned else None,
            norm=Norm(weight.values, bias.values, 1e-07),
            types=kind.values if types else None,
        )
        yield Checkpoint(
            name, model_type, made, tensors, stage, context=L if learned else None, types=types or None
        )


def _modernberts():
    for name, prefix, keys in (
        ("modernbert-base", "model.", {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0, "norm_bias": False}),
        ("modernbert-bias", "", {"norm_bias": True}),
        (
            "modernbert-v5",
            "model.",
            {
                "rope_parameters": {
                    "full_attention": {"rope_theta": 80000.0, "rope_type": "default"},
                    "sliding_attention": {"rope_theta": 20000.0, "rope_type": "default"},
                },
                "layer_types": ["full_attention", "sliding_attention"],
            },
        ),
    ):
        tables = Tables(name)
        word = tables.normal(V, D)
        weight, bias = random_norm(tables)
        config = {
            "architectures": ["ModernBertForMaskedLM"],
            "global_attn_every_n_layers": 3,
            "hidden_size": D,
            "intermediate_size": 36,
            "layer_norm_eps": 1e-12,
            "local_attention": 8,
            "max_position_embeddings": 64,
            "model_type": "modernbert",
            "norm_eps": 1e-05,
            "num_attention_heads": 3,
            "num_hidden_layers": 2,
            "pad_token_id": 3,
            "position_embedding_type": "absolute",
            "vocab_size": V,
            **keys,
        }
        base = prefix + "embeddings."
        tensors = {
            base + "tok_embeddings.weight": word,
            base + "norm.weight": weight,
            prefix + "final_norm.weight": tables.normal(D),
        }
        if config.get("norm_bias"):
            tensors[base + "norm.bias"] = bias
        stage = Rotary(word.values, norm=Norm(weight.values, bias.values if config.get("norm_bias") else None, 1e-05))
        full, sliding = (80000.0, 20000.0) if "rope_parameters" in config else (160000.0, 10000.0)
        yield Checkpoint(
            name,
            "modernbert",
            config,
            tensors,
            stage,
            rotation=Rotation(8, 8, full),
            layer_rotations={
                "full_attention": Rotation(8, 8, full),
                "sliding_attention": Rotation(8, 8, sliding),
            },
        )


def checkpoints():
    for family in (_esms, _debertas, _modernberts):
        yield from family()
