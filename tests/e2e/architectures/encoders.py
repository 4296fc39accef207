"""Folders of BERT's relatives: learned positions, token types, LayerNorm after the sum."""

import numpy as np

from architectures.checkpoint import Checkpoint, Tables, Tensor, root
from architectures.oracle import (
    Bert,
    BertWithoutPositions,
    Deberta,
    Esm,
    Longformer,
    MPNet,
    Norm,
    Positioned,
    Roberta,
    Stage,
)
from architectures.rotary_oracle import Rotation

V, D, L = 37, 24, 16


def _norm(tables, dim=D):
    return tables.normal(dim, mean=1.0, std=0.2), tables.normal(dim, std=0.2)


def _bert_config(model_type, dim=D, **more):
    config = {
        "architectures": [model_type],
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": dim,
        "initializer_range": 0.02,
        "intermediate_size": 4 * dim,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": L,
        "model_type": model_type,
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "vocab_size": V,
    }
    config.update(more)
    return {key: value for key, value in config.items() if value is not None}


def _bert_like(name, family, config, stage_class=Bert, *, prefix, dim=D, types=2, rows=L, context=L, dtype="F32", **more):
    """A folder with word, position and type tables under `prefix`, and LayerNorm."""
    tables = Tables(name, dtype)
    old_names = more.pop("old_names", False)
    scale = more.pop("scale", 1.0)
    others = more.pop("others", {})
    word, position, kind = tables.normal(V, dim), tables.normal(rows, dim), tables.normal(max(types, 1), dim)
    weight, bias = _norm(tables, dim)
    base = prefix + "embeddings."
    tensors = {
        base + "word_embeddings.weight": word,
        base + "position_embeddings.weight": position,
        base + ("LayerNorm.gamma" if old_names else "LayerNorm.weight"): weight,
        base + ("LayerNorm.beta" if old_names else "LayerNorm.bias"): bias,
        prefix + "encoder.layer.0.attention.output.LayerNorm.weight": tables.normal(dim),
        prefix + "pooler.dense.weight": tables.normal(dim, dim),
    }
    if types:
        tensors[base + "token_type_embeddings.weight"] = kind
    tensors.update(others)
    stage = stage_class(
        word.values,
        position.values,
        scale=scale,
        norm=Norm(weight.values, bias.values, config.get("layer_norm_eps", 1e-12)),
        types=kind.values if types else None,
        pad=config.get("pad_token_id", more.pop("default_pad", None)),
    )
    return Checkpoint(name, family, config, tensors, stage, context=context, types=types or None, **more)


def _berts():
    position_ids = {"bert.embeddings.position_ids": Tensor("I64", np.arange(L).reshape(1, L))}
    yield _bert_like(
        "bert-base-uncased",
        "bert",
        _bert_config("bert", position_embedding_type="absolute", gradient_checkpointing=False),
        prefix="bert.",
        old_names=True,
        others={"cls.predictions.bias": Tables("b").normal(V)},
    )
    yield _bert_like("bert-position-ids", "bert", _bert_config("bert"), prefix="bert.", others=position_ids)
    yield _bert_like(
        "bert-defaults",
        "bert",
        {"model_type": "bert", "hidden_size": D, "vocab_size": V, "max_position_embeddings": L},
        prefix="bert.",
        default_pad=0,
    )
    yield _bert_like(
        "bert-sentence-transformers",
        "bert",
        _bert_config("bert"),
        prefix="",
        other_files={"modules.json": '[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]'},
    )
    yield _bert_like(
        "bert-sentence-transformers-inner",
        "bert",
        _bert_config("bert", type_vocab_size=3),
        prefix="",
        types=3,
        dtype="F16",
        under="0_Transformer",
        other_files={
            "modules.json": '[{"idx": 0, "name": "0", "path": "0_Transformer",'
            ' "type": "sentence_transformers.models.Transformer"}]'
        },
    )
    yield _relative_bert()
    yield _bert_like(
        "electra-small",
        "electra",
        _bert_config("electra", dim=40, embedding_size=D, summary_type="first", summary_use_proj=True),
        prefix="electra.",
        others={"electra.embeddings_project.weight": Tables("e").normal(40, D)},
    )
    yield _bert_like(
        "albert-base-v2",
        "albert",
        _bert_config("albert", dim=48, embedding_size=D, num_hidden_groups=1, inner_group_num=1, bos_token_id=2),
        prefix="albert.",
    )
    yield _bert_like(
        "bigbird-roberta-base",
        "big_bird",
        _bert_config("big_bird", attention_type="block_sparse", block_size=4, rescale_embeddings=False, use_bias=True),
        prefix="bert.",
    )
    yield _bert_like(
        "bigbird-rescaled",
        "big_bird",
        _bert_config("big_bird", rescale_embeddings=True),
        prefix="bert.",
        scale=root(D),
    )


