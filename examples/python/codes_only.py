"""Decodes a gradient without two of six workers, whoever they are: a code alone, with workers of your own."""

import itertools

import numpy as np

import paceline

code = paceline.Code("cyclic:s=2", workers=6)
gradients = np.random.default_rng(1).normal(size=(code.chunks, 1000))  # of the chunks; their sum is wanted
messages = [code.encode(worker, gradients) for worker in range(code.workers)]  # each worker makes one

gradient = np.empty(1000)
worst = 0.0
for answered in itertools.combinations(range(code.workers), 4):
    code.decode(answered).apply([m if i in answered else None for i, m in enumerate(messages)], out=gradient)
    worst = max(worst, np.abs(gradient - gradients.sum(axis=0)).max())
print(f"{code.name}: any 4 of 6 workers decode, largest error {worst:.0e}")
assert worst < 1e-9
