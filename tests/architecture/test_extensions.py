"""New things touch few files: patches of a copy of the package, each of two files at most."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "whygap"
MOST_FILES = 2


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be changed."""
    copy = tmp_path / "src" / "whygap"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def touched(package: Path) -> list[str]:
    """Files of the copy that are new or changed."""
    names = [path.relative_to(package) for path in package.rglob("*") if path.is_file()]
    return [
        str(name)
        for name in names
        if "__pycache__" not in name.parts
        and not ((SOURCE / name).exists() and filecmp.cmp(SOURCE / name, package / name, False))
    ]


def run(package: Path, *command: str) -> str:
    """What Python prints, with the copy in place of the package."""
    paths = os.pathsep.join([str(package.parent), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        cwd=package.parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def insert(path: Path, before: str, text: str) -> None:
    """Put text in front of the only place that reads so."""
    old = path.read_text(encoding="utf-8")
    assert old.count(before) == 1, f"{path.name}: {before}"
    path.write_text(old.replace(before, text + before), encoding="utf-8")


METRIC = '''

@entry(
    words="Jaccard index",
    tasks=("binary",),
    wants="label",
    higher_is_better=True,
    of=lambda means: means[0] / (means[1] + means[2] - means[0]),
)
def jaccard(label: Array, outcome: Array) -> Array:
    """Of the rows called 1 or being 1, the share that are called and are."""
    return np.stack([label * outcome, label, outcome])
'''
USE_METRIC = """
import whygap as wg
from small_study import FAST, make_study
assert "jaccard" in wg.metrics("binary") and "jaccard" not in wg.metrics("regression")
print(wg.__file__)
print(wg.explain(make_study(metric="jaccard"), detail=("points",), settings=FAST).summary())
"""


def test_a_new_metric_is_one_entry(package):
    entries = package / "_metrics" / "entries.py"
    entries.write_text(entries.read_text(encoding="utf-8") + METRIC, encoding="utf-8")
    printed = run(package, "-c", USE_METRIC)
    assert str(package) in printed
    assert "Jaccard index" in printed
    assert len(touched(package)) == 1


COMMAND = '''"""`whygap shapes`: how many rows and columns the tables of a study have."""

from __future__ import annotations

from whygap.cli.options import AsJson, StudyPath
from whygap.cli.output import print_result
from whygap.study_file import read_study_file

EXAMPLES = ("whygap shapes study.toml",)


def command(study_file: StudyPath, as_json: AsJson = False) -> None:
    """Show how many rows the tables have."""
    rows = read_study_file(study_file).study.design.rows
    print_result(f"{rows.source} and {rows.target} rows", {"source": rows.source}, as_json)
'''
STUDY = """source = "source.csv"
target = "target.csv"
outcome = "y"
prediction = "risk"
baseline = ["w"]
"""


def test_a_new_command_is_a_file_and_its_name_in_the_list(package):
    (package / "cli" / "shapes.py").write_text(COMMAND, encoding="utf-8")
    insert(package / "cli" / "main.py", "demo init check", "shapes ")
    folder = package.parent
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    run(package, "-c", "from small_study import tables\n"
        "for name, table in zip(('source', 'target'), tables()):\n"
        "    table.to_csv(f'{name}.csv', index=False)")  # fmt: skip
    assert run(package, "-m", "whygap", "shapes", "study.toml") == "400 and 300 rows\n"
    assert "whygap shapes study.toml" in run(package, "-m", "whygap", "shapes", "--help")
    assert len(touched(package)) <= MOST_FILES


PART = """    shares = dict(found.parts)
    half = 0.5 * shares["outcome"]
    shares["outcome"] = half
    shares["model"] = half
    texts["model"] = ("New model", "Predictions of another model for the same rows.")
    found = replace(found, parts=shares)
"""
USE_PART = """
import whygap as wg
from small_study import FAST, make_study
gap = wg.explain(make_study(), detail=(), settings=FAST)
assert list(gap.parts)[-1] == "model"
assert gap.save("gap.json") and wg.load("gap.json") == gap
assert "model" in list(gap.to_frame()["part"])
assert any(finding.part == "model" for finding in gap.findings())
assert gap.report("gap.html").read_text().count("New model") >= 3
many = wg.explain_many(make_study(), {"B": make_study().target}, detail=(), settings=FAST)
assert "model" in list(many.to_frame()["part"])
gap.plot().savefig("gap.svg")
print(gap.summary())
"""


def test_a_new_part_is_one_entry(package):
    about = package / "running" / "about.py"
    insert(about, "    return {\n        name: Part.named(", PART)
    text = about.read_text(encoding="utf-8")
    text = text.replace("import asdict, dataclass", "import asdict, dataclass, replace")
    about.write_text(text, encoding="utf-8")
    printed = run(package, "-c", USE_PART)
    assert "New model" in printed
    assert touched(package) == [str(Path("running") / "about.py")]


OUTPUT = '''
def _tab_separated(table: Sheet) -> str:
    """Return the lines of a table with tabs between the cells."""
    return "\\n".join("\\t".join(line) for lines in table.sections.values() for line in lines)


'''


def test_a_new_output_is_a_function_and_its_ending(package):
    tables = package / "render" / "tables.py"
    insert(tables, "FORMATS: dict[str, Callable", OUTPUT)
    insert(tables, '    "text": _text,\n', '    "tsv": _tab_separated,\n')
    insert(package / "cli" / "show.py", '".csv", ".md"', '".tsv", ')
    run(package, "-c", "from result_factory import make_gap; make_gap().save('gap.json')")
    run(package, "-m", "whygap", "show", "gap.json", "-o", "gap.tsv")
    assert "Outcome\t-4.9\t" in (package.parent / "gap.tsv").read_text(encoding="utf-8")
    assert len(touched(package)) <= MOST_FILES
