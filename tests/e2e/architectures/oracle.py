"""What each published family computes before its first layer, in numpy, operation by operation.

Written from the families' published layers, not from the server. Sums are float32 in the published order, so that a
result without LayerNorm has one right answer; LayerNorm is evaluated in float64 on that sum, as the exact result.
"""

import numpy as np

from architectures.expected import F32, Expected, exact, masked_to_zero, normalised
from architectures.numbering import (
    counted_by_mask,
    counted_by_padding,
    in_sequence,
    less_the_masked,
    masked_before_zero,
)


class Stage:
    """A token table whose rows go into the first layer as they are: T5, ALiBi, rotary encoding."""

    encoding = "NONE"
    table_rows = None

    def __init__(self, token, scale=1.0, norm=None):
        self.token = token
        self.scale = F32(scale)
        self.norm = norm

    def tokens(self, batch):
        """Scaled token rows, or the vectors that were given, which nothing scales."""
        if batch.embeds is not None:
            return batch.embeds.astype(F32)
        rows = self.token[batch.ids]
        return rows if self.scale == 1 else rows * self.scale

    def composed(self, batch):
        return normalised(self.tokens(batch), self.norm)

    def compared(self, batch):
        """(B, T): the cells that have one right answer."""
        return np.ones(batch.shape, bool)

    def mask_numbers(self, batch):
        """Whether the batch's mask, if it has one, does nothing but number positions, or nothing."""
        return True


class Rotary(Stage):
    """Rotary encoding turns queries and keys inside the layers; nothing is added here."""

    encoding = "ROTARY"


class TokenTypedRotary(Rotary):
    """GPT-J and CodeGen: token types, where they are sent, are rows of the token table."""

    def composed(self, batch):
        hidden = self.tokens(batch)
        if batch.types is not None:
            hidden = hidden + self.token[batch.types]
        return exact(hidden)


class Positioned(Stage):
    """A stage that adds rows of a stored position table."""

    encoding = "LEARNED"

    def __init__(self, token, position, scale=1.0, norm=None, types=None, pad=None):
        super().__init__(token, scale, norm)
        self.position = position
        self.types = types
        self.pad = pad

    @property
    def table_rows(self):
        return len(self.position)

    def rows(self, batch):
        if batch.position_ids is not None:
            return batch.position_ids
        return in_sequence(batch)

    def positions(self, batch):
        return exact(self.position[self.rows(batch)])

    def type_rows(self, batch):
        types = np.zeros(batch.shape, np.int64) if batch.types is None else batch.types
        return self.types[types]

    def composed(self, batch):
        return normalised(self.tokens(batch) + self.position[self.rows(batch)], self.norm)


class GPT2(Positioned):
    """GPT-2, GPTBigCode, GPT-Neo, as they generate: positions count the mask, types are rows of the token table."""

    def rows(self, batch):
        return batch.position_ids if batch.position_ids is not None else counted_by_mask(batch)

    def composed(self, batch):
        hidden = self.tokens(batch) + self.position[self.rows(batch)]
        if batch.types is not None:
            hidden = hidden + self.token[batch.types]
        return exact(hidden)


class OpenAIGPT(GPT2):
    """The first GPT: no mask in its positions."""

    def rows(self, batch):
        return Positioned.rows(self, batch)


class Mpt(Positioned):
    """MPT's own code with a learned table. What it makes of masked tokens is nobody else's rule, and is not read."""

    def rows(self, batch):
        return batch.position_ids if batch.position_ids is not None else less_the_masked(batch)

    def compared(self, batch):
        return np.ones(batch.shape, bool) if batch.mask is None else batch.mask != 0


class Bert(Positioned):
    """BERT, ELECTRA, ALBERT, BigBird: word + type + position."""

    def composed(self, batch):
        hidden = self.tokens(batch) + self.type_rows(batch)
        if self.position is not None:
            hidden = hidden + self.position[self.rows(batch)]
        return normalised(hidden, self.norm)


class BertWithoutPositions(Bert):
    """BERT with relative_key positions: the layers see to order."""

    encoding = "NONE"
    table_rows = None


