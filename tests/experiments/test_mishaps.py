"""A spoilt column never yields an answer that is sure and wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments import mishaps, run
from experiments.simulation import Order
from experiments.worlds import clinic
from whygap.domains import DOMAINS


def test_the_truth_is_what_many_rows_show():
    tables = clinic.draw((200_000, 200_000), 0)
    truth = clinic.truth()
    for domain, mean in zip(DOMAINS, (truth.mean_000, truth.mean_111), strict=True):
        table = tables[domain]
        right = (table["risk"] >= 0.5) == (table["y"] == 1)
        assert right.mean() == pytest.approx(mean, abs=0.005)


def test_every_kind_spoils_every_column_it_is_given():
    tables = clinic.draw((300, 300), 0)
    seen = set()
    for seed in range(300):
        pair, words = mishaps.spoil(tables, seed)
        kind, column, *_, place = words.split()
        seen.add((kind, column, place))
        other = "source" if place == "target" else "target"
        same = tables[other][column] if "smoker" not in words else pair[other][column]
        assert np.array_equal(pair[other][column], same)
        rest = [name for name in tables[place] if name != column]
        assert pair[place][rest].equals(tables[place][rest])
    kinds, columns, places = (set(one) for one in zip(*seen, strict=True))
    assert (kinds, columns, places) == (set(mishaps.KINDS), set(clinic.COLUMNS), set(DOMAINS))
    assert len(seen) > 60


def test_what_is_sure_and_wrong():
    line = {"comparable": True, "problems": [], "missed": ["outcome"]}
    assert mishaps.is_wrong(line)
    for change in ({"comparable": False}, {"problems": ["a"]}, {"missed": []}):
        assert not mishaps.is_wrong(line | change)


def test_twenty_mishaps_and_none_is_sure_and_wrong(tmp_path):
    page = run("mishaps", Order(tmp_path, quick=True)).read_text(encoding="utf-8")
    assert "None is wrong." in page
    lines = mishaps.all_lines(tmp_path / "mishaps-quick")
    assert len(lines) == 20
    assert not any(map(mishaps.is_wrong, lines))
    assert json.dumps(lines[0])


def test_what_an_older_engine_ran_is_run_anew_when_asked(tmp_path, monkeypatch):
    ran = []

    def old(config, seed):
        return {"config": config.label, "seed": seed, "engine": 1} | made

    def new(config, seed):
        ran.append(seed)
        return {"config": config.label, "seed": seed, "engine": mishaps.ENGINE} | made

    made = {"comparable": False, "problems": [], "missed": [], "mishap": "scaled age", "draw": 0}
    for job, anew in ((old, False), (new, False), (new, True)):
        monkeypatch.setattr(mishaps, "replicate", job)
        page = mishaps.run(Order(tmp_path, quick=True, anew=anew)).read_text(encoding="utf-8")
        assert len(ran) == (20 if anew else 0)
    assert f"Made by engine {mishaps.ENGINE}." in page
