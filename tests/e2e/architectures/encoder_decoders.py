"""Folders of encoder-decoder families: BART's, Marian's, M2M100's and T5's relatives."""

from architectures.checkpoint import Checkpoint, Tables, root
from architectures.expected import Norm
from architectures.oracle import M2M100, Bart, Positioned, Sinusoidal, Stage
from architectures.sinusoids import marian_table, tensor2tensor_table

V, D, L = 37, 24, 16


def _bart_config(model_type, dim=D, **more):
    return {
        "activation_dropout": 0.1,
        "activation_function": "gelu",
        "architectures": [model_type],
        "bos_token_id": 0,
        "d_model": dim,
        "decoder_attention_heads": 3,
        "decoder_ffn_dim": 96,
        "decoder_layers": 2,
        "decoder_start_token_id": 2,
        "encoder_attention_heads": 3,
        "encoder_ffn_dim": 96,
        "encoder_layers": 2,
        "eos_token_id": 2,
        "init_std": 0.02,
        "is_encoder_decoder": True,
        "max_position_embeddings": L,
        "model_type": model_type,
        "num_hidden_layers": 2,
        "pad_token_id": 1,
        "vocab_size": V,
        **more,
    }


def _learned(
    name,
    config,
    stage_class,
    *,
    prefix="model.",
    side="encoder",
    more_rows=0,
    norm=True,
    scaled=False,
    **more,
):
    """A folder with one shared token table, and positions and LayerNorm for each side."""
    tables = Tables(name, more.pop("dtype", "F32"))
    copies = more.pop("copies", ())
    word = tables.normal(V, D)
    positions = {each: tables.normal(L + more_rows, D) for each in ("encoder", "decoder")}
    norms = {each: (tables.normal(D, mean=1.0), tables.normal(D)) for each in ("encoder", "decoder")}
    tensors = {prefix + "shared.weight": word, prefix + "encoder.layer_norm.weight": tables.normal(D)}
    for each in ("encoder", "decoder"):
        tensors[f"{prefix}{each}.embed_positions.weight"] = positions[each]
        if each in copies:
            tensors[f"{prefix}{each}.embed_tokens.weight"] = word
        if norm:
            weight, bias = norms[each]
            tensors[f"{prefix}{each}.layernorm_embedding.weight"] = weight
            tensors[f"{prefix}{each}.layernorm_embedding.bias"] = bias
    weight, bias = norms[side]
    stage = stage_class(
        word.values,
        positions[side].values,
        scale=root(D) if scaled else 1.0,
        norm=Norm(weight.values, bias.values, 1e-05) if norm else None,
    )
    return Checkpoint(
        name, config["model_type"], config, tensors, stage, context=L, side=side, **more
    )


def _barts():
    both = ("encoder", "decoder")
    yield _learned("bart-base", _bart_config("bart", scale_embedding=False), Bart, more_rows=2)
    yield _learned("bart-unprefixed", _bart_config("bart"), Bart, prefix="", more_rows=2, copies=both, dtype="F16")
    yield _learned("bart-decoder", _bart_config("bart"), Bart, side="decoder", more_rows=2)
    for name, side in (("mbart-large-50", "encoder"), ("mbart-decoder", "decoder")):
        config = _bart_config("mbart", scale_embedding=True, normalize_before=True, normalize_embedding=True)
        yield _learned(name, config, Bart, side=side, more_rows=2, scaled=True)
    yield _learned("plbart-base", _bart_config("plbart"), Bart, more_rows=2, scaled=True)
    yield _learned(
        "blenderbot-3b",
        _bart_config("blenderbot", pad_token_id=0, scale_embedding=True),
        Positioned,
        norm=False,
        scaled=True,
    )
    yield _learned(
        "blenderbot-decoder", _bart_config("blenderbot", pad_token_id=0), Positioned, norm=False, side="decoder"
    )
    yield _learned(
        "blenderbot-small",
        _bart_config("blenderbot-small", pad_token_id=0, scale_embedding=True),
        Positioned,
        scaled=True,
    )


def _sinusoidal(
    name, config, table, stage_class=Sinusoidal, *, dim=D, scaled=True, tensors=None, side=None, dtype="F32"
):
    tables = Tables(name, dtype)
    word, other = tables.normal(V, dim), tables.normal(V, dim)
    if tensors is None:
        tensors = {"model.shared.weight": word}
    else:
        tensors = {key: word if own else other for key, own in tensors.items()}
    tensors["final_logits_bias"] = tables.normal(1, V)
    stage = stage_class(
        word.values, table, scale=root(dim) if scaled else 1.0, pad=config.get("pad_token_id", 1)
    )
    return Checkpoint(name, config["model_type"], config, tensors, stage, context=L, side=side)


