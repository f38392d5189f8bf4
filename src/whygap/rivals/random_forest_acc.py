"""RandomForestAcc: which variables predict the loss?

A random forest on the rows of both domains predicts the per-row loss from the domain, W and Z;
importance is the forest's mean decrease of impurity, as shares of 1 that the domain and W take
part in.

Assumes: variables that predict the loss explain its change.
Misleads: it finds what makes rows hard in *either* domain, shift or no shift; impurity favours
columns with many distinct values.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from whygap.domains import Array
from whygap.rivals.importances import Importances, random_stream
from whygap.settings import Settings
from whygap.tables.design import Design

__all__ = ["importance"]

ASSUMPTIONS = "A variable that predicts the loss explains why the loss changed."
MISLEADS = (
    "It measures what makes rows hard in either domain, not what shifted; impurity importances "
    "favour columns with many distinct values."
)
TREES = 200
LEAF = 5


def importance(design: Design, settings: Settings) -> Importances:
    """Share of the forest's impurity decrease, per player."""
    shares = _impurity_shares(design, settings)
    return Importances(
        method="random_forest_acc",
        part="outcome",
        names=tuple(player.name for player in design.players),
        values=np.array([shares[list(player.columns)].sum() for player in design.players]),
        unit="share of the impurity decrease",
        assumptions=ASSUMPTIONS,
        misleads=MISLEADS,
    )


def _impurity_shares(design: Design, settings: Settings) -> Array:
    """One share per column of the design; the domain's own share is left out."""
    features = np.vstack(list(design.features))
    domain = np.repeat([0.0, 1.0], list(design.rows))[:, None]
    loss = np.concatenate(list(design.loss))
    weights = np.concatenate(list(design.sample().weights))
    seed = int(random_stream(settings, "random_forest_acc").integers(2**31))
    kind = RandomForestClassifier if len(np.unique(loss)) == 2 else RandomForestRegressor
    forest = kind(n_estimators=TREES, min_samples_leaf=LEAF, random_state=seed, n_jobs=1)
    response = (loss == loss.max()).astype(int) if kind is RandomForestClassifier else loss
    forest.fit(np.column_stack([features, domain]), response, sample_weight=weights)
    return np.asarray(forest.feature_importances_[:-1], dtype=float)
