"""The public names: few, listed, complete by tab, and each with words about what it is."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

import whygap

PUBLIC = [
    "Check",
    "Estimate",
    "Gap",
    "Gaps",
    "Metric",
    "Rehearsal",
    "Settings",
    "Study",
    "check",
    "datasets",
    "errors",
    "explain",
    "explain_many",
    "load",
    "metrics",
    "rehearse",
    "watch",
]
ROLES = [field.name for field in fields(whygap.Study) if field.name not in ("source", "target")]
SETTINGS = [field.name for field in fields(whygap.Settings)]


def test_there_are_seventeen_names_and_no_others():
    assert list(whygap.__all__) == PUBLIC
    assert len(PUBLIC) <= 17


def test_completion_lists_the_public_names():
    assert set(PUBLIC) | {"__version__"} == set(dir(whygap))
    assert isinstance(whygap.__version__, str)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_thing_is_there_and_says_what_it_is(name):
    thing = getattr(whygap, name)
    assert (thing.__doc__ or "").strip()


@pytest.mark.parametrize("name", ["expalin", "from_splits", "compare", "revise", "subset_values"])
def test_a_name_that_does_not_exist_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'whygap' has no attribute '{name}'"):
        getattr(whygap, name)


@pytest.mark.parametrize("name", [*ROLES, *SETTINGS])
def test_roles_and_settings_are_keywords_of_explain(name):
    assert inspect.signature(whygap.explain).parameters[name].kind is inspect.Parameter.KEYWORD_ONLY


def test_explain_has_no_keyword_that_nothing_reads():
    parameters = inspect.signature(whygap.explain).parameters
    assert [*parameters] == ["study_or_source", "target", "detail", "settings", *ROLES, *SETTINGS]
