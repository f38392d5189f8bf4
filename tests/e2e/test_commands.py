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

FAST = ("--set", "learner=fast", "--set", "folds=3")
NAMES = [module.__name__.rpartition(".")[2] for module in COMMANDS]


def test_help_fits_80_columns_and_names_every_command(shell):
    done = shell("--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert all(f"  {name} " in done.out for name in NAMES)
    assert "..." not in done.out.partition("Commands:")[2], "a summary is cut off"


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_help_with_examples_and_prints_json(call, name):
    done = call(name, "--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    assert f"    whygap {name}" in done.out
    assert "--json" in done.out


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
    command += ["--prediction", "prediction", "--detail", "none", "--json", *QUICK]
    done = call("--quiet", *command)
    assert done.code == 0, done.err
    assert done.err == ""
    values = json.loads(done.out)
    assert values["about"]["baseline"] == ["W"]
    assert values["shares"] == {}


def test_explain_options_override_the_study_file(call, world):
    command = ("explain", world / "study.toml", "--detail", "none", "--json", "--level", 0.8)
    done = call(
        *command, "--metric", "brier", "--set", "learner=fast", "--set", "folds=4", "--seed", 9
    )
    about = json.loads(done.out)["about"]
    settings = about["settings"]
    assert "rier" in about["metric"]
    assert (settings["level"], settings["folds"], settings["seed"]) == (0.8, 4, 9)


def test_show_prints_the_summary_of_every_kind_of_result(call, result, world, tmp_path):
    assert call("show", result, "--level", 0.8).out == f"{wg.load(result).summary(0.8)}\n"
    path = tmp_path / "check.json"
    assert call("check", world / "study.toml", "-o", path).code in (0, 1)
    assert call("show", path).out.rstrip() == wg.load(path).summary().rstrip()
    done = call("show", path, "--part", "points")
    assert done.code == 2
    assert done.err == (
        "Error: Only the results of explain have parts to choose from. Got --part points of a "
        "check.\n"
    )


def test_one_part_alone(call, result, tmp_path):
    done = call("show", result, "--part", "parts", "--json")
    assert {row["kind"] for row in json.loads(done.out)} == {"change", "part"}
    done = call("show", result, "--part", "points", "-o", tmp_path / "points.md")
    assert done.code == 0, done.err
    text = (tmp_path / "points.md").read_text()
    assert "Z1" in text
    assert "Shapley" not in text
    done = call("show", result, "--part", "share")
    assert done.err == "Error: There is no part 'share'. Did you mean 'shares'?\n"


def test_show_as_json_is_the_tidy_table(call, result):
    rows = json.loads(call("show", result, "--json", "--level", 0.9).out)
    low, high = wg.load(result).total.interval(0.9)
    assert rows[0]["kind"] == "change"
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx((low, high))


STARTS = {
    "csv": b"part,term,kind,estimate",
    "md": b"**Accuracy",
    "tex": b"\\begin",
    "svg": b"<?xml",
    "png": b"\x89PNG",
    "pdf": b"%PDF",
    "html": b"<!DOCTYPE html",
}


@pytest.mark.parametrize("ending", STARTS)
def test_show_writes_what_the_ending_says(call, result, tmp_path, ending):
    path = tmp_path / f"gap.{ending}"
    done = call("show", result, "-o", path)
    assert (done.code, done.out, done.err) == (0, "", f"Wrote {path}\n")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    content = path.read_bytes()
    assert content.lstrip()[: len(STARTS[ending])].lower() == STARTS[ending].lower()
    assert len(content) < 2_000_000


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


def test_roles_stand_in_the_study_file_or_in_options(call, world):
    done = call("explain", world / "study.toml", "--outcome", "y", "--baseline", "W")
    assert done.err == (
        "Error: Roles are named in the study file or as options, not in both. Got --outcome, "
        "--baseline. Leave these options out, or leave the study file out.\n"
    )


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_file_of_another_kind_is_refused_before_any_work(call, world, tmp_path, option):
    done = call("explain", world / "study.toml", option, tmp_path / "gap.csv")
    what = "A result is saved as JSON" if option == "-o" else "A report is a page of HTML"
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"Error: {what}. Got 'gap.csv'. The table of all estimates is gap.to_frame(), or: whygap "
        "show gap.json -o gap.csv.\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_rehearsal_of_the_parts_alone(call, world):
    done = call("rehearse", world / "study.toml", "-r", 2, "--detail", "none", *FAST)
    assert done.code == 0, done.err
    assert "points" not in done.out
    done = call("rehearse", world / "study.toml", "--detail", "where")
    assert done.err == ("Error: A rehearsal has no detail 'where'. Details are: points.\n")


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
    assert (values["problems"] == []) == (done.code == 0)


def test_paths_in_a_study_file_are_relative_to_it(shell, world, tmp_path):
    done = shell("explain", world / "study.toml", "--detail", "none", *QUICK, cwd=tmp_path)
    assert done.code == 0, done.err
    assert list(tmp_path.iterdir()) == []


def test_output_can_be_piped_into_a_reader_that_stops(world, result):
    command = f"{sys.executable} -m whygap show {result} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)  # noqa: S602
    assert done.stdout.startswith("Accuracy")
    assert "Traceback" not in done.stderr


LINES_OF_A_SCREEN = 50  # of a terminal of full height


def test_demo_writes_two_files_and_ends_with_the_report(shell, tmp_path):
    done = shell("demo", "-o", "here", "--set", "learner=fast", cwd=tmp_path)
    assert done.code == 0, done.err
    assert {p.name for p in (tmp_path / "here").iterdir()} == {"gap.json", "gap.html"}
    assert done.out.rstrip().endswith(str(tmp_path / "here" / "gap.html"))
    gap = wg.load(tmp_path / "here" / "gap.json")
    words = gap.summary()
    answer, *sections = done.out.split("\n\n")[:-1]
    assert words.startswith(answer)
    assert len(sections) >= 3
    assert all(section in words for section in sections)
    assert len(done.out.splitlines()) <= LINES_OF_A_SCREEN
    assert gap.about.settings["support"] == "common"
    assert gap.total.value == pytest.approx(-0.08, abs=0.02)


def test_the_package_can_be_run_as_a_module():
    found = subprocess.run(
        [sys.executable, "-m", "whygap", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("whygap")
