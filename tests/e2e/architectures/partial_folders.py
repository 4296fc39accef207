"""Folders of families that turn a part of each head, half and half: Phi, GPT-NeoX, StableLM, Nemotron; and Falcon."""

from architectures.oracle import Stage
from architectures.rotary_folder import D, DROP, HEAD, L, rotary_config, rotary_folder
from architectures.rotary_oracle import Rotation


def _partial():
    """Families that turn a part of each head."""
    yield rotary_folder(
        "phi-2",
        rotary_config(
            "phi",
            partial_rotary_factor=0.4,
            hidden_size=D,
            num_attention_heads=2,
            rope_theta=10000.0,
            qk_layernorm=False,
        ),
        Rotation(20, 8),
        dtype="F16",
    )
    yield rotary_folder("phi-1.5", rotary_config("phi", rope_scaling=None), Rotation(HEAD, HEAD // 2), dtype="F16")
    short, long = [1.0, 1.1, 1.5, 2.0], [1.5, 2.5, 8.0, 16.0]
    longrope = {"short_factor": short, "long_factor": long}
    expected = {"type": "longrope", **longrope, "original_max_position_embeddings": 16, "max_position_embeddings": L}
    for name, word in (("phi-3-mini-128k", "longrope"), ("phi-3-mini-su", "su")):
        yield rotary_folder(
            name,
            rotary_config(
                "phi3", original_max_position_embeddings=16, rope_scaling={**longrope, "type": word}, sliding_window=32
            ),
            Rotation(HEAD, HEAD, scaling=expected),
        )
    yield rotary_folder(
        "phi-3-mini-4k",
        rotary_config("phi3", original_max_position_embeddings=L, rope_scaling=None),
        Rotation(HEAD, HEAD),
    )
    yield rotary_folder(
        "phi-4-mini",
        rotary_config(
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
        yield rotary_folder(
            name,
            rotary_config("gpt_neox", **neox, **keys),
            rotation,
            token="gpt_neox.embed_in.weight",
            head="embed_out.weight",
            dtype="F16",
        )
    yield rotary_folder(
        "stablelm-3b", rotary_config("stablelm", partial_rotary_factor=0.25, rope_theta=10000), Rotation(HEAD, 2)
    )
    yield rotary_folder("stablelm-defaults", rotary_config("stablelm"), Rotation(HEAD, 2))
    yield rotary_folder(
        "nemotron-4b",
        rotary_config("nemotron", partial_rotary_factor=0.5, head_dim=16, norm_eps=1e-05),
        Rotation(16, 8),
    )
    yield rotary_folder("nemotron-defaults", rotary_config("nemotron"), Rotation(HEAD, 4))


def _falcons():
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
    yield rotary_folder(
        "falcon-7b", rotary_config("falcon", **falcon), Rotation(HEAD, HEAD), token="transformer.word_embeddings.weight"
    )
    yield rotary_folder(
        "falcon-rw-1b",
        rotary_config("falcon", **{**falcon, "alibi": True}),
        None,
        token="transformer.word_embeddings.weight",
        stage_class=Stage,
        head=None,
    )


def checkpoints():
    for family in (_partial, _falcons):
        yield from family()
