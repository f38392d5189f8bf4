"""One measurement of `benchmarks/learning.py`: one data set, one learner, its nuisances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import measure
import numpy as np
from sklearn.impute import SimpleImputer

from experiments.cases import Move, insurance_study, readmission_study
from whygap.blocks import make_blocks
from whygap.datasets import load_employment
from whygap.learning.features import make_features
from whygap.learning.inputs import Inputs
from whygap.learning.menu import Menu, mean_probes, ratio_probes
from whygap.learning.models import TrainingRows
from whygap.learning.primitives import MeanTask, fit_means, fit_ratios
from whygap.nuisances.cross_fit import cross_fit
from whygap.nuisances.held_out import block_sorted, out_of_fold
from whygap.nuisances.source_risk import risk_columns
from whygap.paper.nuisances import fit_mean
from whygap.running.workers import one_thread
from whygap.settings import Settings

SEED = 0


@dataclass(frozen=True)
class PaperModel:
    """A fit of the paper's menu on the raw columns; gaps are means."""

    imputer: SimpleImputer
    fitted: Callable[[Any], Any]

    def predict(self, inputs: Inputs) -> Any:
        """One number per row."""
        return self.fitted(self.imputer.transform(inputs.table))


@dataclass(frozen=True)
class PaperLearner:
    """The paper's menu (`whygap.paper`) in the place of the engine's learners."""

    name: str = "paper"

    def fit(self, rows: TrainingRows) -> PaperModel:
        """Search forests and polynomials on these rows."""
        imputer = SimpleImputer(keep_empty_features=True).fit(rows.inputs.table)
        table = imputer.transform(rows.inputs.table)
        return PaperModel(imputer, fit_mean(table, rows.target, rows.weight, "paper", SEED))


class PaperMenu(Menu):
    """A menu without a choice: every fit searches for itself."""

    def learner(self, *_: Any, **__: Any) -> Any:
        """Return the one there is."""
        return PaperLearner()


def run_one(job: dict[str, Any]) -> dict[str, Any]:
    rows = []
    with one_thread():
        design = _study(job["case"], job["data"]).design
        named = "auto" if job["learner"] == "paper" else job["learner"]
        settings = Settings(learner=named, seed=SEED, progress=False)
        for nuisance in job["nuisances"]:
            menu = PaperMenu(settings) if job["learner"] == "paper" else Menu(settings)
            run = _RUNS.get(nuisance, _risk)
            found: dict[str, Any] = run(design, menu, nuisance)
            rows.append(
                {"case": job["case"], "learner": job["learner"], "nuisance": nuisance, **found}
            )
    return {"rows": [{**row, "peak_mb": round(measure.peak_megabytes(), 1)} for row in rows]}


def _study(case: str, data: str | None) -> Any:
    folder = Path(data) if data else None
    if case == "employment":
        return load_employment().study()
    if case == "readmission":
        return readmission_study(folder, seed=SEED)
    source, _, target = case.partition(" to ")
    return insurance_study(folder, Move(source, target), seed=SEED)


def _features(design: Any, settings: Settings) -> Any:
    blocks = make_blocks(design, settings, np.random.default_rng(SEED))
    return make_features(design, blocks)


def _log_loss(label: Any, probability: Any, weight: Any) -> float:
    inside = np.clip(probability, 1e-6, 1 - 1e-6)
    losses = -(label * np.log(inside) + (1 - label) * np.log(1 - inside))
    return float(np.average(losses, weights=weight))


def _risk(design: Any, menu: Menu, name: str) -> dict[str, Any]:
    """p_0 or p_1 given W and Z: out-of-fold log loss over all rows of the domain."""
    features = _features(design, menu.settings)
    domain = "source" if name == "p_0" else "target"
    task = _task(features, name, design.outcome[domain], domain, _all_columns(design))
    return _mean_loss(design, features, menu, task)


def _mean_loss(design: Any, features: Any, menu: Menu, task: MeanTask) -> dict[str, Any]:
    domain = task.domain
    learner = menu.learner(task.name, lambda: mean_probes(features, [task]), columns="", target="")
    fits = fit_means(features, learner, task)
    if task.extra is None:
        fitted = out_of_fold(fits, domain)
    else:
        blocks = features.blocks
        pieces = [
            fits.predict_seeing([(blocks.complement(k),) * 2], ["own"], domain, k)[0]
            for k in range(blocks.count)
        ]
        fitted = np.concatenate(pieces)[blocks.back[domain]]
    weight = design.sample().weights[domain]
    loss = _log_loss(design.outcome[domain], fitted, weight)
    return {"loss": loss, "score": "log loss", "chosen": learner.name}


