"""Several targets in one study file."""

from __future__ import annotations

import json
import shutil

import pyarrow.parquet as pq
from conftest import QUICK

import whygap as wg


def test_several_targets_give_one_result_and_one_report(call, world, tmp_path):
    for name in ("source", "target"):
        shutil.copy(world / f"{name}.parquet", tmp_path)
    later = pq.read_table(world / "target.parquet").slice(0, 700)
    pq.write_table(later, tmp_path / "later.parquet")
    text = (world / "study.toml").read_text() + '[targets]\n"Site B!" = "later.parquet"\n'
    (tmp_path / "study.toml").write_text(text)
    page = tmp_path / "gap.html"
    command = ("explain", tmp_path / "study.toml", "--detail", "none", "-o", tmp_path / "gap.json")
    done = call(*command, "--report", page, "--json", *QUICK)
    assert done.code == 0, done.err
    assert list(json.loads(done.out)["gaps"]) == ["target", "Site B!"]
    assert list(wg.load(tmp_path / "gap.json")) == ["target", "Site B!"]
    assert "Site B!" in page.read_text(encoding="utf-8")
