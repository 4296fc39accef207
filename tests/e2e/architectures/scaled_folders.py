"""Folders of families that scale the token row: Gemma, Granite, MiniCPM."""

from architectures.checkpoint import root
from architectures.rotary_folder import D, HEAD, rotary_config, rotary_folder
from architectures.rotary_oracle import Rotation


def _scaled():
    plain = Rotation(HEAD, HEAD)
    yield rotary_folder(
        "granite-3.0-2b",
        rotary_config(
            "granite", embedding_multiplier=12.0, logits_scaling=8.0, rope_theta=10000.0, tie_word_embeddings=True
        ),
        plain,
        scale=lambda _: 12.0,
        head=None,
    )
    yield rotary_folder(
        "granite-odd-multiplier",
        rotary_config("granite", embedding_multiplier=0.3),
        plain,
        scale=lambda _: 0.3,
    )
    yield rotary_folder(
        "minicpm-2b",
        rotary_config("minicpm", scale_emb=12, scale_depth=1.4, dim_model_base=8),
        plain,
        scale=lambda _: 12.0,
        head=None,
    )

    def sqrt_in_weight_dtype(tables):
        return tables.rounded(root(D))

    for name, dtype in (("gemma-2b", "BF16"), ("gemma-f32", "F32"), ("gemma-f16", "F16")):
        yield rotary_folder(
            name,
            rotary_config("gemma", head_dim=16, hidden_act="gelu", rope_theta=10000.0, rope_scaling=None),
            Rotation(16, 16),
            scale=sqrt_in_weight_dtype,
            dtype=dtype,
            head=None,
        )
    yield rotary_folder(
        "gemma-defaults",
        rotary_config("gemma"),
        Rotation(256, 256),
        scale=sqrt_in_weight_dtype,
        head="lm_head.weight",
        tied_head=True,
    )
    yield rotary_folder(
        "gemma-2-2b",
        rotary_config(
            "gemma2",
            head_dim=16,
            attn_logit_softcapping=50.0,
            query_pre_attn_scalar=16,
            rope_theta=10000.0,
            sliding_window=32,
        ),
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
    yield rotary_folder(
        "gemma-3-1b",
        rotary_config("gemma3_text", rope_scaling=None, **text),
        plain,
        scale=scale,
        head=None,
        layer_rotations={"full_attention": plain, "sliding_attention": sliding},
    )
    sparse = {
        "hidden_size": D,
        "intermediate_size": 3 * D,
        "model_type": "gemma3_text",
        "num_hidden_layers": 2,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window": 32,
    }
    for name, token, rotations in (
        ("gemma-3-4b", "language_model.model.embed_tokens.weight", (scaled, sliding)),
        ("gemma-3-4b-v4.52", "model.language_model.embed_tokens.weight", (scaled, sliding)),
        (
            "gemma-3-4b-defaults",
            "language_model.model.embed_tokens.weight",
            (Rotation(256, 256, 1e6, scaling=linear), Rotation(256, 256)),
        ),
    ):
        inner = rotary_config("gemma3_text", rope_scaling={"factor": 8.0, "rope_type": "linear"}, **text)
        config = {
            "architectures": ["Gemma3ForConditionalGeneration"],
            "boi_token_index": 35,
            "eoi_token_index": 36,
            "image_token_index": 34,
            "initializer_range": 0.02,
            "mm_tokens_per_image": 4,
            "model_type": "gemma3",
            "text_config": sparse if name.endswith("defaults") else inner,
            "vision_config": {
                "hidden_size": 32, "image_size": 16, "model_type": "siglip_vision_model", "patch_size": 4
            },
        }
        yield rotary_folder(
            name,
            config,
            rotations[0],
            token=token,
            scale=scale,
            head=None,
            layer_rotations=dict(zip(("full_attention", "sliding_attention"), rotations)),
        )
    yield rotary_folder(
        "gemma-3-v5",
        rotary_config(
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


def checkpoints():
    yield from _scaled()
