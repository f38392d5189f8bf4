"""The learners chosen on the first target, kept for the others and for later runs.

Only kinds that are fitted on source rows alone: what suits a density ratio depends on the target,
and is chosen for each anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from whygap._explain_many import SOURCE_ONLY, encoded
from whygap.learning.choose import Choice
from whygap.learning.menu import Menu
from whygap.learning.models import Fast, Mean
from whygap.learning.source_fits import SourceFits
from whygap.learning.trees import Boosted
from whygap.results import NuisanceRecord
from whygap.results.files import plain
from whygap.settings import Settings
from whygap.tables import Design

__all__ = ["Learners"]

KEPT = {"Fast": Fast, "Boosted": Boosted, "Mean": Mean}


@dataclass(frozen=True, slots=True)
class Learners:
    """What was chosen, on which target, and for which columns.

    Attributes:
        base: digest of the analysis they belong to.
        content: digest of the target they were chosen on.
        encoded: its columns by name and kind; targets with other ones choose for themselves.
        choices: kind of nuisance -> the learner as plain values.
        records: what diagnostics say of each.
    """

    base: str
    content: str
    encoded: list[Any]
    choices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    records: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def chosen(cls, base: str, content: str, design: Design, menu: Menu) -> Learners:
        """What a finished analysis has chosen, as far as it can be written down."""
        records = {record.name: record for record in menu.records}
        kinds = [
            kind
            for kind in SOURCE_ONLY
            if kind in menu.choices and type(menu.choices[kind].learner).__name__ in KEPT
        ]
        return cls(
            base,
            content,
            encoded(design),
            {kind: _plain(menu.choices[kind].learner) for kind in kinds},
            {kind: plain(asdict(records[kind])) for kind in kinds},
        )

    def menu(self, settings: Settings, design: Design, fits: SourceFits | None = None) -> Menu:
        """A menu that knows them, where the columns are the same."""
        menu = Menu(settings, source_fits=fits)
        if encoded(design) == self.encoded:
            for kind, learner in self.choices.items():
                record = NuisanceRecord(**self.records[kind])
                menu.choices[kind] = Choice(_restored(learner), record.scores, record.score_name)
                menu.records.append(record)
        return menu


def _plain(learner: Any) -> dict[str, Any]:
    start = getattr(learner, "start", None)
    own = asdict(learner) | ({"start": _plain(start)} if start is not None else {})
    return {"learner": type(learner).__name__, **own}


def _restored(values: Mapping[str, Any]) -> Any:
    own = {name: value for name, value in values.items() if name != "learner"}
    if own.get("start"):
        own["start"] = _restored(own["start"])
    return KEPT[values["learner"]](**own)
