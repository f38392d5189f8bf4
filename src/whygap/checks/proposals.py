"""Groups for tables with many covariates: by what they are called, and by what goes together."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from whygap.checks.sampled import some_rows
from whygap.domains import Array
from whygap.render.formats import TEXT_WIDTH
from whygap.tables.design import Design

MANY = 20  # players: more do not fit a screen, and subsets of them have to be sampled
ROWS = 2_000  # of each table: a correlation is known to about 0.02
TOGETHER = 0.3  # mean absolute rank correlation from which columns tell much the same
STEM = re.compile(r"[^\W\d_]+")  # the first word of a name: lab of lab_017, x of x12
WRAP = textwrap.TextWrapper(
    TEXT_WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Covariates that could act as one player each.

    Attributes:
        by: "name" or "correlation".
        groups: as `Study(groups=...)` takes them.
        players: groups, and covariates that stay alone.
    """

    by: Literal["name", "correlation"]
    groups: Mapping[str, tuple[str, ...]]
    players: int

    def toml(self) -> str:
        """The table `[groups]` of a study file, in lines of 80 columns."""
        lines = ["[groups]"]
        for name, columns in self.groups.items():
            key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)
            listed = ", ".join(map(_quoted, columns))
            lines += WRAP.wrap(f"{key} = [{listed}]")
        return "\n".join(lines)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def propose_groups(design: Design, seed: int) -> tuple[Proposal, ...]:
    """By name and by correlation, where that leaves half as many players at most."""
    names = [column.name for column in design.columns]
    alone = [p.columns[0] for p in design.players if len(p.columns) == 1]
    players = len(design.players)
    if players <= MANY:
        return ()
    found: tuple[tuple[Literal["name", "correlation"], dict[str, list[str]]], ...] = (
        ("name", _by_name([names[c] for c in alone])),
        ("correlation", _by_correlation(some_rows(design, ROWS, seed), alone)),
    )
    taken = {p.name for p in design.players if len(p.columns) > 1}
    proposals = []
    for by, groups in found:
        kept = {n: tuple(cs) for n, cs in groups.items() if len(cs) > 1 and n not in taken}
        left = players - sum(map(len, kept.values())) + len(kept)
        if 1 < left <= players / 2:
            proposals.append(Proposal(by, kept, left))
    return tuple(proposals)


def _by_name(names: Iterable[str]) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    for name in names:
        stem = STEM.search(name)
        families.setdefault(stem.group() if stem else name, []).append(name)
    return families


def _by_correlation(design: Design, columns: list[int]) -> dict[str, list[str]]:
    """Average linkage of rank correlations, cut where they fall below `TOGETHER`.

    A group is called after the column that goes best with the others.
    """
    both = np.concatenate([table[:, columns] for table in design.features])
    alike = np.abs(_rank_correlation(both))
    tree = hierarchy.linkage(squareform(1 - alike, checks=False), "average")
    label = hierarchy.fcluster(tree, 1 - TOGETHER, "distance")
    groups: dict[str, list[str]] = {}
    for one in dict.fromkeys(label.tolist()):
        members = np.flatnonzero(label == one)
        middle = members[int(alike[np.ix_(members, members)].sum(axis=0).argmax())]
        names = [design.columns[columns[k]].name for k in members]
        groups[f"like {design.columns[columns[middle]].name}"] = names
    return groups


def _rank_correlation(values: Array) -> Array:
    """Spearman's, a missing value being in the middle; a constant goes with nothing."""
    ranks = stats.rankdata(values, axis=0, nan_policy="omit")
    centred = np.nan_to_num(ranks - np.nanmean(ranks, axis=0))
    size = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(size > 0, size, 1)
    found: Array = unit.T @ unit
    np.fill_diagonal(found, 1.0)
    return np.clip(found, -1, 1)