def _reduced_risk(design: Any, menu: Menu, name: str) -> dict[str, Any]:
    """m(G), G = (W, half of the players, binned source risk); the risk by `fast` for everyone."""
    first = Settings(learner="fast", seed=SEED, progress=False)
    crossfit = cross_fit(design, first, np.random.SeedSequence(SEED), Menu(first))
    trained_on = crossfit.blocks.complements()
    task = MeanTask(
        name,
        "probability",
        _half_of_the_players(design, 0),
        "target",
        block_sorted(crossfit.blocks, design.outcome).target,
        trained_on,
        risk_columns(crossfit, dict.fromkeys(trained_on, crossfit.risk)),
    )
    return _mean_loss(design, crossfit.features, menu, task)


def _ratio(design: Any, menu: Menu, name: str) -> dict[str, Any]:
    """A domain classifier: log loss of the probability that the ratio implies."""
    features = _features(design, menu.settings)
    columns = design.baseline if name == "pi_w" else _all_columns(design)
    fits, learner = _fit_ratio(features, menu, name, columns)
    ratios = [out_of_fold(fits, d) for d in ("source", "target")]
    weights = [design.sample().weights[d] for d in ("source", "target")]
    label = np.repeat([0.0, 1.0], [len(r) for r in ratios])
    weight = np.concatenate(weights)
    odds = np.concatenate(ratios) * weights[1].sum() / weights[0].sum()
    squared = np.average(ratios[0] ** 2, weights=weights[0]) / 2
    return {
        "loss": _log_loss(label, odds / (1 + odds), weight),
        "score": "log loss",
        "least_squares_loss": squared - np.average(ratios[1], weights=weights[1]),
        "mean_over_source": np.average(ratios[0], weights=weights[0]),
        "chosen": learner.name,
    }


def _fit_ratio(features: Any, menu: Menu, name: str, columns: Any) -> tuple[Any, Any]:
    learner = menu.learner(name, lambda: ratio_probes(features, [columns]), columns="", target="")
    return fit_ratios(features, learner, columns, name), learner


def _cost(design: Any, menu: Menu, _: str) -> dict[str, Any]:
    """CPU seconds of one conditional mean and one ratio on a set of columns, all five folds.

    What is made once for all sets (second derivatives of fits on all columns) is made with a set
    that comes before those that are measured.
    """
    clock, searches = measure.Clock(), isinstance(menu, PaperMenu)
    sets = 1 if searches else 5
    with clock.stage("shared design"):
        features = _features(design, menu.settings)
    columns = [_half_of_the_players(design, k) for k in range(sets + 1)]
    tasks = [
        replace(_task(features, "mu", design.loss.source, "source", c), repeated=True)
        for c in columns
    ]
    with clock.stage("choosing"):
        mean = menu.learner("mu", lambda: mean_probes(features, tasks[:1]), columns="", target="")
        ratio = menu.learner(
            "pi", lambda: ratio_probes(features, columns[:1]), columns="", target=""
        )
    if not searches:
        with clock.stage("first set"):
            _fit_one_set(features, mean, ratio, tasks[0], measure.Clock())
    for task in tasks[1:]:
        _fit_one_set(features, mean, ratio, task, clock)
    return {
        "chosen": f"{mean.name}; {ratio.name}",
        "shared_seconds": round(clock.cpu["shared design"], 3),
        "choosing_seconds": round(clock.cpu["choosing"], 3),
        "first_set_seconds": round(clock.cpu.get("first set", 0.0), 3),
        "mean_seconds": round(clock.cpu["mean"] / sets, 4),
        "ratio_seconds": round(clock.cpu["ratio"] / sets, 4),
    }


def _fit_one_set(features: Any, mean: Any, ratio: Any, task: MeanTask, clock: Any) -> None:
    with clock.stage("mean"):
        fits = fit_means(features, mean, task)
        for domain in ("source", "target"):
            out_of_fold(fits, domain)
    with clock.stage("ratio"):
        ratios = fit_ratios(features, ratio, task.columns, "pi", repeated=True)
        out_of_fold(ratios, "source")


def _task(features: Any, name: str, values: Any, domain: Any, columns: Any) -> MeanTask:
    """A first-order regression: trained on all blocks but the row's own."""
    ordered = values[features.blocks.order[domain]]
    binary = np.isin(values, (0.0, 1.0)).all()
    return MeanTask(
        name,
        "probability" if binary else "real",
        columns,
        domain,
        ordered,
        features.blocks.complements(),
    )


def _all_columns(design: Any) -> tuple[int, ...]:
    return design.baseline + design.covariates  # type: ignore[no-any-return]


def _half_of_the_players(design: Any, seed: int) -> tuple[int, ...]:
    order = np.random.default_rng([SEED, seed]).permutation(len(design.players))
    chosen = tuple(sorted(int(k) for k in order[: len(design.players) // 2]))
    return design.subset_columns(chosen)  # type: ignore[no-any-return]


_RUNS: dict[str, Any] = {"cost": _cost, "m": _reduced_risk, "pi_w": _ratio, "pi_wz": _ratio}
