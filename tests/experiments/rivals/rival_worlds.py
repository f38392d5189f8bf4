"""Small worlds for the rivals' tests, as designs."""

from __future__ import annotations

import numpy as np
from scipy import special

from whygap._metrics import metric_named
from whygap.domains import Array, ByDomain
from whygap.tables.design import Column, Design, Player


def design_of(
    features: ByDomain[Array],
    outcome: ByDomain[Array],
    prediction: ByDomain[Array],
    baseline: int = 1,
    kinds: dict[int, str] | None = None,
    metric: str = "accuracy",
) -> Design:
    count = features.source.shape[1]
    names = [f"w{j}" for j in range(baseline)] + [f"z{j + 1}" for j in range(count - baseline)]
    coefficients = prediction.map(lambda p: metric_named(metric).coefficients(p, 0.5))
    return Design.affine(
        features=features,
        columns=tuple(
            Column(name, (kinds or {}).get(j, "numeric"))  # type: ignore[arg-type]
            for j, name in enumerate(names)
        ),
        baseline=tuple(range(baseline)),
        players=tuple(Player(names[j], (j,)) for j in range(baseline, count)),
        outcome=outcome,
        prediction=prediction,
        intercept=coefficients.map(lambda c: c[0]),
        slope=coefficients.map(lambda c: c[1]),
    )


def logistic_world(
    draw: ByDomain[Array], beta: ByDomain[Array], rng: np.random.Generator, **options: object
) -> Design:
    """Outcomes from a logistic law per domain; the model is the source's law."""
    outcome = draw.zip(beta, lambda x, b: (rng.random(len(x)) < special.expit(x @ b)).astype(float))
    prediction = draw.map(lambda x: special.expit(x @ beta.source))
    return design_of(draw, outcome, prediction, **options)  # type: ignore[arg-type]


def world_a(rows: int, seed: int, shifted_by: float = 1.0) -> Design:
    """The paper's covariate comparison: only Z1 given W shifts, Z2 follows Z1."""
    rng = np.random.default_rng(seed)

    def draw(shift: float) -> Array:
        w = rng.normal(1, 1, rows)
        z1 = w + shift + rng.normal(0, 1, rows)
        z2 = -z1 + 1 + 0.5 * rng.choice([-1, 1], rows) + rng.normal(0, 0.5, rows)
        return np.column_stack([w, z1, z2])

    beta = np.array([0.8, 0.6, 2.0])
    return logistic_world(ByDomain(draw(0.0), draw(shifted_by)), ByDomain(beta, beta), rng)


def world_b(rows: int, seed: int, half_width: float = 4.0) -> Design:
    """The paper's outcome comparison: six uniforms, other coefficients in the target."""
    rng = np.random.default_rng(seed)
    draw = ByDomain(*(rng.uniform(-half_width, half_width, (rows, 6)) for _ in range(2)))
    beta = ByDomain(
        np.array([0.2, 0.4, 2, 0.25, 0.1, 0.1]), np.array([0.2, -0.4, 0.8, 0.1, 0.1, 0.1])
    )
    return logistic_world(draw, beta, rng)