def _relative_bert():
    made = _bert_like(
        "bert-relative-key", "bert", _bert_config("bert", position_embedding_type="relative_key"), prefix="bert."
    )
    stage = made.stage
    made.stage = BertWithoutPositions(stage.token, None, norm=stage.norm, types=stage.types)
    made.context = None
    return made


def _robertas():
    def config(model_type, **more):
        return _bert_config(
            model_type, **{"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "layer_norm_eps": 1e-05, "type_vocab_size": 1, **more}
        )

    yield _bert_like("roberta-base", "roberta", config("roberta"), Roberta, prefix="roberta.", types=1, context=L - 2)
    yield _bert_like(
        "roberta-defaults",
        "roberta",
        {"model_type": "roberta", "hidden_size": D, "vocab_size": V, "max_position_embeddings": L},
        Roberta,
        prefix="",
        context=L - 2,
        default_pad=1,
    )
    yield _bert_like(
        "japanese-roberta",
        "roberta",
        config("roberta", pad_token_id=3, layer_norm_eps=1e-12),
        Roberta,
        prefix="roberta.",
        types=1,
        context=L - 4,
    )
    yield _bert_like(
        "xlm-roberta-base", "xlm-roberta", config("xlm-roberta"), Roberta, prefix="roberta.", types=1, context=L - 2
    )
    yield _bert_like("camembert-base", "camembert", config("camembert"), Roberta, prefix="roberta.", types=1, context=L - 2)
    yield _bert_like(
        "longformer-base-4096",
        "longformer",
        config("longformer", attention_window=[4, 4], sep_token_id=2),
        Longformer,
        prefix="longformer.",
        types=1,
        context=L - 2,
    )
    mpnet = _bert_like(
        "all-mpnet-base-v2",
        "mpnet",
        config("mpnet", type_vocab_size=None, relative_attention_num_buckets=32),
        MPNet,
        prefix="",
        types=0,
        context=L - 2,
    )
    yield mpnet


def _distilberts():
    for name, prefix, dtype in (("distilbert-base", "distilbert.", "F32"), ("distilbert-bf16", "", "BF16")):
        config = {
            "activation": "gelu",
            "architectures": ["DistilBertForMaskedLM"],
            "attention_dropout": 0.1,
            "dim": D,
            "hidden_dim": 4 * D,
            "max_position_embeddings": L,
            "model_type": "distilbert",
            "n_heads": 3,
            "n_layers": 2,
            "pad_token_id": 0,
            "sinusoidal_pos_embds": name == "distilbert-base",
            "tie_weights_": True,
            "vocab_size": V,
        }
        made = _bert_like(
            name, "distilbert", config, Positioned, prefix=prefix, types=0, dtype=dtype
        )
        yield made


def _esms():
    def config(**more):
        return _bert_config(
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
        weight, bias = _norm(tables)
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
        return _bert_config(
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
        word, position, kind = tables.normal(V, D), tables.normal(L, D), tables.normal(2, D)
        weight, bias = _norm(tables)
        learned, types = made.get("position_biased_input", True), made["type_vocab_size"]
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
        weight, bias = _norm(tables)
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
        stage = Stage(word.values, norm=Norm(weight.values, bias.values if config.get("norm_bias") else None, 1e-05))
        stage.encoding = "ROTARY"
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
    for family in (_berts, _robertas, _distilberts, _esms, _debertas, _modernberts):
        yield from family()
