"""The digest of the engine: changes with what code does, not with what it says."""

from __future__ import annotations

import re

import pytest

from experiments.engine import ENGINE, WORLDS, _code, code_digest

CODE = 'def f(x):\n    """Says."""\n    # because\n    y = "kept"\n    return x + 1\n'


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace("Says.", "Says more."),
        CODE.replace("    # because\n", ""),
        CODE.replace("x + 1", "x  +  1  # one"),
    ],
)
def test_comments_docstrings_and_spaces_do_not_count(same):
    assert _code(same) == _code(CODE)


@pytest.mark.parametrize(("old", "new"), [("x + 1", "x + 2"), ('"kept"', '"other"')])
def test_code_and_its_strings_count(old, new):
    assert _code(CODE.replace(old, new)) != _code(CODE)


def test_rooms_have_digests_of_their_own():
    found = {code_digest(ENGINE), code_digest(WORLDS)}
    assert len(found) == 2
    assert all(re.fullmatch(r"[0-9a-f]{8}", digest) for digest in found)


def test_strings_with_fields_count_as_written():
    code = "x = f'{a}' + 'b'\n"
    assert _code(code) == "x=f'{a}'+'b'"
    assert _code(code.replace("{a}", "{a:.2f} and {{b}}")) == "x=f'{a:.2f} and {{b}}'+'b'"
