"""The result of an analysis; its methods import the rooms that show and store it when called."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whygap.errors import ResultError, require_known
from whygap.estimate import Estimate
from whygap.results.about import About, Diagnostics
from whygap.results.aggregate import Aggregate
from whygap.results.culprits import Points, Recoverable, Where
from whygap.results.redaction import FEW, redacted
from whygap.results.shares import Detailed
from whygap.settings import DETAILS


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """The explanation of one performance gap (target minus source, in the metric's own units).

    Two results are equal when everything that is saved of them is equal.
    """

    aggregate: Aggregate
    covariate: Detailed | None
    outcome: Detailed | None
    diagnostics: Diagnostics
    about: About
    points: Points | None = None
    where: Where | None = None
    recoverable: Recoverable | None = None
    table_kind: str = field(default="pyarrow", compare=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gap):
            return NotImplemented
        from whygap import storage

        return storage.to_mapping(self) == storage.to_mapping(other)

    __hash__ = None  # type: ignore[assignment]  # holds arrays and mappings

    @classmethod
    def given(cls, gap: Any) -> Gap | None:
        """The result a function was called with, or none; anything else is refused."""
        if gap is not None and not isinstance(gap, cls):
            raise ResultError(
                "gap= must be a result of explain",
                got=f"an object of type {type(gap).__name__}",
                hint="gap = wg.explain(study), or wg.load(path).",
            )
        return gap

    def shown_parts(self) -> dict[str, Estimate]:
        """The parts there are, from source to target; without baseline variables no such part."""
        parts = self.aggregate.parts()
        return {name: p for name, p in parts.items() if name != "baseline" or self.about.baseline}

    def details(self) -> dict[str, Detailed]:
        """The detailed parts that were asked for."""
        both = {"covariate": self.covariate, "outcome": self.outcome}
        return {name: detail for name, detail in both.items() if detail is not None}

    def detail(self, name: str) -> Any:
        """A detail by its name; one that was not asked for is refused, with what to write."""
        require_known(name, DETAILS, f"There is no detail '{name}'", "Details", ResultError)
        found = getattr(self, name)
        if found is None:
            raise ResultError(
                f"The detail '{name}' is not in this result",
                hint=f'Ask for it: wg.explain(study, detail="{name}").',
            )
        return found

    def problems(self) -> tuple[str, ...]:
        """Why the numbers must not be trusted as they stand; nothing where they may be."""
        reasons = () if self.aggregate.comparable else (self.aggregate.reason,)
        notes = self.diagnostics.notes
        return (*reasons, *(str(note) for note in notes if note.level == "problem"))

    def to_frame(self, level: float = 0.95) -> Any:
        """Tidy table of every estimate, in the kind of table the study came in."""
        from whygap.render import frame

        return frame.to_frame(self, level)

    def summary(self, level: float | None = None) -> str:
        """Plain words."""
        from whygap.render import words

        return words.summary(self, words.chosen_level(self, level))

    def __str__(self) -> str:
        from whygap.render import words

        return words.short(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002 - Jupyter leaves the choice to us
        """What notebooks show: plain words, a page without scripts, Markdown."""
        from whygap.render import notebook

        return notebook.bundle(self)

    def _repr_html_(self) -> str:
        from whygap.render import report

        return report.notebook(self)

    def save(self, path: str | Path, *, influence: bool = False) -> Path:
        """Write versioned JSON, whole or not at all."""
        from whygap import storage

        return storage.save(self, path, influence=influence)

    def to_dict(self, *, influence: bool = False) -> dict[str, Any]:
        """What `save` writes, as plain values."""
        from whygap import storage

        return storage.to_mapping(self, influence=influence)

    def to_json(self, *, influence: bool = False) -> str:
        """What `save` writes, as text."""
        from whygap import storage

        return storage.to_text(self, influence)

    def plot(self, what: str = "answer", **options: Any) -> Any:
        """A matplotlib figure: the whole answer, or "walk", "points", "where", "recoverable"."""
        from whygap.render import plot

        return plot.figure(self, what, **options)

    def redacted(self, few: int = FEW) -> Gap:
        """The same result for other eyes: no level of fewer rows is named, counts are rounded."""
        return redacted(self, few)

    def report(
        self,
        path: str | Path,
        level: float | None = None,
        revision: Any = None,
        redact: int | None = FEW,
    ) -> Path:
        """Write one self-contained HTML page; `revision` is what `wg.revise` returned.

        It names no level of fewer than `redact` rows and rounds counts; None shows all there is.
        """
        from whygap.render import report

        shown = self if redact is None else redacted(self, redact)
        return report.write(shown, path, level, revision)
