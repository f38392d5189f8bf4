"""Misuse: one readable message on stderr, exit code 2, nothing written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whygap.cli import main as entry
from whygap.cli import show as show_command


def rewrite(world: Path, folder: Path, **changes: object) -> Path:
    """A copy of the study file with some lines changed; tables stay where they are."""
    lines = (world / "study.toml").read_text().splitlines()
    for name, value in changes.items():
        lines = [f"{name} = {value}" if re.match(rf"{name}\b", line) else line for line in lines]
    text = "\n".join(lines)
    for table in ("source", "target"):
        text = text.replace(f'"{table}.parquet"', f'"{world / table}.parquet"')
    path = folder / "study.toml"
    path.write_text(text + "\n")
    return path


def refused(done, tmp_path: Path, message: str) -> None:
    """Exit code 2, this message and nothing else, no file beside the study file."""
    assert done.code == 2
    assert done.out == ""
    assert done.err == f"Error: {message}\n"
    left = {path.name for path in tmp_path.iterdir()}
    assert not left - {"study.toml", "source.parquet", "target.parquet", "bad.parquet"}, left


def explain(call, study: Path):
    out = study.parent / "gap.json"
    return call(
        "explain", study, "--detail", "none", "-o", out, "--report", out.with_suffix(".html")
    )


def test_a_missing_column(call, world, tmp_path):
    done = explain(call, rewrite(world, tmp_path, covariates='["Z1", "Z2", "Z33"]'))
    refused(done, tmp_path, "Column 'Z33' (covariates) is not in source. Did you mean 'Z3'?")


def test_a_missing_study_file(call, tmp_path):
    done = call("explain", tmp_path / "stdy.toml", "-o", tmp_path / "gap.json")
    refused(done, tmp_path, f"The study file '{tmp_path / 'stdy.toml'}' does not exist.")


def test_a_study_file_that_is_not_toml(call, tmp_path):
    (tmp_path / "study.toml").write_text("outcome = \n")
    done = call("check", tmp_path / "study.toml")
    assert done.code == 2
    assert done.err.startswith(
        f"Error: The study file '{tmp_path / 'study.toml'}' is not valid TOML."
    )


def test_an_unknown_key_in_a_study_file(call, world, tmp_path):
    study = rewrite(world, tmp_path)
    study.write_text("outcom = 'y'\n" + study.read_text())
    done = explain(call, study)
    refused(
        done,
        tmp_path,
        "There is no key 'outcom' in the study file 'study.toml'. Did you mean 'outcome'?",
    )


def test_a_table_that_is_not_there(call, world, tmp_path):
    done = explain(call, rewrite(world, tmp_path, source='"sorce.parquet"'))
    assert done.code == 2
    assert "sorce.parquet" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_half_written_table(call, world, tmp_path):
    whole = (world / "source.parquet").read_bytes()
    (tmp_path / "bad.parquet").write_bytes(whole[: len(whole) // 2])
    done = explain(call, rewrite(world, tmp_path, source=f'"{tmp_path / "bad.parquet"}"'))
    assert done.code == 2
    assert "bad.parquet" in done.err
    assert {p.name for p in tmp_path.iterdir()} == {"study.toml", "bad.parquet"}


def test_an_outcome_of_ones_and_twos_is_asked_about(call, world, tmp_path):
    for name in ("source", "target"):
        table = pq.read_table(world / f"{name}.parquet")
        coded = pa.array(np.asarray(table["y"]).astype(int) + 1)
        place = table.column_names.index("y")
        pq.write_table(table.set_column(place, "y", coded), tmp_path / f"{name}.parquet")
    study = tmp_path / "study.toml"
    study.write_text((world / "study.toml").read_text())
    done = explain(call, study)
    assert done.code == 2
    assert "positive" in done.err
    assert "Got" in done.err
    assert not (tmp_path / "gap.json").exists()


def test_a_role_named_twice(call, world, tmp_path):
    done = explain(call, rewrite(world, tmp_path, baseline='["y"]'))
    assert done.code == 2
    assert "'y'" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_an_output_that_cannot_be_written_is_refused_before_any_work(call, world, tmp_path, option):
    path = tmp_path / "nowhere" / "gap.out"
    done = call("explain", world / "study.toml", option, path)
    refused(
        done,
        tmp_path,
        f"The file '{path}' cannot be written. Got no folder '{path.parent}'. "
        "Check that its folder exists and may be written to.",
    )


def test_an_output_that_is_a_folder(call, result, tmp_path):
    path = tmp_path / "study.toml" / "gap.html"
    path.mkdir(parents=True)
    done = call("show", result, "-o", path)
    refused(
        done,
        tmp_path,
        f"The file '{path}' cannot be written. Got a folder of that name. "
        "Check that its folder exists and may be written to.",
    )


def test_a_folder_that_cannot_be_made(call, tmp_path):
    (tmp_path / "study.toml").write_text("a file, not a folder")
    done = call("demo", "-o", tmp_path / "study.toml" / "demo")
    refused(
        done,
        tmp_path,
        f"The folder '{tmp_path / 'study.toml' / 'demo'}' cannot be made. Got Not a directory. "
        "Name another folder with -o.",
    )


def test_a_result_file_of_another_kind(call, tmp_path):
    (tmp_path / "study.toml").write_text("{}")
    done = call("show", tmp_path / "study.toml")
    refused(
        done,
        tmp_path,
        f"The file '{tmp_path / 'study.toml'}' is not a whygap result. Got no 'schema' field. "
        "Give a file written by 'whygap explain' or gap.save(path).",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "fold=3"), "There is no setting 'fold'. Did you mean 'folds'?"),
        (
            ("--set", "folds=1"),
            "The setting 'folds' must be greater than or equal to 3. Got 1.",
        ),
        (
            ("--set", "folds"),
            "A setting is given as NAME=VALUE. Got 'folds'. For example --set folds=3.",
        ),
        (("--level", "95"), "The setting 'level' must be less than 1. Got 95.0."),
        (("--detail", "pointss"), "There is no detail 'pointss'. Did you mean 'points'?"),
        (
            ("--outcome", "y"),
            (
                "Roles are named in the study file or as options, not in both. Got --outcome. "
                "Leave these options out, or leave the study file out."
            ),
        ),
    ],
)
def test_options_that_cannot_be_used(call, world, tmp_path, arguments, message):
    study = rewrite(world, tmp_path)
    refused(call("explain", study, "-o", tmp_path / "gap.json", *arguments), tmp_path, message)


def test_explain_without_anything(call, tmp_path):
    refused(
        call("explain"),
        tmp_path,
        "The source is not named. Give a study file, or --source; see 'whygap explain --help'.",
    )


@pytest.mark.parametrize("name", ["gap.gif", "gap", "gap.xlsx"])
def test_a_file_of_unknown_ending_is_refused(call, result, tmp_path, name):
    done = call("show", result, "-o", tmp_path / name)
    refused(
        done,
        tmp_path,
        "A result is shown as one of .html, .svg, .png, .pdf, .csv, .md, .tex, .json. "
        f"Got '{name}'. Without -o it is printed.",
    )


@pytest.mark.parametrize("arguments", [("explan",), ("show",), ("show", "gap.json", "--colour")])
def test_misuse_of_the_command_line_itself(call, arguments):
    done = call(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Error: " in done.err


def test_a_fault_of_our_own_is_code_3_with_a_hint(call, result, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError("the moon\nis full.")

    monkeypatch.setattr("whygap.results.files.load", broken)
    done = call("show", result)
    assert done.code == 3
    assert done.err == (
        "whygap failed: RuntimeError: the moon is full. Run 'whygap --verbose ...' to see where.\n"
    )
    shown = call("--verbose", "show", result)
    assert shown.code == 3
    assert "Traceback" in shown.err
    assert "to see where" not in shown.err


def test_ctrl_c_is_code_130(call, result, monkeypatch):
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("whygap.results.files.load", stopped)
    done = call("show", result)
    assert (done.code, done.out) == (130, "")


def test_the_real_process_ends_with_the_same_codes(shell, tmp_path):
    done = shell("show", tmp_path / "gap.json")
    assert done.code == 2
    assert done.err.startswith(f"Error: The result file '{tmp_path / 'gap.json'}' cannot be read.")


def test_every_command_is_registered():
    assert show_command in entry.COMMANDS
