"""What has been done, on disk: one file a target, written whole, known by what went into it.

    gaps/NAME.json     the result of a target
    state/NAME.json    what it was made from, and a digest of it: what matches is done
    looks.json         every look at new data, in order: what alarms are corrected for
    learners.json      the learners chosen on the first target, for what is fitted on source rows
    watch.log          when what was done, and how long it took

No file but the log holds a time, so that the same targets give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whygap._watch.plan import Target
from whygap.errors import ResultError, path_of
from whygap.results import Gap, files

__all__ = ["Done", "Folder", "digest_of"]

# As `files.write_bytes` names a file before it is whole.
HALF_WRITTEN = re.compile(r"\..+\.(json|prom|parquet|html)\.\w+")


@dataclass(frozen=True, slots=True)
class Done:
    """A target that was looked at: what went in, and either a result or why there is none."""

    target: str
    base: str  # digest of everything but the target: source, roles, settings, engine
    content: str  # digest of the target
    result: str = ""  # digest of the result's file
    problem: str = ""  # why there is none


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that `watch` keeps."""

    path: Path

    @classmethod
    def at(cls, path: Any) -> Folder:
        """The folder, made where missing."""
        folder = path_of(path, "The folder of watch", ResultError)
        try:
            for one in (folder, folder / "gaps", folder / "state"):
                one.mkdir(parents=True, exist_ok=True)
        except OSError as err:
            raise ResultError(
                f"The folder '{folder}' cannot be made", got=err.strerror, hint="Name another one."
            ) from err
        return cls(folder)

    def sweep(self) -> None:
        """Remove half-written files of a process that was killed; only while the lock is held."""
        for folder in (self.path, self.path / "gaps", self.path / "state"):
            for path in folder.iterdir():
                if HALF_WRITTEN.fullmatch(path.name):
                    path.unlink()

    def done(self, target: Target, base: str) -> bool:
        """Whether this very analysis of a target is there, whole."""
        found = self.state(target.name)
        if found is None or (found.base, found.content) != (base, target.content):
            return False
        return bool(found.problem) or self._digest(target.name) == found.result

    def keep(self, target: Target, base: str, text: str = "", problem: str = "") -> None:
        """The result first, then that it is there: killed in between, it is made again."""
        digest = ""
        if text:
            files.write_whole(self.gap_file(target.name), text)
            digest = digest_of(text)
        else:
            self.gap_file(target.name).unlink(missing_ok=True)
        done = Done(target.name, base, target.content, digest, problem)
        self.write_json(f"state/{file_name(target.name)}.json", asdict(done))

    def state(self, name: str) -> Done | None:
        """What is known of a target; None where that is nothing."""
        found = self.read_json(f"state/{file_name(name)}.json")
        return None if found is None else Done(**found)

    def gap(self, name: str) -> Gap:
        """The result of a target."""
        gap: Gap = files.load(self.gap_file(name))
        return gap

    def gap_file(self, name: str) -> Path:
        """Where the result of a target is."""
        return self.path / "gaps" / f"{file_name(name)}.json"

    def count_looks(self, targets: Sequence[Target]) -> dict[str, int]:
        """The number of each target's last look; what was not seen before is appended."""
        known = self.read_json("looks.json") or []
        seen = {(one["target"], one["content"]) for one in known}
        new = [one for one in targets if (one.name, one.content) not in seen]
        looks = [*known, *({"target": one.name, "content": one.content} for one in new)]
        if new:
            self.write_json("looks.json", looks)
        return {one["target"]: number for number, one in enumerate(looks, start=1)}

    def read_json(self, name: str) -> Any:
        """A file of ours; None where there is none."""
        path = self.path / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as err:
            raise ResultError(
                f"The file '{path}' is damaged", got=str(err), hint="Delete it and run again."
            ) from err

    def write_json(self, name: str, values: Any) -> None:
        """Plain values, whole or not at all."""
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        files.write_whole(self.path / name, text)

    def log(self, text: str) -> None:
        """A line with the time, in the one file that has times."""
        with (self.path / "watch.log").open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {text}\n")

    def _digest(self, name: str) -> str:
        path = self.gap_file(name)
        return digest_of(path.read_text(encoding="utf-8")) if path.is_file() else ""


def file_name(name: str) -> str:
    """The target's name as far as file systems take it; what was changed gets a digest."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._")[:80]  # long names have room for an ending
    return plain if plain == name else f"{plain}-{digest_of(name)[:8]}"


def digest_of(value: str | Mapping[str, Any]) -> str:
    """Of a text, or of plain values."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
