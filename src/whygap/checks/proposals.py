"""Groups for tables with many covariates: by the first word of a name, and by correlation."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from whygap.checks.trial import some_rows
from whygap.tables.design import Design

LEAST_CORRELATION = 0.3  # mean absolute rank correlation from which columns tell much the same


@dataclass(frozen=True, slots=True)
class Proposal:
    """Covariates that could act as a player each: `groups`, as `Study(groups=...)` takes them.

    `by` is "name" or "correlation"; `players` counts groups and covariates that stay alone.
    """

    by: str
    groups: Mapping[str, tuple[str, ...]]
    players: int

    def toml(self) -> str:
        """Write the table `[groups]` of a study file."""
        quote = json.JSONEncoder(ensure_ascii=False).encode
        lines = ["[groups]"]
        for name, columns in self.groups.items():
            key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quote(name)
            lines += [f"{key} = [", *(f"  {quote(column)}," for column in columns), "]"]
        return "\n".join(lines)


def propose_groups(design: Design, seed: int) -> tuple[Proposal, ...]:
    """Propose groups by name and by correlation, where that leaves half as many players at most.

    Args:
        design: the rows of the study.
        seed: of the rows that correlations are computed on.
    """
    if len(design.players) <= 20:  # more do not fit a screen, and their subsets must be sampled
        return ()
    columns = [p.columns[0] for p in design.players if len(p.columns) == 1]
    names = [design.columns[c].name for c in columns]
    stems = [match.group() if (match := re.search(r"[^\W\d_]+", n)) else n for n in names]
    trial = some_rows(design, 2_000, seed)  # a correlation is known to about 0.02
    labels = {"name": stems, "correlation": _clusters_of(trial, columns, names)}
    grouped = {p.name for p in design.players if len(p.columns) > 1}
    proposals = []
    for by, label in labels.items():
        members: dict[str, list[str]] = {}
        for stem, name in zip(label, names, strict=True):
            members.setdefault(stem, []).append(name)
        groups = {n: tuple(m) for n, m in members.items() if len(m) > 1 and n not in grouped}
        players = len(design.players) - sum(map(len, groups.values())) + len(groups)
        if 1 < players <= len(design.players) / 2:
            proposals.append(Proposal(by, groups, players))
    return tuple(proposals)


def _clusters_of(design: Design, columns: list[int], names: list[str]) -> list[str]:
    """Label columns by average linkage of rank correlations, after the most central of a group."""
    ranks = stats.rankdata(
        np.concatenate([table[:, columns] for table in design.features]), axis=0, nan_policy="omit"
    )
    centred = np.nan_to_num(ranks - np.nanmean(ranks, axis=0))  # a missing value is in the middle
    size = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(size > 0, size, 1)  # a constant goes with nothing
    similarity = np.clip(np.abs(unit.T @ unit), 0, 1)
    np.fill_diagonal(similarity, 1.0)
    tree = hierarchy.linkage(squareform(1 - similarity, checks=False), "average")
    cluster = hierarchy.fcluster(tree, 1 - LEAST_CORRELATION, "distance")
    is_joint = cluster[:, None] == cluster
    central = np.where(is_joint, (similarity * is_joint).sum(axis=1), -1).argmax(axis=1)
    return [f"like {names[k]}" for k in central]
