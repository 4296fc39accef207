"""Folders of decoders that add positions, or nothing at all, at the input: GPT-2 to BLOOM."""

import numpy as np

from architectures.checkpoint import Checkpoint, Tables, Tensor, root
from architectures.expected import Norm
from architectures.oracle import GPT2, Mpt, OpenAIGPT, Opt, Stage, Xglm
from architectures.sinusoids import tensor2tensor_table

V, D, L = 37, 24, 16


def _gpt2_config(model_type="gpt2", **more):
    return {
        "activation_function": "gelu_new",
        "architectures": ["GPT2LMHeadModel"],
        "attn_pdrop": 0.1,
        "bos_token_id": 36,
        "embd_pdrop": 0.1,
        "eos_token_id": 36,
        "initializer_range": 0.02,
        "layer_norm_epsilon": 1e-05,
        "model_type": model_type,
        "n_ctx": L,
        "n_embd": D,
        "n_head": 3,
        "n_layer": 2,
        "n_positions": L,
        "resid_pdrop": 0.1,
        "vocab_size": V,
        **more,
    }


def _gpt2s():
    for name, family, prefix, dtype in (
        ("gpt2", "gpt2", "", "F32"),
        ("distilgpt2", "gpt2", "transformer.", "F16"),
        ("gpt2-sharded", "gpt2", "transformer.", "BF16"),
        ("starcoderbase", "gpt_bigcode", "transformer.", "F32"),
        ("gpt-neo-125m", "gpt_neo", "transformer.", "F32"),
    ):
        tables = Tables(name, dtype)
        word, position = tables.normal(V, D), tables.normal(L, D)
        tensors = {
            prefix + "wte.weight": word,
            prefix + "wpe.weight": position,
            prefix + "h.0.attn.bias": Tensor("U8", np.tril(np.ones((1, 1, 4, 4), np.uint8))),
            prefix + "ln_f.weight": tables.normal(D),
            prefix + "ln_f.bias": tables.normal(D),
        }
        config = _gpt2_config(family)
        if family == "gpt_neo":
            for key in ("n_ctx", "n_embd", "n_head", "n_layer", "n_positions"):
                del config[key]
            config.update(
                hidden_size=D,
                max_position_embeddings=L,
                num_heads=3,
                num_layers=2,
                window_size=8,
                attention_types=[[["global", "local"], 1]],
            )
        shards = None
        if name == "gpt2-sharded":
            shards = {key: "model-00001-of-00003.safetensors" for key in tensors}
            shards[prefix + "wpe.weight"] = "model-00002-of-00003.safetensors"
            shards[prefix + "h.1.attn.c_attn.weight"] = "model-00003-of-00003.safetensors"
        yield Checkpoint(
            name, family, config, tensors, GPT2(word.values, position.values), context=L, types=V, shards=shards
        )
    yield _tied_gpt2()
    yield _openai_gpt()


def _tied_gpt2():
    """The token table under the output layer's name alone."""
    name = "gpt2-tied-head"
    tables = Tables(name)
    word, position = tables.normal(V, D), tables.normal(L, D)
    tensors = {"lm_head.weight": word, "transformer.wpe.weight": position}
    return Checkpoint(name, "gpt2", _gpt2_config(), tensors, GPT2(word.values, position.values), context=L, types=V)


def _openai_gpt():
    name = "openai-gpt"
    tables = Tables(name)
    word, position = tables.normal(V, D), tables.normal(L, D)
    tensors = {"tokens_embed.weight": word, "positions_embed.weight": position}
    config = _gpt2_config(name, afn="gelu", n_special=0, predict_special_tokens=True)
    return Checkpoint(name, name, config, tensors, OpenAIGPT(word.values, position.values), context=L, types=V)


def _opts():
    for name, prefix, dtype, keys in (
        ("opt-125m", "model.decoder.", "F16", {"word_embed_proj_dim": D}),
        ("opt-base", "decoder.", "F32", {}),
    ):
        tables = Tables(name, dtype)
        word, position = tables.normal(V, D), tables.normal(L + 2, D)
        config = {
            "activation_function": "relu",
            "architectures": ["OPTForCausalLM"],
            "do_layer_norm_before": True,
            "dropout": 0.1,
            "ffn_dim": 96,
            "hidden_size": D,
            "max_position_embeddings": L,
            "model_type": "opt",
            "num_attention_heads": 3,
            "num_hidden_layers": 2,
            "pad_token_id": 1,
            "prefix": "</s>",
            "torch_dtype": tables.torch_dtype,
            "vocab_size": V,
            **keys,
        }
        tensors = {
            prefix + "embed_tokens.weight": word,
            prefix + "embed_positions.weight": position,
            prefix + "final_layer_norm.weight": tables.normal(D),
            prefix + "final_layer_norm.bias": tables.normal(D),
        }
        yield Checkpoint(name, "opt", config, tensors, Opt(word.values, position.values), context=L)
    yield _biogpt()


