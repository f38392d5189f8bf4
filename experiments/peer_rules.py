"""What three other tools report of one draw; run by their own interpreter (see `rules`).

DIR/bin/python -I experiments/peer_rules.py tables.npz ...      prints a line of JSON for each

WHYGAP_RULE_TOOLS=wise_pizza,divexplorer asks some of them alone (deepchecks is the slow one). A
name that ends in _sixths has numbers cut into sixths, as whygap cuts them, instead of quarters.
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
TOOLS = os.environ.get("WHYGAP_RULE_TOOLS", "deepchecks,divexplorer,wise_pizza").split(",")


def main(path):
    given = np.load(path)
    names, categories = list(given["names"]), list(given["categories"])
    found = {}
    for tool in TOOLS:
        with contextlib.redirect_stdout(io.StringIO()):
            segments = ask(tool, given, names, categories)
        found[tool] = [
            {"columns": sorted(columns), "jaccard": jaccard(mask, given["planted"]), "score": score}
            for columns, mask, score in segments[:SHOWN]
        ]
    print(json.dumps(found))


def ask(tool, given, names, categories):
    if tool == "deepchecks":
        return deepchecks(pd.DataFrame(given["target"], columns=names), names, categories, given)
    tables = in_levels(given, names, categories, 6 if tool.endswith("_sixths") else 4)
    if tool.startswith("divexplorer"):
        return divexplorer(tables["target"], given["error_target"])
    return wise_pizza(tables, given, names)


def in_levels(given, names, categories, parts):
    """Both tables, numbers cut into parts with as many rows of both."""
    levels = {"source": {}, "target": {}}
    for j, name in enumerate(names):
        both = np.r_[given["source"][:, j], given["target"][:, j]]
        cut = np.quantile(both, np.arange(1, parts) / parts)
        for domain, table in levels.items():
            column = given[domain][:, j]
            codes = column.astype(int) if categories[j] else np.digitize(column, cut)
            table[name] = codes.astype(str)
    return {domain: pd.DataFrame(table) for domain, table in levels.items()}


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
