"""What folders of families with rotary encoding, or ALiBi, in their layers have in common."""

from architectures.checkpoint import Checkpoint, Tables
from architectures.oracle import Rotary

V, D, HEADS, L = 37, 40, 5, 64
HEAD = D // HEADS
DROP = object()  # the value of a key that a config has not


def rotary_config(model_type, **more):
    config = {
        "architectures": [model_type],
        "attention_bias": False,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "hidden_size": D,
        "initializer_range": 0.02,
        "intermediate_size": 3 * D,
        "max_position_embeddings": L,
        "model_type": model_type,
        "num_attention_heads": HEADS,
        "num_hidden_layers": 2,
        "num_key_value_heads": 1,
        "rms_norm_eps": 1e-05,
        "vocab_size": V,
    }
    config.update(more)
    return {key: value for key, value in config.items() if value is not DROP}


def rotary_folder(
    name,
    config,
    rotation,
    *,
    token="model.embed_tokens.weight",
    head="lm_head.weight",
    scale=None,
    stage_class=Rotary,
    dtype="BF16",
    family=None,
    tied_head=False,
    others=None,
    **more,
):
    """A folder with a token table, an output layer of its own where `head` names one, a final norm, and `others`."""
    tables = Tables(name, dtype)
    word, other = tables.normal(V, D), tables.normal(V, D)
    config["torch_dtype"] = tables.torch_dtype
    tensors = {} if tied_head else {token: word}
    if head:
        tensors[head] = word if tied_head else other
    tensors["model.norm.weight"] = tables.normal(D)
    tensors.update(others or {})
    factor = 1.0 if scale is None else scale(tables)
    stage = stage_class(word.values, scale=factor)
    return Checkpoint(name, family or config["model_type"], config, tensors, stage, rotation=rotation, **more)
