"""Designs for tests of the learning room: arrays in, no tables, no roles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.learning.blocks import Blocks, make_blocks
from whygap.learning.features import Features, make_features
from whygap.learning.inputs import Inputs
from whygap.learning.models import Kind, Learner, Model, TrainingRows, fitted
from whygap.settings import Settings
from whygap.tables.design import Column, Design, Player


def make_design(
    source: Array,
    target: Array,
    outcome: ByDomain[Array] | None = None,
    kinds: Sequence[str] | None = None,
    **roles: Any,
) -> Design:
    """The first column is the baseline, every other one a player; the metric is the outcome."""
    features = ByDomain(np.asarray(source, float), np.asarray(target, float))
    if outcome is None:
        outcome = features.map(lambda x: (np.arange(len(x)) % 3 == 0).astype(float))
    width = features.source.shape[1]
    named = kinds or ["numeric"] * width
    columns = tuple(Column(f"x{j}", kind) for j, kind in enumerate(named))  # type: ignore[arg-type]
    return Design.affine(
        features=features,
        columns=columns,
        baseline=(0,) if width else (),
        players=tuple(Player(f"x{j}", (j,)) for j in range(1, width)),
        outcome=outcome,
        prediction=outcome.map(lambda y: np.full(len(y), 0.5)),
        intercept=outcome.map(np.zeros_like),
        slope=outcome.map(np.ones_like),
        **roles,
    )


def shifted_design(rows: tuple[int, int] = (400, 300), columns: int = 3, seed: int = 0) -> Design:
    """Normal columns, the target's second one moved by half a standard deviation."""
    rng = np.random.default_rng(seed)
    tables = [rng.normal(size=(n, columns)) for n in rows]
    tables[1][:, min(1, columns - 1)] += 0.5
    outcome = ByDomain(*((rng.random(len(x)) < _risk(x)).astype(float) for x in tables))
    return make_design(*tables, outcome=outcome)


def _risk(x: Array) -> Array:
    return 1 / (1 + np.exp(-(x[:, 0] + np.sin(2 * x[:, -1]))))


def cut(design: Design, seed: int = 0, **settings: Any) -> Blocks:
    """Blocks of a design."""
    return make_blocks(design, Settings(**settings), np.random.default_rng(seed))


def featured(design: Design, seed: int = 0, **settings: Any) -> Features:
    """Features of a design."""
    return make_features(design, cut(design, seed, **settings))


def inputs_of(raw: Array, kinds: Sequence[str] | None = None, rows: slice = slice(None)) -> Inputs:
    """Raw columns with their dictionary, as a learner sees them."""
    design = make_design(raw, raw, kinds=kinds)
    blocks = Blocks(
        1,
        ByDomain(np.arange(len(raw)), np.arange(len(raw))),
        ByDomain(np.array([0, len(raw)]), np.array([0, len(raw)])),
    )
    features = make_features(design, blocks)
    return features.inputs("source", rows, range(raw.shape[1]))


def trained(learner: Learner, inputs: Inputs, target: Array, weight: Array, kind: Kind) -> Model:
    """A learner's model of some rows."""
    return fitted(learner, TrainingRows(inputs, target, weight, kind))
