"""dowhy's multiply robust attribution of some draws; run by its own interpreter (see `graph`).

DIR/bin/python -I experiments/peer_graph.py rows.npz ...      prints a line of JSON for each
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import warnings

import networkx
import numpy as np
import pandas as pd
from dowhy import gcm

EDGES = {"independent": [], "chain": [("x1", "x2"), ("x2", "x3")]}


def main(path):
    given = np.load(path)
    names = list(given["names"])
    old, new = (
        pd.DataFrame(given[domain], columns=names).assign(right=given[f"loss_{domain}"])
        for domain in ("source", "target")
    )
    edges = [*EDGES[str(given["graph"])], *((name, "right") for name in names)]
    model = gcm.ProbabilisticCausalModel(networkx.DiGraph(edges))
    gcm.util.general.set_random_seed(int(given["seed"]))
    learners = {
        "linear": {},
        "quadratic": {
            "regressor": gcm.ml.create_polynom_regressor,
            "classifier": gcm.ml.create_polynom_logistic_regression_classifier,
        },
    }
    found = {}
    for name, chosen in learners.items():
        with contextlib.redirect_stdout(io.StringIO()):
            shares = gcm.distribution_change_robust(
                model, old, new, "right", split_random_state=int(given["seed"]), **chosen
            )
        found[name] = {str(node): float(value) for node, value in shares.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    gcm.config.default_n_jobs = 1
    gcm.config.disable_progress_bars()
    for path in sys.argv[1:]:
        main(path)
