"""The code does not become harder to read: figures of scripts/readability.py, stored beside this.

python tests/architecture/test_readable_code.py        stores the figures of today
"""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).resolve().parent / "readability.toml"


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readability", ROOT / "scripts/readability.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def worse(figures: dict[str, float], stored: dict[str, float], guides: dict) -> dict[str, str]:
    """Figures on the wrong side of the stored ones, by more than the digits that are stored."""
    found = {}
    for name, value in figures.items():
        sign = 1 if guides[name][1] == "at most" else -1
        if sign * (value - stored[name]) > 0.005:
            found[name] = f"{value:.3f}, was {stored[name]:.3f}"
    return found


def test_no_figure_gets_worse():
    readability = tool()
    figures, _ = readability.measure(ROOT / "src" / "whygap")
    stored = tomllib.loads(STORED.read_text(encoding="utf-8"))
    assert set(stored) == set(figures)
    places = "python scripts/readability.py src/whygap FILE --worst 40 lists the places"
    assert worse(figures, stored, readability.GUIDES) == {}, places


def test_worse_knows_the_direction():
    guides = {"verbs": (0.8, "at least", ""), "bare": (10, "at most", "")}
    stored = {"verbs": 0.5, "bare": 20.0}
    assert worse({"verbs": 0.6, "bare": 10.0}, stored, guides) == {}
    assert list(worse({"verbs": 0.4, "bare": 30.0}, stored, guides)) == ["verbs", "bare"]


def main() -> None:
    """Store the figures of today."""
    figures, _ = tool().measure(ROOT / "src" / "whygap")
    lines = [f'"{name}" = {value:.3f}' for name, value in figures.items()]
    STORED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