class Roberta(Bert):
    """RoBERTa, XLM-RoBERTa, CamemBERT: BERT's order, numbered past the padding id."""

    def rows(self, batch):
        return batch.position_ids if batch.position_ids is not None else counted_by_padding(batch, self.pad)


class Longformer(Roberta):
    """Longformer: RoBERTa's numbers, but word + position + type."""

    def composed(self, batch):
        hidden = self.tokens(batch) + self.position[self.rows(batch)]
        return normalised(hidden + self.type_rows(batch), self.norm)


class MPNet(Roberta):
    """MPNet: padding id 1 whatever the config says, no types."""

    def composed(self, batch):
        return normalised(self.tokens(batch) + self.position[self.rows(batch)], self.norm)


class _Zeroing:
    """Families that end with a multiplication by attention_mask."""

    @property
    def table_rows(self):
        return None if self.position is None else len(self.position)

    def mask_numbers(self, batch):
        return batch.mask is None


class Esm(_Zeroing, Roberta):
    """ESM: rescaled where `<mask>` tokens were left out in training, zero where attention_mask is."""

    def __init__(self, *arguments, token_dropout=False, mask_token=None, **named):
        super().__init__(*arguments, **named)
        self.token_dropout = token_dropout
        self.mask_token = mask_token
        self.encoding = "ROTARY" if self.position is None else "LEARNED"

    def composed(self, batch):
        hidden = self.tokens(batch)
        mask = np.ones(batch.shape, np.int64) if batch.mask is None else batch.mask
        if self.token_dropout and batch.ids is not None:
            masked = batch.ids == self.mask_token
            hidden = np.where(masked[..., None], F32(0), hidden)
            share = masked.sum(-1).astype(F32) / mask.sum(-1).astype(F32)
            hidden = hidden * F32(1 - 0.15 * 0.8) / (F32(1) - share)[:, None, None]
        if self.position is not None:
            hidden = hidden + self.position[self.rows(batch)]
        return masked_to_zero(normalised(hidden, self.norm), mask)


class Deberta(_Zeroing, Positioned):
    """DeBERTa and DeBERTa-v2: word + position + type, each if there is one; zero where attention_mask is."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.encoding = "NONE" if self.position is None else "LEARNED"

    def composed(self, batch):
        hidden = self.tokens(batch)
        if self.position is not None:
            hidden = hidden + self.position[self.rows(batch)]
        if self.types is not None:
            hidden = hidden + self.type_rows(batch)
        mask = np.ones(batch.shape, np.int64) if batch.mask is None else batch.mask
        return masked_to_zero(normalised(hidden, self.norm), mask)


class Opt(Positioned):
    """OPT and BioGPT: positions count the mask, two rows on; masked tokens have row 1."""

    def rows(self, batch):
        if batch.position_ids is not None:
            return batch.position_ids + 2
        return masked_before_zero(batch) + 2


class Bart(Positioned):
    """BART, mBART, PLBart: two rows on, mask or none."""

    def rows(self, batch):
        return Positioned.rows(self, batch) + 2


class Sinusoidal(Positioned):
    """A stage whose position table is computed: in float64, rounded once."""

    encoding = "SINUSOIDAL"
    LIBM_ULP = 1

    def positions(self, batch):
        rows = self.position[self.rows(batch)]
        return Expected(rows, np.spacing(np.abs(rows)), self.LIBM_ULP)

    def composed(self, batch):
        rows = self.position[self.rows(batch)]
        hidden = self.tokens(batch) + rows
        return Expected(hidden, np.maximum(np.spacing(np.abs(hidden)), np.spacing(np.abs(rows))), self.LIBM_ULP)


class M2M100(Sinusoidal):
    """M2M100 and NLLB: numbered as RoBERTa is."""

    def rows(self, batch):
        return batch.position_ids if batch.position_ids is not None else counted_by_padding(batch, self.pad)


class Xglm(Sinusoidal):
    """XGLM: two rows on, whatever the id is."""

    def rows(self, batch):
        return Positioned.rows(self, batch) + 2
