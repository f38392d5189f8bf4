"""The engine's numbers are those of its version."""

from __future__ import annotations

import pytest

from experiments.canaries import CANARIES, TOLERANCE, measure, moved, stored
from whygap._version import ENGINE

WHAT_TO_DO = (
    "The engine gives other numbers than it did. If that is meant: raise ENGINE in "
    "src/whygap/_version.py, run 'python -m experiments canaries --write' and say why in "
    "CHANGELOG.md. If it is not: take the change back."
)


@pytest.mark.parametrize("name", CANARIES)
def test_no_number_moved(name):
    distances = moved(measure(CANARIES[name]), stored()["numbers"].get(name, {}))
    far = {what: round(by, 3) for what, by in distances.items() if not by <= TOLERANCE}
    assert not far, f"{WHAT_TO_DO}\nMoved by more than {TOLERANCE} standard errors: {far}"


def test_the_stored_numbers_are_of_this_engine_and_of_these_canaries():
    kept = stored()
    assert kept["engine"] == ENGINE, "run 'python -m experiments canaries --write'"
    assert set(kept["numbers"]) == set(CANARIES)


def test_a_move_is_measured_in_standard_errors():
    before = {"a": [1.0, 0.1], "exact": [0.0, 0.0], "gone": [0.0, 1.0]}
    found = moved({"a": [1.01, 0.1], "exact": [0.0, 0.0], "new": [0.0, 1.0]}, before)
    assert found.pop("a") == pytest.approx(0.1)
    assert found == {"exact": 0.0, "gone": float("inf"), "new": float("inf")}
    assert moved({"a": [1.0, 0.11]}, {"a": [1.0, 0.1]})["a"] == pytest.approx(0.1)
