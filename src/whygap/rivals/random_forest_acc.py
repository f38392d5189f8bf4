"""RandomForestAcc: which variables predict the loss?

A random forest on the rows of both domains predicts the per-row loss from the domain, W and Z;
importance is the forest's mean decrease of impurity, as shares of 1 that the domain and W take
part in.
"""

from __future__ import annotations

import numpy as np

from whygap.domains import Array
from whygap.learning.standalone import RandomForestClassifier, RandomForestRegressor
from whygap.rivals.importances import Importances, Method, random_stream
from whygap.settings import Settings
from whygap.tables.design import Design

METHOD = Method(
    name="random_forest_acc",
    part="outcome",
    unit="share of the impurity decrease",
    assumptions="A variable that predicts the loss explains why the loss changed.",
    misleads="It measures what makes rows hard in either domain, not what shifted; impurity "
    "importances favour columns with many distinct values.",
)


def importance(design: Design, settings: Settings) -> Importances:
    """Share of the forest's impurity decrease, per player."""
    shares = _impurity_shares(design, settings)
    return METHOD.importances(
        {player.name: shares[list(player.columns)].sum() for player in design.players}
    )


def _impurity_shares(design: Design, settings: Settings) -> Array:
    """One share per column of the design; the domain's own share is left out."""
    features = np.vstack(list(design.features))
    domain = np.repeat([0.0, 1.0], list(design.rows))[:, None]
    loss = np.concatenate(list(design.loss))
    weights = np.concatenate(list(design.sample().weights))
    seed = int(random_stream(settings, "random_forest_acc").integers(2**31))
    table = np.column_stack([features, domain])
    # Importances hardly move with more trees; leaves of five rows see structure, not single rows.
    return forest_importances(table, loss, weights, trees=200, leaf=5, seed=seed)[:-1]


def forest_importances(
    features: Array, response: Array, weights: Array, trees: int, leaf: int, seed: int
) -> Array:
    """Mean decrease of impurity of every column in a random forest; two values are classes."""
    two = len(np.unique(response)) == 2
    kind = RandomForestClassifier if two else RandomForestRegressor
    forest = kind(n_estimators=trees, min_samples_leaf=leaf, random_state=seed, n_jobs=1)
    label = (response == response.max()).astype(int) if two else response
    forest.fit(features, label, sample_weight=weights)
    return np.asarray(forest.feature_importances_, dtype=float)
