"""Every equation and algorithm of the paper that is computed is named where it is computed."""

import ast
import re
from pathlib import Path

import pytest

import whygap.paper

FILES = sorted(Path(whygap.paper.__file__).parent.glob("*.py"))
NO_COMPUTATION = {1, 6, 11, 15, 16}  # a factorisation, a rate, an expansion, a theorem, an analogy
EQUATIONS = [*range(1, 18), 49]
ALGORITHMS = range(1, 5)


def documented():
    """Docstring of every module, class and function."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds):
                name = getattr(node, "name", "")
                yield f"{path.stem}.{name}", ast.get_docstring(node) or ""


def numbers(text, word):
    """Numbers after a word, as in 'eq. (4)', 'eqs (12), (13) and (14)', 'Algorithms 1 to 4'."""
    listed = re.findall(rf"(?:{word})s?\.? ((?:\(?\d+\)?(?:, | and | to )?)+)", text, re.IGNORECASE)
    found = set()
    for part in listed:
        ends = re.findall(r"(\d+)\)? to \(?(\d+)", part)
        found |= {number for a, b in ends for number in range(int(a), int(b) + 1)}
        found |= {int(number) for number in re.findall(r"\d+", part)}
    return found


def places(word, number):
    return [name for name, text in documented() if number in numbers(text, word)]


@pytest.mark.parametrize("number", EQUATIONS)
def test_every_equation_is_named(number):
    found = places("eq|equation", number)
    if number in NO_COMPUTATION:
        assert found or f"({number})" in whygap.paper.__doc__
    else:
        assert [name for name in found if not name.startswith("__init__")], number


@pytest.mark.parametrize("number", ALGORITHMS)
def test_every_algorithm_is_named_by_a_function(number):
    functions = [name for name in places("algorithm", number) if not name.endswith(".")]
    assert [name for name in functions if not name.startswith("__init__")], number


def test_equations_without_computation_are_listed():
    listed = whygap.paper.__doc__.partition("Equations that are no computation")[2]
    assert {int(n) for n in re.findall(r"\((\d+)\)", listed)} == NO_COMPUTATION


def test_numbers_are_read_as_they_are_written():
    assert numbers("influence functions eqs (12), (13) and (14)", "eq|equation") == {12, 13, 14}
    assert numbers("equations (7) to (9), and", "eq|equation") == {7, 8, 9}
    assert numbers("Algorithms 1 and 4.", "algorithm") == {1, 4}
    assert numbers("by eq. (5); influence function eq. (49).", "eq|equation") == {5, 49}


def test_what_users_call_documents_its_arguments():
    for name in ("aggregate", "value_covariate", "value_outcome", "detailed", "revise"):
        function = getattr(whygap.paper, name)
        arguments = function.__code__.co_varnames[
            : function.__code__.co_argcount + function.__code__.co_kwonlyargcount
        ]
        described = function.__doc__.partition("Args:")[2]
        assert [
            a for a in arguments if f"\n    {a}: " not in described.replace("        ", "    ")
        ] == []
