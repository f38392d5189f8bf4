"""The folder of a watch: results written whole, each known by digests of what went into it.

    gaps/NAME.json   the result of a target
    state.json       every look at new rows, in order; of each target what the result was made from

No file holds a time: the same targets give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import pyarrow as pa
import pyarrow.csv as pa_csv
from filelock import FileLock, Timeout

from whygap.errors import ResultError, path_of
from whygap.results.files import write_whole
from whygap.tables.open import OpenedTable

__all__ = ["Folder", "digest_of", "digest_of_rows", "locked_folder"]


@dataclass(frozen=True, slots=True)
class Folder:
    """Results of targets on disk; the lock of the folder must be held.

    Attributes:
        path: the folder.
        looks: target and digest of the rows, in the order in which they were seen.
        targets: target -> digests of question, rows and result, and why there is no result.
    """

    path: Path
    looks: list[list[str]]
    targets: dict[str, dict[str, str]]

    @classmethod
    def read(cls, path: Path) -> Folder:
        """Return what a folder holds; half-written files of a killed process are removed.

        Args:
            path: of the folder.
        """
        for pattern in (".state.json.*", "gaps/.*.json.*"):
            for half_written in path.glob(pattern):
                half_written.unlink()
        file = path / "state.json"
        try:
            state = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
            return cls(path, state.get("looks", []), state.get("targets", {}))
        except (OSError, ValueError, AttributeError) as err:
            message = f"The file '{file}' is damaged"
            raise ResultError(message, got=err, hint="Delete it and run again.") from err

    def is_done(self, name: str, question: str, rows: str) -> bool:
        """Return whether a target's answer to a question is on disk, whole."""
        state = self.targets.get(name, {})
        file = self.gap_file(name)
        result = digest_of(file.read_bytes()) if file.is_file() else ""
        answered = {"question": question, "rows": rows, "result": result}
        return answered.items() <= state.items()

    def keep(self, name: str, question: str, rows: str, text: str = "", problem: str = "") -> None:
        """Write a result, then the digest: killed in between, a run makes the result again."""
        file = self.gap_file(name)
        if text:
            write_whole(file, text)
        else:
            file.unlink(missing_ok=True)
        if [name, rows] not in self.looks:
            self.looks.append([name, rows])
        result = digest_of(text.encode()) if text else ""
        answer = {"question": question, "rows": rows, "result": result, "problem": problem}
        self.targets[name] = answer
        content = {"looks": self.looks, "targets": self.targets}
        state = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
        write_whole(self.path / "state.json", state + "\n")

    def answers(self, question: str) -> dict[str, tuple[int, str]]:
        """Return number of the last look and problem of every target of a question, by look.

        Args:
            question: digest of the question.
        """
        last = {name: number for number, (name, _) in enumerate(self.looks, start=1)}
        return {
            name: (look, self.targets[name]["problem"])
            for name, look in sorted(last.items(), key=lambda pair: pair[1])
            if self.targets[name]["question"] == question
        }

    def gap_file(self, name: str) -> Path:
        """Return the path of a target's result: the name as far as file systems take names.

        Args:
            name: of the target.
        """
        plain = re.sub(r"[^\w.-]+", "_", name).strip("._")[:40]  # characters; an ending follows
        ending = "" if plain == name else f"-{digest_of(name)[:8]}"
        return self.path / "gaps" / f"{plain}{ending}.json"


@contextmanager
def locked_folder(path: Any) -> Iterator[Path]:
    """Make and lock a folder; refuse a folder at which another process works.

    Args:
        path: of the folder; missing folders are made.
    """
    folder = path_of(path, "The folder of watch (state=)", ResultError)
    try:
        (folder / "gaps").mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "lock", timeout=0)
        lock.acquire()
    except Timeout as err:
        hint = "Wait until it is done, or name another folder."
        raise ResultError(f"Another watch is at work in '{folder}'", hint=hint) from err
    except OSError as err:
        raise ResultError(f"The folder '{folder}' cannot be used", got=err.strerror) from err
    try:
        yield folder
    finally:
        lock.release()


def digest_of(value: Any) -> str:
    """Return a digest that is equal in every process; a function in a module goes by name.

    Args:
        value: any object that joblib or cloudpickle can pickle.
    """
    try:
        return str(joblib.hash(value))
    except Exception:  # pickle's errors are of many classes: a lambda, for example
        return str(joblib.hash(cloudpickle.dumps(value)))


def digest_of_rows(table: OpenedTable, columns: Sequence[str]) -> str:
    """Return a digest of a table's values, whatever the codes or chunks.

    Args:
        table: the opened table.
        columns: names to include; names that the table lacks are skipped.
    """
    names = [name for name in columns if name in table.names]
    arrays = {}
    frame = table.read(names)
    for name in names:
        array = frame.arrow(name)
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        is_nested = pa.types.is_nested(array.type)
        arrays[name] = pa.array(map(repr, array.to_pylist())) if is_nested else array
    text = pa.BufferOutputStream()
    pa_csv.write_csv(pa.table(arrays), text)
    return digest_of(text.getvalue().to_pybytes())
