"""Folders of BERT's relatives: learned positions, token types, LayerNorm after the sum."""

import json

import numpy as np

from architectures.checkpoint import Checkpoint, Tables, Tensor, root
from architectures.expected import Norm
from architectures.oracle import Bert, BertWithoutPositions, Longformer, MPNet, Positioned, Roberta

V, D, L = 37, 24, 16
# Word rows lie this much above 0 and type rows below it: what is added first then shows after LayerNorm, too.
APART = 256.0


def random_norm(tables, dim=D):
    return tables.normal(dim, mean=1.0, std=0.2), tables.normal(dim, std=0.2)


def bert_config(model_type, dim=D, **more):
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


def _bert_like(
    name,
    family,
    config,
    stage_class=Bert,
    *,
    prefix,
    dim=D,
    types=2,
    rows=L,
    context=L,
    dtype="F32",
    **more,
):
    """A folder with word, position and type tables under `prefix`, and LayerNorm."""
    tables = Tables(name, dtype)
    old_names = more.pop("old_names", False)
    scale = more.pop("scale", 1.0)
    others = more.pop("others", {})
    word, position = tables.normal(V, dim, mean=APART if types else 0), tables.normal(rows, dim)
    kind = tables.normal(max(types, 1), dim, mean=-APART * scale)
    weight, bias = random_norm(tables, dim)
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


def _modules(path):
    """modules.json of a sentence-transformers folder."""
    kind = "sentence_transformers.models."
    return json.dumps(
        [
            {"idx": 0, "name": "0", "path": path, "type": kind + "Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": kind + "Pooling"},
        ]
    )


def _berts():
    position_ids = {"bert.embeddings.position_ids": Tensor("I64", np.arange(L).reshape(1, L))}
    yield _bert_like(
        "bert-base-uncased",
        "bert",
        bert_config("bert", position_embedding_type="absolute", gradient_checkpointing=False),
        prefix="bert.",
        old_names=True,
        others={"cls.predictions.bias": Tables("b").normal(V)},
    )
    yield _bert_like("bert-position-ids", "bert", bert_config("bert"), prefix="bert.", others=position_ids)
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
        bert_config("bert"),
        prefix="",
        other_files={"modules.json": _modules("")},
    )
    yield _bert_like(
        "bert-sentence-transformers-inner",
        "bert",
        bert_config("bert", type_vocab_size=3),
        prefix="",
        types=3,
        dtype="F16",
        under="0_Transformer",
        other_files={"modules.json": _modules("0_Transformer")},
    )
    yield _relative_bert()
    yield _bert_like(
        "electra-small",
        "electra",
        bert_config("electra", dim=40, embedding_size=D, summary_type="first", summary_use_proj=True),
        prefix="electra.",
        others={"electra.embeddings_project.weight": Tables("e").normal(40, D)},
    )
    yield _bert_like(
        "albert-base-v2",
        "albert",
        bert_config("albert", dim=48, embedding_size=D, num_hidden_groups=1, inner_group_num=1, bos_token_id=2),
        prefix="albert.",
    )
    yield _bert_like(
        "bigbird-roberta-base",
        "big_bird",
        bert_config("big_bird", attention_type="block_sparse", block_size=4, rescale_embeddings=False, use_bias=True),
        prefix="bert.",
    )
    yield _bert_like(
        "bigbird-rescaled",
        "big_bird",
        bert_config("big_bird", rescale_embeddings=True),
        prefix="bert.",
        scale=root(D),
    )


def _relative_bert():
    made = _bert_like(
        "bert-relative-key", "bert", bert_config("bert", position_embedding_type="relative_key"), prefix="bert."
    )
    stage = made.stage
    made.stage = BertWithoutPositions(stage.token, None, norm=stage.norm, types=stage.types)
    made.context = None
    return made


def _robertas():
    def config(model_type, **more):
        known = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "layer_norm_eps": 1e-05, "type_vocab_size": 1}
        return bert_config(model_type, **{**known, **more})

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
    yield _bert_like(
        "camembert-base", "camembert", config("camembert"), Roberta, prefix="roberta.", types=1, context=L - 2
    )
    yield _bert_like(
        "longformer-base-4096",
        "longformer",
        config("longformer", attention_window=[4, 4], sep_token_id=2),
        Longformer,
        prefix="longformer.",
        types=1,
        context=L - 2,
    )
    yield _bert_like(
        "all-mpnet-base-v2",
        "mpnet",
        config("mpnet", type_vocab_size=None, relative_attention_num_buckets=32),
        MPNet,
        prefix="",
        types=0,
        context=L - 2,
    )


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
        yield _bert_like(name, "distilbert", config, Positioned, prefix=prefix, types=0, dtype=dtype)


def checkpoints():
    for family in (_berts, _robertas, _distilberts):
        yield from family()
