"""Folders of families that turn neighbours together: GPT-J, CodeGen, Cohere, GLM, DeepSeek."""

import numpy as np

from architectures.checkpoint import Tensor
from architectures.oracle import TokenTypedRotary
from architectures.rotary_folder import D, DROP, HEAD, HEADS, L, V, rotary_config, rotary_folder
from architectures.rotary_oracle import INTERLEAVED, Rotation


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
        yield rotary_folder(
            name,
            gptj(model_type),
            Rotation(HEAD, 4, pairing=INTERLEAVED),
            token="transformer.wte.weight",
            stage_class=TokenTypedRotary,
            types=V,
            dtype="F16",
        )
    yield rotary_folder(
        "command-r",
        rotary_config("cohere", rope_theta=8000000.0, logit_scale=0.0625, use_qk_norm=False, layer_norm_eps=1e-05),
        Rotation(HEAD, HEAD, 8e6, INTERLEAVED),
        head=None,
        dtype="F16",
    )
    yield rotary_folder(
        "glm-4-9b-hf",
        rotary_config("glm", head_dim=8, partial_rotary_factor=0.5, rope_theta=10000.0),
        Rotation(8, 4, pairing=INTERLEAVED),
    )
    yield rotary_folder("glm-defaults", rotary_config("glm"), Rotation(128, 64, pairing=INTERLEAVED))
    yield rotary_folder(
        "chatglm3-6b",
        rotary_config(
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
        yield rotary_folder(
            name,
            rotary_config(
                model_type,
                max_position_embeddings=160,
                rope_theta=10000,
                rope_scaling={**scaling, "type": "yarn"},
                **latent,
            ),
            Rotation(4, 4, pairing=INTERLEAVED, scaling={**scaling, "type": "yarn"}),
            others={
                "model.layers.0.mlp.up_proj.weight": Tensor("F8_E4M3", np.zeros((4, 4), np.uint8)),
                "model.layers.0.mlp.up_proj.weight_scale_inv": Tensor("U16", np.zeros((1, 1), np.uint16)),
            },
        )


def checkpoints():
    yield from _interleaved()
