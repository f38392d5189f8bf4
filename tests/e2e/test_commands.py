"""Every command does its job, speaks on the right stream and ends with the right code."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib

import pytest
from conftest import QUICK

import whygap as wg
from whygap.cli.main import COMMANDS

NAMES = [module.__name__.rpartition(".")[2] for module in COMMANDS]


def test_help_fits_80_columns_and_names_every_command(shell):
    done = shell("--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert all(f"  {name} " in done.out for name in NAMES)
    assert "..." not in done.out.partition("Commands:")[2], "a summary is cut off"


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_help_with_examples_and_the_common_options(call, name):
    done = call(name, "--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert f"    whygap {name}" in done.out
    for option in ("--json", "--quiet", "--verbose"):
        assert option in done.out


def test_version(call):
    done = call("--version")
    assert done.code == 0
    assert done.out.startswith("whygap ")


def test_no_arguments_show_the_help(call):
    done = call()
    assert "Usage: whygap" in done.out + done.err


def test_explain_writes_a_result_that_reads_back(result):
    gap = wg.load(result)
    parts = gap.parts
    assert sum(p.value for p in parts.values()) == pytest.approx(gap.total.value)
    assert set(gap.shares) == {"covariate", "outcome"}


def test_explain_prints_words_on_stdout_and_files_on_stderr(call, world, tmp_path):
    path = tmp_path / "gap.json"
    done = call("explain", world / "study.toml", "--detail", "none", "-o", path, *QUICK)
    assert done.code == 0, done.err
    assert done.out.startswith("Accuracy fell by ")
    assert f"Wrote {path}" in done.err
    assert f"Wrote {path}" not in done.out


def test_explain_without_a_study_file(call, world):
    command = ["explain", "--source", world / "source.parquet", "--target"]
    command += [world / "target.parquet", "--outcome", "y", "--baseline", "W"]
    command += ["--prediction", "prediction", "--detail", "none", "--json", "--quiet", *QUICK]
    done = call(*command)
    assert done.code == 0, done.err
    assert done.err == ""
    values = json.loads(done.out)
    assert values["about"]["baseline"] == ["W"]
    assert values["covariate"] is None


def test_explain_options_override_the_study_file(call, world):
    command = ("explain", world / "study.toml", "--detail", "none", "--json", "--level", 0.8)
    done = call(*command, "--set", "learner=fast", "--set", "folds=4", "--seed", 9)
    settings = json.loads(done.out)["about"]["settings"]
    assert (settings["level"], settings["folds"], settings["seed"]) == (0.8, 4, 9)


@pytest.mark.parametrize("kind", ["text", "md", "csv", "tex", "html"])
def test_table_in_every_format(call, result, kind):
    done = call("table", result, "--format", kind)
    assert done.code == 0, done.err
    assert all(term in done.out for term in ("baseline", "Z1", "Z3"))


def test_table_as_json_is_the_tidy_table(call, result):
    rows = json.loads(call("table", result, "--json", "--level", 0.9).out)
    gap = wg.load(result)
    low, high = gap.total.interval(0.9)
    assert rows[0]["term"] == "gap"
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx((low, high))


def test_table_to_a_file(call, result, tmp_path):
    path = tmp_path / "gap.csv"
    done = call("table", result, "--format", "csv", "-o", path)
    assert (done.code, done.out) == (0, f"Wrote {path}\n")
    assert path.read_text().startswith("part,term,estimate")


@pytest.mark.parametrize("name", ["gap.svg", "gap.png", "gap.pdf"])
def test_plot(call, result, tmp_path, name):
    done = call("plot", result, "-o", tmp_path / name)
    assert done.code == 0, done.err
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert (tmp_path / name).read_bytes().startswith(starts[name[-3:]])
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_report(call, result, tmp_path):
    done = call("report", result, "-o", tmp_path / "gap.html")
    assert done.code == 0, done.err
    page = (tmp_path / "gap.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html")
    assert len(page) < 2_000_000


def test_init_gives_a_study_file(call):
    done = call("init")
    assert done.code == 0
    assert {"source", "target", "outcome"} <= set(tomllib.loads(done.out))


def test_init_does_not_write_over_a_file(call, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text("mine")
    done = call("init", "-o", file)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"Error: The file '{file}' is there already. Name another one, or write over it with "
        "--force.\n"
    )
    assert file.read_text() == "mine"
    assert call("init", "-o", file, "--force").code == 0
    assert file.read_text().startswith("# A whygap study")


def test_columns_are_dropped_and_tables_named_on_the_command_line(call, world, tmp_path):
    page, gap = tmp_path / "gap.html", tmp_path / "gap.json"
    tables = [f"--{name}={world / name}.parquet" for name in ("source", "target")]
    named = ("--source-name", "north", "--target-name", "south", "--drop", "Z3,Z2")
    roles = ("--outcome", "y", "--baseline", "W", "--prediction", "prediction")
    run = ("--detail", "none", "--learner", "fast", "--set", "folds=3")
    done = call("explain", *tables, *roles, *named, *run, "-o", gap, "--report", page)
    assert done.code == 0, done.err
    assert "north" in done.out
    assert "south" in done.out
    assert "north" in page.read_text()
    assert list(json.loads(gap.read_text())["about"]["players"]) == ["Z1"]
    done = call("explain", world / "study.toml", *named, *run)
    assert done.err == (
        "Error: Roles are named in the study file or as options, not in both. Got --drop, "
        "--source-name, --target-name. Leave these options out, or leave the study file out.\n"
    )


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_file_of_another_kind_is_refused_before_any_work(call, world, tmp_path, option):
    done = call("explain", world / "study.toml", option, tmp_path / "gap.csv")
    what = "A result is saved as JSON" if option == "-o" else "A report is a page of HTML"
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"Error: {what}. Got 'gap.csv'. The table of all estimates is gap.to_frame(), or: whygap "
        "table gap.json --format csv.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_rehearsal_of_the_parts_alone(call, world):
    done = call("rehearse", world / "study.toml", "-r", 2, "--detail", "none", "--learner", "fast")
    assert done.code == 0, done.err
    assert "points" not in done.out
    done = call("rehearse", world / "study.toml", "--detail", "where")
    assert done.err == ("Error: A rehearsal has no detail 'where'. Details are: points, shares.\n")


def test_init_check_explain_on_guessed_roles(call, world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "study.toml"
    tables = ("--source", world / "source.parquet", "--target", world / "target.parquet")
    assert call("init", *tables, "-o", file).code == 0
    guessed = tomllib.loads(file.read_text())
    assert (guessed["outcome"], guessed["prediction"]) == ("y", "prediction")
    done = call("explain", "study.toml", "--detail", "none", *QUICK)
    assert done.code == 0, done.err


def test_check_of_a_sound_study(call, world):
    done = call("check", world / "study.toml", "--json")
    assert done.code in (0, 1), done.err
    values = json.loads(done.out)
    assert values["ok"] == (done.code == 0)


def test_paths_in_a_study_file_are_relative_to_it(shell, world, tmp_path):
    done = shell("explain", world / "study.toml", "--detail", "none", *QUICK, cwd=tmp_path)
    assert done.code == 0, done.err
    assert list(tmp_path.iterdir()) == []


def test_output_can_be_piped_into_a_reader_that_stops(world, result):
    command = f"{sys.executable} -m whygap.cli table {result} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)  # noqa: S602
    assert done.stdout.startswith("Accuracy")
    assert "Traceback" not in done.stderr


LINES_OF_A_SCREEN = 50  # of a terminal of full height


def test_demo_writes_its_three_files_and_ends_with_the_report(shell, tmp_path):
    done = shell("demo", "-o", "here", "--set", "learner=fast", cwd=tmp_path)
    assert done.code == 0, done.err
    assert {p.name for p in (tmp_path / "here").iterdir()} == {"gap.json", "gap.html", "gap.txt"}
    assert done.out.rstrip().endswith(str(tmp_path / "here" / "gap.html"))
    words = (tmp_path / "here" / "gap.txt").read_text(encoding="utf-8")
    asked = ("Who is hit", "What can be won back", "What to do next")
    answer = words.partition("\n\nWhere it comes from")[0]
    assert done.out.startswith(f"{answer}\n\n{asked[0]}\n")
    assert all(section in words for section in done.out.split("\n\n")[:-1])
    assert all(f"\n\n{title}" in done.out for title in asked)
    assert len(done.out.splitlines()) <= LINES_OF_A_SCREEN
    gap = wg.load(tmp_path / "here" / "gap.json")
    assert gap.about.settings["support"] == "common"
    assert gap.total.value == pytest.approx(-0.08, abs=0.02)


def test_the_package_can_be_run_as_a_module():
    found = subprocess.run(
        [sys.executable, "-m", "whygap", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("whygap")
