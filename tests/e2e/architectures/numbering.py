"""How the published families number positions, from past lengths, masks and padding ids; all (B, T)."""

import numpy as np


def in_sequence(batch):
    """past, past + 1, …"""
    return batch.past[:, None] + np.arange(batch.shape[1])


def _with_past(batch):
    """Each row's mask with ones for what came before, and how long that is."""
    mask = np.ones(batch.shape, np.int64) if batch.mask is None else np.asarray(batch.mask, np.int64)
    for past, row in zip(batch.past, mask):
        yield past, np.concatenate([np.ones(past, np.int64), row])


def counted_by_mask(batch):
    """As decoders generate: unmasked tokens from 0 on, masked ones 1."""
    rows = []
    for past, mask in _with_past(batch):
        position = np.cumsum(mask) - 1
        position[mask == 0] = 1
        rows.append(position[past:])
    return np.array(rows)


def masked_before_zero(batch):
    """OPT's module: cumsum(mask) * mask - 1, so that masked tokens have -1."""
    return np.array([(np.cumsum(mask) * mask - 1)[past:] for past, mask in _with_past(batch)])


def counted_by_padding(batch, pad):
    """RoBERTa's module: ids that are not `pad` from pad + 1 on, the others `pad`. Given vectors are never padding."""
    unpadded = np.ones(batch.shape, np.int64) if batch.ids is None else (batch.ids != pad).astype(np.int64)
    return (np.cumsum(unpadded, axis=1) + batch.past[:, None]) * unpadded + pad


def less_the_masked(batch):
    """MPT's own code: the place in the row less the masked tokens so far, at least 0."""
    rows = []
    for past, mask in _with_past(batch):
        rows.append(np.maximum(np.arange(len(mask)) - np.cumsum(1 - mask), 0)[past:])
    return np.array(rows)
