"""Does a GPU pay? Fits of a game's subsets, by the engine on all cores, and on a GPU in batches.

    OMP_NUM_THREADS=1 python benchmarks/gpu.py        needs torch with CUDA; some minutes
    OMP_NUM_THREADS=1 python benchmarks/gpu.py 200    these columns alone

Penalised logistic fits of a domain label on random subsets of 31 and of 200 columns, five training
sets each. Cores: every process takes subsets and fits all training sets side by side from known
second derivatives, as the engine does. GPU: Newton's method in single precision on all subsets of a
batch at once; columns outside a subset are shut by their penalty. Prints seconds for as many
subsets, the largest difference of the fitted probabilities, and the ratio.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from multiprocessing import get_context

import numpy as np
from scipy import special

from whygap.learning.descent import factor_of, logistic_together, solve
from whygap.learning.ridge import Curvature
from whygap.learning.together import Segment, Together

FOLDS = 5
PENALTY = 1e-2
CASES = {31: (3000 + 6000, 3), 200: (5000 + 5000, 3)}  # columns: rows, basis columns of each
SUBSETS = 256
COMPARED = (
    100  # predictions at every hundredth row are compared: to send all takes longer than to fit
)


def main() -> None:
    asked = [int(word) for word in sys.argv[1:]] or list(CASES)
    for columns in asked:
        rows, terms = CASES[columns]
        basis, label, block, members = _world(columns, rows, terms)
        fit = partial(_fitted, basis, label, block, _known(basis, label, block))
        with get_context("fork").Pool(os.cpu_count()) as pool:
            pool.map(fit, members[:16])  # every process has started
            started = time.perf_counter()
            on_cores = np.stack(pool.map(fit, members, chunksize=4))
            cores = time.perf_counter() - started
        _batched(basis, label, block, members[:16])  # the GPU has started
        started = time.perf_counter()
        on_gpu = _batched(basis, label, block, members)
        gpu = time.perf_counter() - started
        apart = np.abs(special.expit(on_cores) - special.expit(on_gpu)).max()
        print(
            f"{columns} columns, {basis.shape[1]} terms, {rows} rows, {SUBSETS} subsets: "
            f"{os.cpu_count()} cores {cores:.2f} s, GPU {gpu:.2f} s, ratio {cores / gpu:.1f}, "
            f"largest difference of a probability {apart:.1e}",
            flush=True,
        )


def _world(columns: int, rows: int, terms: int) -> tuple[np.ndarray, ...]:
    """Basis columns, labels, training blocks, and which basis columns each subset has."""
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(rows, columns)) + rng.normal(size=(rows, 1))
    basis = np.hstack([raw**k for k in range(1, terms + 1)])
    basis = (basis - basis.mean(axis=0)) / basis.std(axis=0)
    logit = basis @ rng.normal(scale=0.5 / np.sqrt(columns), size=basis.shape[1])
    label = (rng.random(rows) < special.expit(logit)).astype(float)
    chosen = rng.random((SUBSETS, columns)) < rng.random((SUBSETS, 1))
    chosen[np.arange(SUBSETS), rng.integers(columns, size=SUBSETS)] = True
    return basis, label, rng.integers(FOLDS, size=rows), np.tile(chosen, terms)


def _known(basis: np.ndarray, label: np.ndarray, block: np.ndarray) -> list[Curvature]:
    """Second derivatives of each training set's fit on all columns."""
    found = []
    for fold in range(FOLDS):
        x = np.column_stack([np.ones(len(label)), basis])[block != fold]
        y, beta = label[block != fold], np.zeros(1 + basis.shape[1])
        ridge = np.r_[0.0, np.full(basis.shape[1], PENALTY)] * len(y)
        for _ in range(8):
            p = special.expit(x @ beta)
            weight = p * (1 - p)
            moments = x.T @ (weight * (x @ beta) + y - p)
            gram = x.T @ (x * weight[:, None])
            beta = solve(factor_of(gram, ridge), moments)
        found.append(Curvature(gram, moments))
    return found


def _fitted(
    basis: np.ndarray,
    label: np.ndarray,
    block: np.ndarray,
    known: list[Curvature],
    members: np.ndarray,
) -> np.ndarray:
    """Linear predictors of one subset's models at some rows, (training sets, rows)."""
    own = np.ascontiguousarray(basis[:, members].T)
    segments = []
    for fold in range(FOLDS):
        rows, models = block == fold, np.flatnonzero(np.arange(FOLDS) != fold)
        segments.append(Segment(models, own[:, rows], label[None, rows], np.ones(rows.sum())))
    sizes = [(block != fold).sum() for fold in range(FOLDS)]
    ridge = np.stack([np.r_[0.0, np.full(len(own), PENALTY)] * size for size in sizes])
    place = np.r_[0, 1 + np.flatnonzero(members)]
    parts = [one.part(place) for one in known]
    factors = [factor_of(one.gram, penalty) for one, penalty in zip(parts, ridge, strict=True)]
    start = np.stack([solve(f, one.moments) for f, one in zip(factors, parts, strict=True)])
    beta = logistic_together(Together(segments, FOLDS), ridge, start, factors)
    return beta[:, :1] + beta[:, 1:] @ own[:, ::COMPARED]


def _batched(
    basis: np.ndarray, label: np.ndarray, block: np.ndarray, members: np.ndarray
) -> np.ndarray:
    """The same by Newton's method on a GPU."""
    import torch

    device, batch = "cuda", 32
    x = torch.tensor(np.column_stack([np.ones(len(label)), basis]), device=device).float()
    y = torch.tensor(label, device=device).float()
    trained = torch.tensor(np.stack([block != fold for fold in range(FOLDS)]), device=device)
    rows = trained.float()
    found = []
    for start in range(0, len(members), batch):
        some = torch.tensor(members[start : start + batch], device=device)
        ridge = torch.where(some, PENALTY, 1e6)
        ridge = torch.cat([torch.zeros(len(some), 1, device=device), ridge], dim=1)
        ridge = (ridge[:, None] * rows.sum(1)[:, None]).flatten(0, 1)  # (subsets x folds, width)
        weight = rows.repeat(len(some), 1)
        beta = torch.zeros(len(ridge), x.shape[1], device=device)
        for _ in range(8):
            p = torch.sigmoid(beta @ x.T)
            gradient = (weight * (p - y)) @ x + ridge * beta
            curved = weight * p * (1 - p)
            gram = torch.stack([x.T @ (x * one[:, None]) for one in curved])
            gram += torch.diag_embed(ridge + 1e-6)
            factor = torch.linalg.cholesky(gram)
            beta = beta - torch.cholesky_solve(gradient[:, :, None], factor)[:, :, 0]
        found.append((beta @ x[::COMPARED].T).reshape(len(some), FOLDS, -1).cpu().numpy())
    return np.concatenate(found)


if __name__ == "__main__":
    main()
