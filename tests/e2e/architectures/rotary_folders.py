"""Folders of families with rotary encoding, or ALiBi, in their layers: the token row alone at the input."""

import numpy as np

from architectures.checkpoint import Checkpoint, Tables, Tensor, root
from architectures.oracle import Rotary, Stage, TokenTypedRotary
from architectures.rotary_oracle import HALF, INTERLEAVED, Rotation

V, D, HEADS, L = 37, 40, 5, 64
HEAD = D // HEADS


def _config(model_type, **more):
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


DROP = object()


def _folder(
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


def _llamas():
    plain = Rotation(HEAD, HEAD)
    yield _folder("llama-2-7b", _config("llama", rope_scaling=None, rope_theta=10000.0, tie_word_embeddings=False), plain)
    yield _folder("llama-defaults", _config("llama", num_key_value_heads=DROP), plain, dtype="F16")
    yield _folder("yi-6b", _config("llama", rope_theta=5000000.0), Rotation(HEAD, HEAD, 5e6), dtype="F32")
    yield _folder(
        "llama-tied-head", _config("llama", rope_theta=500000.0, tie_word_embeddings=True), Rotation(HEAD, HEAD, 5e5), tied_head=True
    )
    llama3 = {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 32}
    yield _folder(
        "llama-3.1-8b",
        _config("llama", rope_scaling={**llama3, "rope_type": "llama3"}, rope_theta=500000.0, head_dim=8),
        Rotation(8, 8, 5e5, scaling={**llama3, "type": "llama3"}),
        head=None,
        shards={
            "lm_head.weight": "model-00004-of-00004.safetensors",
            "model.embed_tokens.weight": "model-00001-of-00004.safetensors",
            "model.layers.0.mlp.up_proj.weight": "model-00002-of-00004.safetensors",
        },
    )
    yield _folder(
        "llama-linear-old", _config("llama", rope_scaling={"type": "linear", "factor": 4.0}), Rotation(HEAD, HEAD, scaling={"type": "linear", "factor": 4.0})
    )
    yield _folder(
        "llama-dynamic-old",
        _config("llama", rope_scaling={"type": "dynamic", "factor": 2.0}),
        Rotation(HEAD, HEAD, scaling={"type": "dynamic", "factor": 2.0, "max_position_embeddings": L}),
    )
    yield _folder(
        "llama-both-keys",
        _config("llama", rope_scaling={"type": "linear", "rope_type": "linear", "factor": 2.0}),
        Rotation(HEAD, HEAD, scaling={"type": "linear", "factor": 2.0}),
    )
    yield _folder(
        "llama-v5",
        _config("llama", rope_parameters={**llama3, "rope_theta": 500000.0, "rope_type": "llama3"}),
        Rotation(HEAD, HEAD, 5e5, scaling={**llama3, "type": "llama3"}),
    )
    yield _folder("mistral-7b", _config("mistral", rope_theta=10000.0, sliding_window=32), plain)
    yield _folder(
        "mistral-nemo", _config("mistral", head_dim=6, rope_theta=1000000.0, sliding_window=None), Rotation(6, 6, 1e6)
    )
    yield _folder("mistral-null-head-dim", _config("mistral", head_dim=None, rope_theta=1000000.0), Rotation(HEAD, HEAD, 1e6))
    yield _folder("mixtral-8x7b", _config("mixtral", rope_theta=1000000.0, num_local_experts=2), Rotation(HEAD, HEAD, 1e6))
    yield _folder("mixtral-defaults", _config("mixtral"), Rotation(HEAD, HEAD, 1e6))
    yield from _qwens()
    yield _folder(
        "olmo-1b",
        _config("olmo", clip_qkv=None, rope_scaling=None, rope_theta=10000.0, pad_token_id=1, tie_word_embeddings=True),
        plain,
        dtype="F32",
        head=None,
    )


def _qwens():
    yield _folder(
        "qwen2.5-0.5b", _config("qwen2", rope_theta=1000000.0, tie_word_embeddings=True), Rotation(HEAD, HEAD, 1e6), head=None
    )
    yarn = {"factor": 4.0, "original_max_position_embeddings": 16}
    yield _folder(
        "qwen2.5-yarn",
        _config("qwen2", rope_theta=1000000.0, rope_scaling={"type": "yarn", **yarn}),
        Rotation(HEAD, HEAD, 1e6, scaling={"type": "yarn", **yarn}),
    )
    yield _folder(
        "qwen3-0.6b", _config("qwen3", head_dim=16, rope_theta=1000000.0, tie_word_embeddings=True), Rotation(16, 16, 1e6), tied_head=True
    )
    yield _folder("qwen3-defaults", _config("qwen3"), Rotation(128, 128))
    yield _folder(
        "qwen-7b",
        _config(
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


def _scaled():
    plain = Rotation(HEAD, HEAD)
    yield _folder(
        "granite-3.0-2b",
        _config("granite", embedding_multiplier=12.0, logits_scaling=8.0, rope_theta=10000.0, tie_word_embeddings=True),
        plain,
        scale=lambda _: 12.0,
        head=None,
    )
    yield _folder(
        "granite-odd-multiplier",
        _config("granite", embedding_multiplier=0.3),
        plain,
        scale=lambda _: 0.3,
    )
    yield _folder(
        "minicpm-2b",
        _config("minicpm", scale_emb=12, scale_depth=1.4, dim_model_base=8),
        plain,
        scale=lambda _: 12.0,
        head=None,
    )

    def sqrt_in_weight_dtype(tables):
        return tables.rounded(root(D))

    for name, dtype in (("gemma-2b", "BF16"), ("gemma-f32", "F32"), ("gemma-f16", "F16")):
        yield _folder(
            name,
            _config("gemma", head_dim=16, hidden_act="gelu", rope_theta=10000.0, rope_scaling=None),
            Rotation(16, 16),
            scale=sqrt_in_weight_dtype,
            dtype=dtype,
            head=None,
        )
    yield _folder(
        "gemma-defaults", _config("gemma"), Rotation(256, 256), scale=sqrt_in_weight_dtype, head="lm_head.weight", tied_head=True
    )
    yield _folder(
        "gemma-2-2b",
        _config("gemma2", head_dim=16, attn_logit_softcapping=50.0, query_pre_attn_scalar=16, rope_theta=10000.0, sliding_window=32),
        Rotation(16, 16),
        scale=sqrt_in_weight_dtype,
        head=None,
    )
    yield from _gemma3s(sqrt_in_weight_dtype)


def _gemma3s(scale):
    linear = {"type": "linear", "factor": 8.0}
    sliding = Rotation(16, 16, 10000.0)
    text = {
        "head_dim": 16,
        "query_pre_attn_scalar": 16,
        "rope_local_base_freq": 10000.0,
        "rope_theta": 1000000.0,
        "sliding_window": 32,
        "sliding_window_pattern": 6,
    }
    plain = Rotation(16, 16, 1e6)
    scaled = Rotation(16, 16, 1e6, scaling=linear)
    yield _folder(
        "gemma-3-1b",
        _config("gemma3_text", rope_scaling=None, **text),
        plain,
        scale=scale,
        head=None,
        layer_rotations={"full_attention": plain, "sliding_attention": sliding},
    )
    for name, token in (
        ("gemma-3-4b", "language_model.model.embed_tokens.weight"),
        ("gemma-3-4b-v4.52", "model.language_model.embed_tokens.weight"),
    ):
        inner = _config("gemma3_text", rope_scaling={"factor": 8.0, "rope_type": "linear"}, **text)
        config = {
            "architectures": ["Gemma3ForConditionalGeneration"],
            "boi_token_index": 35,
            "eoi_token_index": 36,
            "image_token_index": 34,
            "initializer_range": 0.02,
            "mm_tokens_per_image": 4,
            "model_type": "gemma3",
            "text_config": inner,
            "vision_config": {"hidden_size": 32, "image_size": 16, "model_type": "siglip_vision_model", "patch_size": 4},
        }
        yield _folder(
            name,
            config,
            scaled,
            token=token,
            scale=scale,
            head=None,
            layer_rotations={"full_attention": scaled, "sliding_attention": sliding},
        )
    yield _folder(
        "gemma-3-v5",
        _config(
            "gemma3_text",
            head_dim=16,
            layer_types=["sliding_attention", "full_attention"],
            rope_parameters={
                "full_attention": {"factor": 8.0, "rope_theta": 1000000.0, "rope_type": "linear"},
                "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"},
            },
        ),
        scaled,
        scale=scale,
        head=None,
        layer_rotations={"full_attention": scaled, "sliding_attention": sliding},
    )


def _partial():
    """Families that turn a part of each head."""
    yield _folder(
        "phi-2",
        _config("phi", partial_rotary_factor=0.4, hidden_size=D, num_attention_heads=2, rope_theta=10000.0, qk_layernorm=False),
        Rotation(20, 8),
        dtype="F16",
    )
    yield _folder("phi-1.5", _config("phi", rope_scaling=None), Rotation(HEAD, HEAD // 2), dtype="F16")
    short, long = [1.0, 1.1, 1.5, 2.0], [1.5, 2.5, 8.0, 16.0]
    longrope = {"short_factor": short, "long_factor": long}
    expected = {"type": "longrope", **longrope, "original_max_position_embeddings": 16, "max_position_embeddings": L}
    for name, word in (("phi-3-mini-128k", "longrope"), ("phi-3-mini-su", "su")):
        yield _folder(
            name,
            _config("phi3", original_max_position_embeddings=16, rope_scaling={**longrope, "type": word}, sliding_window=32),
            Rotation(HEAD, HEAD, scaling=expected),
        )
    yield _folder(
        "phi-3-mini-4k", _config("phi3", original_max_position_embeddings=L, rope_scaling=None), Rotation(HEAD, HEAD)
    )
    yield _folder(
        "phi-4-mini",
        _config(
            "phi3",
            partial_rotary_factor=0.75,
            original_max_position_embeddings=16,
            rope_scaling={"short_factor": [1.0, 1.0, 1.0], "long_factor": [1.0, 2.0, 4.0], "type": "longrope"},
            tie_word_embeddings=True,
        ),
        Rotation(
            HEAD,
            6,
            scaling={
                "type": "longrope",
                "short_factor": [1.0, 1.0, 1.0],
                "long_factor": [1.0, 2.0, 4.0],
                "original_max_position_embeddings": 16,
                "max_position_embeddings": L,
            },
        ),
        head=None,
    )
    neox = {"use_parallel_residual": True, "tie_word_embeddings": False}
    for name, keys, rotation in (
        ("pythia-70m", {"rotary_pct": 0.25, "rotary_emb_base": 10000}, Rotation(HEAD, 2)),
        ("neox-base", {"rotary_pct": 0.5, "rotary_emb_base": 25000}, Rotation(HEAD, 4, 25000.0)),
        ("neox-defaults", {}, Rotation(HEAD, 2)),
    ):
        yield _folder(
            name,
            _config("gpt_neox", **neox, **keys),
            rotation,
            token="gpt_neox.embed_in.weight",
            head="embed_out.weight",
            dtype="F16",
        )
    yield _folder("stablelm-3b", _config("stablelm", partial_rotary_factor=0.25, rope_theta=10000), Rotation(HEAD, 2))
    yield _folder("stablelm-defaults", _config("stablelm"), Rotation(HEAD, 2))
    yield _folder("nemotron-4b", _config("nemotron", partial_rotary_factor=0.5, head_dim=16, norm_eps=1e-05), Rotation(16, 8))
    yield _folder("nemotron-defaults", _config("nemotron"), Rotation(HEAD, 4))


def _interleaved():
    def gptj(model_type, **more):
        return {
            "activation_function": "gelu_new",
            "architectures": ["GPTJForCausalLM"],
            "layer_norm_epsilon": 1e-05,
            "model_type": model_type,
            "n_embd": D,
            "n_head": HEADS,
            "n_inner": None,
            "n_layer": 2,
            "n_positions": L,
            "rotary": True,
            "rotary_dim": 4,
            "tie_word_embeddings": False,
            "vocab_size": V,
            **more,
        }

    for name, model_type in (("gpt-j-6b", "gptj"), ("codegen-350m", "codegen")):
        yield _folder(
            name,
            gptj(model_type),
            Rotation(HEAD, 4, pairing=INTERLEAVED),
            token="transformer.wte.weight",
            stage_class=TokenTypedRotary,
            types=V,
            dtype="F16",
        )
    yield _folder(
        "command-r",
        _config("cohere", rope_theta=8000000.0, logit_scale=0.0625, use_qk_norm=False, layer_norm_eps=1e-05),
        Rotation(HEAD, HEAD, 8e6, INTERLEAVED),
        head=None,
        dtype="F16",
    )
    yield _folder(
        "glm-4-9b-hf",
        _config("glm", head_dim=8, partial_rotary_factor=0.5, rope_theta=10000.0),
        Rotation(8, 4, pairing=INTERLEAVED),
    )
    yield _folder("glm-defaults", _config("glm"), Rotation(128, 64, pairing=INTERLEAVED))
    yield _folder(
        "chatglm3-6b",
        _config(
            "chatglm",
            kv_channels=8,
            max_position_embeddings=DROP,
            num_layers=2,
            padded_vocab_size=V,
            rmsnorm=True,
            seq_length=L,
            rope_ratio=1,
            tie_word_embeddings=False,
        ),
        Rotation(8, 4, pairing=INTERLEAVED),
        token="transformer.embedding.word_embeddings.weight",
        head="transformer.output_layer.weight",
        dtype="F16",
    )
    yarn = {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4,
    }
    latent = {"kv_lora_rank": 8, "q_lora_rank": None, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8}
    for name, model_type, mscale in (("deepseek-v2-lite", "deepseek_v2", 0.707), ("deepseek-v3", "deepseek_v3", 1.0)):
        scaling = {**yarn, "mscale": mscale, "mscale_all_dim": mscale}
        yield _folder(
            name,
            _config(
                model_type, max_position_embeddings=160, rope_theta=10000, rope_scaling={**scaling, "type": "yarn"}, **latent
            ),
            Rotation(4, 4, pairing=INTERLEAVED, scaling={**scaling, "type": "yarn"}),
            others={
                "model.layers.0.mlp.up_proj.weight": Tensor("F8_E4M3", np.zeros((4, 4), np.uint8)),
                "model.layers.0.mlp.up_proj.weight_scale_inv": Tensor("U16", np.zeros((1, 1), np.uint16)),
            },
        )


def _others():
    dynamic = {"type": "dynamic", "factor": 2.0}
    yield _folder(
        "internlm2-7b",
        _config("internlm2", rope_scaling=dynamic, rope_theta=1000000, bias=False),
        Rotation(HEAD, HEAD, 1e6, scaling={**dynamic, "max_position_embeddings": L}),
        token="model.tok_embeddings.weight",
        head="output.weight",
    )
    falcon = {
        "alibi": False,
        "bias": False,
        "layer_norm_epsilon": 1e-05,
        "multi_query": True,
        "new_decoder_architecture": False,
        "parallel_attn": True,
        "num_key_value_heads": DROP,
        "max_position_embeddings": DROP,
    }
    yield _folder("falcon-7b", _config("falcon", **falcon), Rotation(HEAD, HEAD), token="transformer.word_embeddings.weight")
    yield _folder(
        "falcon-rw-1b",
        _config("falcon", **{**falcon, "alibi": True}),
        None,
        token="transformer.word_embeddings.weight",
        stage_class=Stage,
        head=None,
    )


def checkpoints():
    for family in (_llamas, _scaled, _partial, _interleaved, _others):
        yield from family()
