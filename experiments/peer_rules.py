"""What three other tools report of one draw; run by their own interpreter (see `rules`).

DIR/bin/python -I experiments/peer_rules.py tables.npz ...      prints a line of JSON for each

WHYGAP_RULE_TOOLS=wise_pizza,divexplorer asks some of them alone (deepchecks is the slow one).
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import warnings

import numpy as np
import pandas as pd

SHOWN = 5  # segments taken from each
LEAST = 0.05  # smallest share of the rows in a segment; deepchecks' own default
QUARTERS = (0.25, 0.5, 0.75)
TOOLS = os.environ.get("WHYGAP_RULE_TOOLS", "deepchecks,divexplorer,wise_pizza").split(",")


def main(path):
    given = np.load(path)
    names, categories = list(given["names"]), list(given["categories"])
    cut = {
        name: np.quantile(np.r_[given["source"][:, j], given["target"][:, j]], QUARTERS)
        for j, name in enumerate(names)
        if not categories[j]
    }
    tables = {
        domain: pd.DataFrame(
            {
                name: np.digitize(given[domain][:, j], cut[name]).astype(str)
                if name in cut
                else given[domain][:, j].astype(int).astype(str)
                for j, name in enumerate(names)
            }
        )
        for domain in ("source", "target")
    }
    raw = pd.DataFrame(given["target"], columns=names)
    planted = given["planted"]
    found = {}
    for tool, ask in (
        ("deepchecks", lambda: deepchecks(raw, names, categories, given)),
        ("divexplorer", lambda: divexplorer(tables["target"], given["error_target"])),
        ("wise_pizza", lambda: wise_pizza(tables, given, names)),
    ):
        if tool not in TOOLS:
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            segments = ask()
        found[tool] = [
            {"columns": sorted(columns), "jaccard": jaccard(mask, planted), "score": score}
            for columns, mask, score in segments[:SHOWN]
        ]
    print(json.dumps(found))


def jaccard(one, other):
    either = np.sum(one | other)
    return float(np.sum(one & other) / either) if either else 0.0


def deepchecks(raw, names, categories, given):
    """Weak segments by the model's accuracy, the weakest first."""
    from deepchecks.core.errors import DeepchecksProcessError
    from deepchecks.tabular import Dataset
    from deepchecks.tabular.checks import WeakSegmentsPerformance

    kinds = [name for name, category in zip(names, categories, strict=True) if category]
    table = raw.assign(**{name: raw[name].astype(int).astype(str) for name in kinds})
    rows = Dataset(table.assign(y=given["outcome"].astype(int)), label="y", cat_features=kinds)
    score = pd.Series(1.0 - given["error_target"], index=table.index)
    check = WeakSegmentsPerformance(score_per_sample=score, segment_minimum_size_ratio=LEAST)
    try:
        value = check.run(rows, with_display=False).value
    except DeepchecksProcessError:  # it found no segment at all
        return []
    found = []
    for _, segment in value["weak_segments_list"].iterrows():
        mask, columns = np.ones(len(table), bool), []
        for which in ("Feature1", "Feature2"):
            name = segment[which]
            if not name:
                continue
            columns.append(name)
            mask &= inside(table[name], segment[f"{which} Range"], name in kinds)
        found.append((columns, mask, float(score.mean() - score[mask].mean())))
    return found


def inside(column, wanted, category):
    if category:
        return column.isin(list(wanted)).to_numpy()
    low, high = wanted
    return ((column > low) & (column <= high)).to_numpy()


def divexplorer(table, error):
    """Patterns of one or two items, the largest divergence of the error first."""
    from divexplorer import DivergenceExplorer

    patterns = DivergenceExplorer(table.assign(error=error.astype(bool))).get_pattern_divergence(
        min_support=LEAST, boolean_outcomes=["error"]
    )
    patterns = patterns[patterns["length"].between(1, 2)].sort_values("error_div", ascending=False)
    found = []
    for itemset, score in patterns[["itemset", "error_div"]].head(SHOWN).to_numpy():
        items = [item.split("=", 1) for item in itemset]
        mask = np.logical_and.reduce([(table[name] == level).to_numpy() for name, level in items])
        found.append(([name for name, _ in items], mask, float(score)))
    return found


def wise_pizza(tables, given, names):
    """Segments of one or two dimensions that explain the change of the mean error."""
    import wise_pizza as pizza

    old, new = (
        tables[domain].assign(total=given[f"error_{domain}"], size=1.0)
        for domain in ("source", "target")
    )
    fitted = pizza.explain_changes_in_average(
        old, new, dims=names, total_name="total", size_name="size", max_segments=SHOWN, max_depth=2
    )
    found = []
    for segment in fitted.segments:
        items = list(segment["segment"].items())
        mask = np.logical_and.reduce(
            [(tables["target"][name] == level).to_numpy() for name, level in items]
        )
        found.append(([name for name, _ in items], mask, abs(float(segment["impact"]))))
    return found


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    for path in sys.argv[1:]:
        main(path)
