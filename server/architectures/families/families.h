#ifndef EMBD_SERVER_ARCHITECTURES_FAMILIES_FAMILIES_H_
#define EMBD_SERVER_ARCHITECTURES_FAMILIES_FAMILIES_H_

#include "server/architectures/draft.h"

// The input stages of model families, as Hugging Face transformers computes them. Each function spells out a model
// whose model_type is one of its own and returns true; it returns false, having done nothing, where the type is not.
namespace embd::architectures {

/// GPT-2 and kin: learned positions, types through the token table.
[[nodiscard]] bool InferGpt(Draft* draft);

/// BERT and kin: types, learned positions, LayerNorm.
[[nodiscard]] bool InferBert(Draft* draft);

/// RoBERTa and kin: as BERT, but padding has a position of its own.
[[nodiscard]] bool InferRoberta(Draft* draft);

/// Encoders that differ from BERT in one thing or another: DeBERTa, DistilBERT, ModernBERT, ESM.
[[nodiscard]] bool InferOtherEncoder(Draft* draft);

/// OPT and BioGPT: learned positions that a mask numbers.
[[nodiscard]] bool InferMaskNumbered(Draft* draft);

/// BART and kin: encoder and decoder with learned positions of their own.
[[nodiscard]] bool InferEncoderDecoder(Draft* draft);

/// Marian, Pegasus, M2M100, XGLM: computed positions.
[[nodiscard]] bool InferSinusoidal(Draft* draft);

/// T5, BLOOM, MPT, and Falcon with ALiBi: no position at the input.
[[nodiscard]] bool InferWithoutPosition(Draft* draft);

/// Llama and kin: rotary positions, which add nothing at the input.
[[nodiscard]] bool InferRotaryDecoder(Draft* draft);

/// Gemma: as Llama, with scaled token rows.
[[nodiscard]] bool InferGemma(Draft* draft);

/// Rotary decoders with settings of their own names: GPT-NeoX, GPT-J, Falcon, Qwen, ChatGLM.
[[nodiscard]] bool InferOtherRotary(Draft* draft);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_FAMILIES_FAMILIES_H_
