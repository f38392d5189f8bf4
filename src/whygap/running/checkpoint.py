"""Finished subsets on disk: survives a killed process, resumes to the same numbers, bit for bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whygap._version import ENGINE
from whygap.domains import Subset
from whygap.errors import ResultError
from whygap.estimate import Estimate
from whygap.estimate.influence import Influence, padded_stack
from whygap.settings import Settings
from whygap.tables.design import Design

# Settings that change how long a run takes, not what it computes.
_HARMLESS = {"n_jobs", "progress", "checkpoint", "time_budget", "backend", "address"}
_HARMLESS |= {"subsets", "sampling_error", "level"}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder with one file per batch of subsets of each part."""

    folder: Path

    def load(self, part: str, repeat: int, origin: str) -> dict[Subset, Estimate]:
        """Values that are already there."""
        found = {}
        for path in sorted(self.folder.glob(f"{part}-{repeat}-*.npz")):
            with np.load(path) as file:
                kept = {name: file[name] for name in file.files}
            for row, name in enumerate(kept["subsets"]):
                influence = Influence(
                    kept["source"][row],
                    kept["target"][row],
                    fits=kept["fits"][row, : kept["fit_counts"][row]],
                    bias=kept["bias"][row],
                )
                found[_subset(str(name))] = Estimate.of(
                    kept["value"][row], influence, origin, plugin=kept["plugin"][row]
                )
        return found

    def save(self, part: str, repeat: int, batch: Mapping[Subset, Estimate]) -> None:
        """Keep a batch: written whole, then renamed."""
        if not batch:
            return
        count = len(list(self.folder.glob(f"{part}-{repeat}-*.npz")))
        path = self.folder / f"{part}-{repeat}-{count:05d}.npz"
        influences = [e.influence for e in batch.values() if e.influence is not None]
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            np.savez(
                file,
                subsets=np.array([_name(s) for s in batch]),
                value=np.array([e.value for e in batch.values()]),
                plugin=np.array([e.plugin for e in batch.values()]),
                source=np.stack([i.source for i in influences]),
                target=np.stack([i.target for i in influences]),
                fits=padded_stack([i.fits for i in influences]),
                fit_counts=np.array([len(i.fits) for i in influences]),
                bias=padded_stack([i.bias for i in influences]),
            )
        partial.replace(path)


def open_checkpoint(folder: str | None, print_: Mapping[str, Any]) -> Checkpoint | None:
    """Open or start a checkpoint; refuse one that belongs to another study or other settings."""
    if folder is None:
        return None
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        _match_or_write(path / "analysis.json", print_)
    except OSError as error:
        raise ResultError(f"The checkpoint folder {path} cannot be used", got=str(error)) from error
    return Checkpoint(path)


def fingerprint(design: Design, settings: Settings) -> dict[str, Any]:
    """What decides the numbers: settings, engine, a digest of each ingredient of the design."""
    return {
        "settings": {
            **{k: v for k, v in settings.to_mapping().items() if k not in _HARMLESS},
            "engine": ENGINE,
        },
        "study": _ingredients(design),
    }


def digest_of(design: Design) -> str:
    """The same for the same data, roles and metric."""
    return hashlib.sha256(repr(_ingredients(design)).encode()).hexdigest()[:16]


def _ingredients(design: Design) -> dict[str, str]:
    arrays = {
        "features": design.features,
        "outcome": design.outcome,
        "prediction": design.prediction,
        "scores": design.scores,
        "metric": design.terms,
        "slope of the metric": design.term_slope,
        "weights": design.weights,
        "clusters": design.clusters,
        "source risk": design.source_risk,
    }
    ingredients = {
        name: "none" if pair is None else _digest(*(np.ascontiguousarray(a) for a in pair))
        for name, pair in arrays.items()
    }
    ingredients["metric"] += f" ({design.metric.name})"
    roles = repr((design.columns, design.baseline, design.players))
    if design.order != "covariates first":  # as it always was, unless said otherwise
        roles += design.order
    return {**ingredients, "roles": hashlib.sha256(roles.encode()).hexdigest()[:16]}


def _digest(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(str(array.shape).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def _match_or_write(path: Path, wanted: Mapping[str, Any]) -> None:
    if not path.exists():
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(wanted, indent=1, sort_keys=True))
        partial.replace(path)
        return
    kept = _read(path)
    changed = [
        f"{group} '{key}'"
        for group in ("settings", "study")
        for key in wanted[group]
        if kept.get(group, {}).get(key) != wanted[group][key]
    ]
    if changed:
        raise ResultError(
            f"The checkpoint in {path.parent} belongs to another analysis",
            got="a change of " + ", ".join(changed),
            hint="Use another folder, or undo the change.",
        )


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise ResultError(
            f"The checkpoint file {path} is damaged", hint="Delete the folder, or use another one."
        ) from error


def _name(subset: Subset) -> str:
    return ",".join(map(str, subset))


def _subset(name: str) -> Subset:
    return tuple(int(k) for k in name.split(",")) if name else ()