def _biogpt():
    name = "biogpt"
    tables = Tables(name)
    word, position = tables.normal(V, D), tables.normal(L + 2, D)
    config = {
        "architectures": ["BioGptForCausalLM"],
        "bos_token_id": 0,
        "eos_token_id": 2,
        "hidden_act": "gelu",
        "hidden_size": D,
        "intermediate_size": 96,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": L,
        "model_type": "biogpt",
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "pad_token_id": 1,
        "scale_embedding": True,
        "vocab_size": V,
    }
    tensors = {
        "biogpt.embed_tokens.weight": word,
        "biogpt.embed_positions.weight": position,
        "biogpt.layer_norm.weight": tables.normal(D),
        "output_projection.weight": word,
    }
    return Checkpoint(name, "biogpt", config, tensors, Opt(word.values, position.values, scale=root(D)), context=L)


def _xglms():
    for name, keys in (("xglm-564m", {"scale_embedding": True}), ("xglm-defaults", {})):
        tables = Tables(name)
        word = tables.normal(V, D)
        config = {
            "activation_function": "gelu",
            "architectures": ["XGLMForCausalLM"],
            "attention_heads": 3,
            "bos_token_id": 0,
            "d_model": D,
            "decoder_start_token_id": 2,
            "eos_token_id": 2,
            "ffn_dim": 96,
            "max_position_embeddings": L,
            "model_type": "xglm",
            "num_layers": 2,
            "pad_token_id": 1,
            "vocab_size": V,
            **keys,
        }
        tensors = {"model.embed_tokens.weight": word, "model.layer_norm.weight": tables.normal(D)}
        table = tensor2tensor_table(L + 2, D, pad=1)
        yield Checkpoint(name, "xglm", config, tensors, Xglm(word.values, table, scale=root(D)), context=L)


def _blooms():
    for name, prefix, keys in (
        ("bloom-560m", "", {"n_embed": D}), ("bloom-prefixed", "transformer.", {"hidden_size": D})
    ):
        tables = Tables(name, "BF16")
        word, weight, bias = tables.normal(V, D), tables.normal(D, mean=1.0), tables.normal(D)
        config = {
            "apply_residual_connection_post_layernorm": False,
            "architectures": ["BloomForCausalLM"],
            "attention_softmax_in_fp32": True,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "layer_norm_epsilon": 1e-05,
            "model_type": "bloom",
            "n_head": 3,
            "n_inner": None,
            "n_layer": 2,
            "offset_alibi": 100,
            "pad_token_id": 3,
            "seq_length": L,
            "torch_dtype": "bfloat16",
            "vocab_size": V,
            **keys,
        }
        tensors = {
            prefix + "word_embeddings.weight": word,
            prefix + "word_embeddings_layernorm.weight": weight,
            prefix + "word_embeddings_layernorm.bias": bias,
            prefix + "ln_f.weight": tables.normal(D),
        }
        stage = Stage(word.values, norm=Norm(weight.values, bias.values, 1e-05))
        yield Checkpoint(name, "bloom", config, tensors, stage)


def _mpts():
    for name, alibi in (("mpt-7b", True), ("mpt-1b-learned", False)):
        tables = Tables(name, "BF16")
        word, position = tables.normal(V, D), tables.normal(L, D)
        config = {
            "architectures": ["MPTForCausalLM"],
            "attn_config": {
                "alibi": alibi, "alibi_bias_max": 8, "attn_impl": "torch", "attn_type": "multihead_attention"
            },
            "d_model": D,
            "emb_pdrop": 0,
            "embedding_fraction": 1.0,
            "expansion_ratio": 4,
            "learned_pos_emb": True,
            "max_seq_len": L,
            "model_type": "mpt",
            "n_heads": 3,
            "n_layers": 2,
            "no_bias": True,
            "norm_type": "low_precision_layernorm",
            "torch_dtype": "bfloat16",
            "vocab_size": V,
        }
        tensors = {"transformer.wte.weight": word, "transformer.norm_f.weight": tables.normal(D)}
        if not alibi:
            tensors["transformer.wpe.weight"] = position
        stage = Stage(word.values) if alibi else Mpt(word.values, position.values)
        yield Checkpoint(name, "mpt", config, tensors, stage, context=None if alibi else L)


def checkpoints():
    for family in (_gpt2s, _opts, _xglms, _blooms, _mpts):
        yield from family()
