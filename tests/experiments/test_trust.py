"""The page of trust: what belongs to which question, and that every weak number is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import trust
from experiments.simulation import Order

HEAD = (Path(__file__).parents[2] / "evidence/culprits/summary.csv").read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("quantity", "question"),
    [
        ("aggregate gap", "parts"),
        ("points covariate Z1", "points"),
        ("where score above 0.5", "where"),
        ("recoverable here (total)", "recoverable"),
        ("outcome value {Z1}", "values"),
        ("outcome value {Z1, Z2}", None),
        ("outcome value {}", None),
        ("outcome share Z1", "values"),
        ("outcome denominator", None),
    ],
)
def test_every_quantity_belongs_to_a_question_or_to_none(quantity, question):
    assert trust.question_of(quantity) == question


def line(
    quantity: str, settings: str = "defaults", coverage: float = 0.9, verdict: str = "in band"
):
    return (
        f"a,gaussian,accuracy,2000,1200,{settings},{quantity},0.1,200,0,0.1,0.1,0.01,0.2,0.01,"
        f"0.03,{coverage},0.845,0.95,{verdict},{coverage},0.1,0.1,0.9"
    )


def test_weak_numbers_are_named_and_variants_are_not_ours(tmp_path):
    folder = tmp_path / "coverage"
    folder.mkdir()
    rows = [
        line("aggregate gap"),
        line("aggregate outcome", coverage=0.8, verdict="below"),
        line("aggregate outcome", settings="folds=3", coverage=0.1, verdict="below"),
        line("points baseline W"),
        line("where W above 0"),
        line("recoverable here W"),
        line("outcome value {Z1}", coverage=0.88),
        line("outcome value {Z1}", settings="published=fast", coverage=0.7),
        line("outcome value {Z2}", coverage="", verdict="never shown"),
    ]
    (folder / "summary.csv").write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    page = trust.run(Order(tmp_path)).read_text(encoding="utf-8")
    assert (
        "2 numbers. Their intervals hold in .85 of the\ndraws on average, at worst in .80. One"
        in page
    )
    assert (
        "| the paper's world | aggregate outcome | accuracy | 2,000 + 1,200 | .80 | .20 | 200 |"
        in page
    )
    assert "hold .70 on average; ours\n.88 at the same sizes." in page
    drawn = {path.name for path in (tmp_path / "trust").glob("*.svg")}
    assert drawn == {f"trust_{question}.svg" for question in trust.QUESTIONS}