def _marians():
    def config(**more):
        return _bart_config(
            "marian",
            **{
                "bad_words_ids": [[36]],
                "decoder_start_token_id": 36,
                "eos_token_id": 0,
                "pad_token_id": 36,
                "scale_embedding": True,
                "static_position_embeddings": True,
                **more,
            },
        )

    yield _sinusoidal("opus-mt-en-de", config(), marian_table(L, D))
    yield _sinusoidal("opus-mt-odd", config(d_model=25), marian_table(L, 25), dim=25)
    yield _sinusoidal("marian-unscaled", config(scale_embedding=False), marian_table(L, D), scaled=False)
    for name, side in (("marian-two-tables", "encoder"), ("marian-two-tables-decoder", "decoder")):
        yield _sinusoidal(
            name,
            config(share_encoder_decoder_embeddings=False, decoder_vocab_size=V),
            marian_table(L, D),
            tensors={
                "model.encoder.embed_tokens.weight": side == "encoder",
                "model.decoder.embed_tokens.weight": side == "decoder",
            },
            side=side,
        )
    yield _sinusoidal(
        "pegasus-xsum",
        _bart_config("pegasus", pad_token_id=0, eos_token_id=1, scale_embedding=True, static_position_embeddings=True),
        marian_table(L, D),
        dtype="F16",
    )
    yield _sinusoidal(
        "pegasus-x-base",
        _bart_config("pegasus_x", pad_token_id=0, num_global_tokens=4, block_size=8, scale_embedding=True),
        tensor2tensor_table(L, D),
    )
    yield _sinusoidal("pegasus-x-defaults", _bart_config("pegasus_x", pad_token_id=0), tensor2tensor_table(L, D))


def _m2m100s():
    yield _sinusoidal(
        "m2m100-418m",
        _bart_config("m2m_100", scale_embedding=True),
        tensor2tensor_table(L + 2, D, pad=1),
        M2M100,
        dtype="BF16",
    )
    yield _sinusoidal(
        "nllb-200-odd", _bart_config("m2m_100", d_model=25), tensor2tensor_table(L + 2, 25, pad=1), M2M100, dim=25
    )
    yield _sinusoidal(
        "m2m100-unscaled",
        _bart_config("m2m_100", scale_embedding=False),
        tensor2tensor_table(L + 2, D, pad=1),
        M2M100,
        scaled=False,
        tensors={"model.encoder.embed_tokens.weight": True, "model.decoder.embed_tokens.weight": True},
    )


def _t5s():
    for name, family, names, dtype in (
        ("t5-small", "t5", ("shared.weight",), "F32"),
        ("t5-copies", "t5", ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"), "F32"),
        ("t5-encoder-only", "t5", ("encoder.embed_tokens.weight",), "F16"),
        ("mt5-small", "mt5", ("shared.weight",), "BF16"),
        ("umt5-small", "umt5", ("shared.weight",), "F32"),
    ):
        tables = Tables(name, dtype)
        word = tables.normal(V, D)
        config = {
            "architectures": ["T5ForConditionalGeneration"],
            "d_ff": 96,
            "d_kv": 8,
            "d_model": D,
            "decoder_start_token_id": 0,
            "dropout_rate": 0.1,
            "eos_token_id": 1,
            "feed_forward_proj": "relu" if family == "t5" else "gated-gelu",
            "is_encoder_decoder": True,
            "layer_norm_epsilon": 1e-06,
            "model_type": family,
            "num_heads": 3,
            "num_layers": 2,
            "pad_token_id": 0,
            "relative_attention_num_buckets": 32,
            "vocab_size": V,
        }
        if family == "mt5":
            config["tie_word_embeddings"] = False
        tensors = {key: word for key in names}
        tensors["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = tables.normal(32, 3)
        tensors["encoder.final_layer_norm.weight"] = tables.normal(D)
        if family == "mt5":
            tensors["lm_head.weight"] = tables.normal(V, D)
        yield Checkpoint(name, family, config, tensors, Stage(word.values))


def checkpoints():
    for family in (_barts, _marians, _m2m100s, _t5s):
        yield from family()
