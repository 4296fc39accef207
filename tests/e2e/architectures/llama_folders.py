"""Folders of Llama's relatives: whole heads turned, half and half."""

from architectures.rotary_folder import DROP, HEAD, L, rotary_config, rotary_folder
from architectures.rotary_oracle import Rotation


def _llamas():
    plain = Rotation(HEAD, HEAD)
    yield rotary_folder(
        "llama-2-7b", rotary_config("llama", rope_scaling=None, rope_theta=10000.0, tie_word_embeddings=False), plain
    )
    yield rotary_folder("llama-defaults", rotary_config("llama", num_key_value_heads=DROP), plain, dtype="F16")
    yield rotary_folder("yi-6b", rotary_config("llama", rope_theta=5000000.0), Rotation(HEAD, HEAD, 5e6), dtype="F32")
    yield rotary_folder(
        "llama-tied-head",
        rotary_config("llama", rope_theta=500000.0, tie_word_embeddings=True),
        Rotation(HEAD, HEAD, 5e5),
        tied_head=True,
    )
    llama3 = {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 32}
    yield rotary_folder(
        "llama-3.1-8b",
        rotary_config("llama", rope_scaling={**llama3, "rope_type": "llama3"}, rope_theta=500000.0, head_dim=8),
        Rotation(8, 8, 5e5, scaling={**llama3, "type": "llama3"}),
        head=None,
        shards={
            "lm_head.weight": "model-00004-of-00004.safetensors",
            "model.embed_tokens.weight": "model-00001-of-00004.safetensors",
            "model.layers.0.mlp.up_proj.weight": "model-00002-of-00004.safetensors",
        },
    )
    yield rotary_folder(
        "llama-linear-old",
        rotary_config("llama", rope_scaling={"type": "linear", "factor": 4.0}),
        Rotation(HEAD, HEAD, scaling={"type": "linear", "factor": 4.0}),
    )
    yield rotary_folder(
        "llama-dynamic-old",
        rotary_config("llama", rope_scaling={"type": "dynamic", "factor": 2.0}),
        Rotation(HEAD, HEAD, scaling={"type": "dynamic", "factor": 2.0, "max_position_embeddings": L}),
    )
    yield rotary_folder(
        "llama-both-keys",
        rotary_config("llama", rope_scaling={"type": "linear", "rope_type": "linear", "factor": 2.0}),
        Rotation(HEAD, HEAD, scaling={"type": "linear", "factor": 2.0}),
    )
    yield rotary_folder(
        "llama-v5",
        rotary_config("llama", rope_parameters={**llama3, "rope_theta": 500000.0, "rope_type": "llama3"}),
        Rotation(HEAD, HEAD, 5e5, scaling={**llama3, "type": "llama3"}),
    )
    yield rotary_folder("mistral-7b", rotary_config("mistral", rope_theta=10000.0, sliding_window=32), plain)
    yield rotary_folder(
        "mistral-nemo",
        rotary_config("mistral", head_dim=6, rope_theta=1000000.0, sliding_window=None),
        Rotation(6, 6, 1e6),
    )
    yield rotary_folder(
        "mistral-null-head-dim",
        rotary_config("mistral", head_dim=None, rope_theta=1000000.0),
        Rotation(HEAD, HEAD, 1e6),
    )
    yield rotary_folder(
        "mixtral-8x7b", rotary_config("mixtral", rope_theta=1000000.0, num_local_experts=2), Rotation(HEAD, HEAD, 1e6)
    )
    yield rotary_folder("mixtral-defaults", rotary_config("mixtral"), Rotation(HEAD, HEAD, 1e6))
    yield from _qwens()
    yield rotary_folder(
        "olmo-1b",
        rotary_config(
            "olmo", clip_qkv=None, rope_scaling=None, rope_theta=10000.0, pad_token_id=1, tie_word_embeddings=True
        ),
        plain,
        dtype="F32",
        head=None,
    )


def _qwens():
    yield rotary_folder(
        "qwen2.5-0.5b",
        rotary_config("qwen2", rope_theta=1000000.0, tie_word_embeddings=True),
        Rotation(HEAD, HEAD, 1e6),
        head=None,
    )
    yarn = {"factor": 4.0, "original_max_position_embeddings": 16}
    yield rotary_folder(
        "qwen2.5-yarn",
        rotary_config("qwen2", rope_theta=1000000.0, rope_scaling={"type": "yarn", **yarn}),
        Rotation(HEAD, HEAD, 1e6, scaling={"type": "yarn", **yarn}),
    )
    yield rotary_folder(
        "qwen3-0.6b",
        rotary_config("qwen3", head_dim=16, rope_theta=1000000.0, tie_word_embeddings=True),
        Rotation(16, 16, 1e6),
        tied_head=True,
    )
    yield rotary_folder("qwen3-defaults", rotary_config("qwen3"), Rotation(128, 128))
    yield rotary_folder(
        "qwen-7b",
        rotary_config(
            "qwen",
            kv_channels=8,
            max_position_embeddings=L,
            rotary_emb_base=10000,
            rotary_pct=1.0,
            seq_length=L,
            use_dynamic_ntk=False,
            tie_word_embeddings=False,
        ),
        Rotation(8, 8),
        token="transformer.wte.weight",
    )


def _others():
    dynamic = {"type": "dynamic", "factor": 2.0}
    yield rotary_folder(
        "internlm2-7b",
        rotary_config("internlm2", rope_scaling=dynamic, rope_theta=1000000, bias=False),
        Rotation(HEAD, HEAD, 1e6, scaling={**dynamic, "max_position_embeddings": L}),
        token="model.tok_embeddings.weight",
        head="output.weight",
    )


def checkpoints():
    for family in (_llamas, _others):
        yield from family()
