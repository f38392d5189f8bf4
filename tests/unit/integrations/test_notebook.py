"""A result in a notebook that is executed by Jupyter's own machinery."""

from __future__ import annotations

import warnings

import pytest
from result_factory import make_gap
from small_study import FAST, make_study

import whygap as wg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of Jupyter's packages about each other
    import nbformat
    from nbclient import NotebookClient


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_notebook_shows_words_and_a_page(tmp_path):
    gap = wg.explain(make_study(), detail=("points", "affected"), settings=FAST)
    gap.save(tmp_path / "gap.json")
    cells = ["import whygap as wg", 'wg.load("gap.json")']
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (output,) = book.cells[1].outputs
    assert sorted(output.data) == ["text/html", "text/plain"]
    assert output.data["text/plain"] == str(gap)
    assert "<svg" in output.data["text/html"]
    assert len(nbformat.writes(book).encode()) < 1_000_000


def test_a_page_asks_for_nothing_and_runs_nothing():
    page = make_gap()._repr_html_()
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
