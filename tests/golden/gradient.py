"""Prints tests/golden/gradient.txt: what PyTorch's autograd makes of the gradients that server/core/engine computes.

Needs torch (Debian: python3-torch); written with 1.13. One line a table:

    CASE TABLE ROWS COLUMNS ELEMENTS...

where TABLE is one of token, position, token_type; for cases of the output side it is loss, or norms, those of all rows.
Tables, gradients and hidden vectors are made by values(salt), which the test does again.
"""

import numpy as np
import torch
import torch.nn.functional as F


def values(salt, *shape):
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return torch.tensor((((37 * i + salt) % 97 - 48) / 30.0).astype(np.float32).reshape(shape))


def embedding(salt, rows, dim, padding_idx=None):
    table = torch.nn.Embedding(rows, dim, padding_idx=padding_idx)
    table.weight = torch.nn.Parameter(values(salt, rows, dim))
    return table


def show(case, name, gradient):
    rows = gradient.detach().reshape(gradient.shape[0], -1)
    print(case, name, rows.shape[0], rows.shape[1], *[repr(float(x)) for x in rows.flatten()])


def input_side(case, dim, ids, positions=None, types=None, scale=1.0, padding_idx=None, position_padding=None, norm=False):
    ids = torch.tensor(ids)
    token = embedding(1, 9, dim, padding_idx)
    output = token(ids) * scale if scale != 1.0 else token(ids)
    tables = {"token": token}
    if types is not None:
        tables["token_type"] = embedding(2, 2, dim)
        output = output + tables["token_type"](torch.tensor(types))
    if positions is not None:
        tables["position"] = embedding(3, 8, dim, position_padding)
        output = output + tables["position"](torch.tensor(positions))
    if norm:
        layer = torch.nn.LayerNorm(dim, eps=1e-12)
        layer.weight = torch.nn.Parameter(values(4, dim))
        layer.bias = torch.nn.Parameter(values(5, dim))
        output = layer(output)
    output.backward(values(6, *output.shape))
    for name, table in tables.items():
        show(case, name, table.weight.grad)


def output_side(case, vocab_size, dim, targets):
    table = values(1, vocab_size, dim).double().requires_grad_()
    loss = F.cross_entropy(values(7, len(targets), dim).double() @ table.T, torch.tensor(targets))
    loss.backward()
    print(case, "loss", 1, 1, repr(float(loss)))
    show(case, "norms", table.grad.norm(dim=1))


IDS = [[1, 5, 5, 0], [5, 2, 0, 0]]
input_side("duplicates", 17, [[3, 3, 3, 1], [8, 3, 1, 0]])
input_side("scaled", 20, IDS, scale=20**0.5)
input_side("learned", 6, IDS, positions=[[0, 1, 2, 3]] * 2)
input_side("bert", 20, IDS, positions=[[0, 1, 2, 3]] * 2, types=[[0, 0, 1, 1], [0, 1, 1, 1]], padding_idx=0, norm=True)
input_side("roberta", 20, [[1, 5, 5, 6], [5, 2, 1, 1]], positions=[[1, 2, 3, 4], [2, 3, 1, 1]],
           types=[[0] * 4] * 2, padding_idx=1, position_padding=1, norm=True)
output_side("output", 11, 6, [3, 3, 10, 0])
output_side("wide", 300, 33, [7])
