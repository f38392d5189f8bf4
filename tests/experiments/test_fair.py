"""The fair test: one line per tool, empty cells where it has nothing to say."""

from __future__ import annotations

import json
import sys

from experiments import fair
from experiments.simulation import Order


def test_each_tool_has_the_cells_of_its_tasks_and_no_others(tmp_path):
    files = {
        "naming": "story,method,draws,first,named,false,seconds\n"
        "nothing,whygap,50,0,0,0.02,0.8\nother outcomes,whygap,50,1,0.9,0.1,0.9\n"
        "nothing,drift,50,0,0,0.04,0.01\n",
        "graph": "graph,rows,method,covariate,truth,draws,bias,rmse,coverage\n"
        'independent,2000,"whygap, without the graph",x1,0,40,0,0.003,0.88\n'
        'independent,2000,"whygap, without the graph",x2,0,40,0,0.004,0.92\n'
        'independent,2000,"dowhy, its defaults",x1,0,40,0,0.005,nan\n'
        'independent,8000,"dowhy, its defaults",x1,0,40,0,0.004,nan\n',
        "rules": "effect,tool,draws,found,named,showed,rules\n"
        "0.3,wise-pizza,30,0.7,0.7,1,5\n0.0,wise-pizza,30,,,1,5\n1.0,wise-pizza,30,0.9,1,1,5\n",
    }
    for name, text in files.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    page = fair.run(Order(tmp_path, jobs=0)).read_text(encoding="utf-8")
    lines = {line.split(" | ")[0]: line for line in page.splitlines() if line.startswith("| ")}
    assert lines["| **whygap**"].split(" | ")[2:6] == [".35", ".90", "", ".90"]
    assert ".50 .40 | none given" in lines["| DoWhy, given the causal graph"]
    assert ".70 .90 | 1.00" in lines["| wise-pizza"]
    assert "at least 40 draws" in page


def test_versions_are_those_of_the_environment_that_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("WHYGAP_PEERS", sys.executable)
    monkeypatch.setattr(fair, "PACKAGES", ("numpy",))
    path = tmp_path / "versions.json"
    noted = fair._versions(path)
    assert noted["numpy"] == __import__("numpy").__version__
    monkeypatch.delenv("WHYGAP_PEERS")
    assert fair._versions(path) == noted == json.loads(path.read_text(encoding="utf-8"))
