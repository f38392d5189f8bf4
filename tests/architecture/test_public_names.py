"""`whygap.__all__` is exactly what is public, and is sorted."""

from __future__ import annotations

import types

import whygap


def test_all_equals_the_public_names():
    submodules_on_show = {"datasets", "errors", "simulate"}
    public = {
        name
        for name, value in vars(whygap).items()
        if not name.startswith("_")
        and (not isinstance(value, types.ModuleType) or name in submodules_on_show)
    } | {name for name in dir(whygap) if name in whygap.__all__}
    public.discard("annotations")
    assert set(whygap.__all__) - {"__version__"} == public


def test_all_is_sorted_and_every_name_is_there():
    assert list(whygap.__all__) == sorted(whygap.__all__)
    for name in whygap.__all__:
        assert getattr(whygap, name) is not None


def test_every_public_thing_says_what_it_is():
    for name in whygap.__all__:
        thing = getattr(whygap, name)
        assert isinstance(thing, str) or (thing.__doc__ or "").strip(), name
