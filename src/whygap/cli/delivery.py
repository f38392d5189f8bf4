"""What `whygap explain` hands over: files first, then the words; for one target or several."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whygap.cli.output import Speaker, check_writable

if TYPE_CHECKING:
    from whygap._many import Many
    from whygap.results import Gap

__all__ = ["Delivery"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where the result goes."""

    output: Path | None
    page: Path | None
    influence: bool
    speaker: Speaker

    def check(self) -> None:
        """Refuse outputs that cannot be written, before any work is done."""
        check_writable(self.output, self.page)

    def one(self, gap: Gap) -> bool:
        """Deliver one result; False when Ctrl-C ended the run early."""
        from whygap import storage
        from whygap._explain import was_interrupted

        self._save(gap, self.output)
        if self.page is not None:
            gap.report(self.page)
            self.speaker.note(f"Wrote {self.page}")
        self.speaker.warn(gap.diagnostics.warnings)
        self.speaker.result(gap.summary().rstrip(), storage.to_mapping(gap))
        return not was_interrupted(gap)

    def many(self, many: Many) -> bool:
        """Deliver several: one file each, one report for all; False when ended early."""
        from whygap import storage
        from whygap._explain import was_interrupted

        for name, gap in many.gaps.items():
            self._save(gap, named_for(self.output, name))
            self.speaker.warn(f"{name}: {text}" for text in gap.diagnostics.warnings)
        if self.page is not None:
            many.report(self.page)
            self.speaker.note(f"Wrote {self.page}")
        values = {name: storage.to_mapping(gap) for name, gap in many.gaps.items()}
        self.speaker.result(many.summary().rstrip(), values)
        return not many.unfinished and not any(map(was_interrupted, many.gaps.values()))

    def _save(self, gap: Gap, path: Path | None) -> None:
        if path is not None:
            gap.save(path, influence=self.influence)
            self.speaker.note(f"Wrote {path}")


def named_for(path: Path | None, target: str) -> Path | None:
    """`gap.json` becomes `gap-site-b.json` for the target 'site B'."""
    if path is None:
        return None
    slug = re.sub(r"[^\w]+", "-", target.lower()).strip("-") or "target"
    return path.with_name(f"{path.stem}-{slug}{path.suffix}")
