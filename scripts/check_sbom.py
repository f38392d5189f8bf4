"""Is a list of what an installation brings along valid CycloneDX, and does it name what it must?

python scripts/check_sbom.py build/sbom.json dist/whygap-0.2.0-py3-none-any.whl
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def main(sbom: Path, wheel: Path) -> None:
    """Stops with what is wrong."""
    text = sbom.read_text(encoding="utf-8")
    listed = json.loads(text)
    schema = SchemaVersion.from_version(listed["specVersion"])
    wrong = JsonStrictValidator(schema).validate_str(text)
    if wrong is not None:
        raise SystemExit(f"{sbom} is not valid: {wrong}")
    version, needed = published(wheel)
    found = {plain(one["name"]): one.get("version") for one in listed["components"]}
    if found.get("whygap") != version:
        raise SystemExit(f"{sbom} names whygap {found.get('whygap')}, the wheel is {version}")
    missing = sorted(name for name in needed if not found.get(name))
    if missing:
        raise SystemExit(f"{sbom} does not name, or not the version of: {', '.join(missing)}")
    sys.stdout.write(f"{sbom.name}: {len(found)} packages, whygap {version} among them\n")


def published(wheel: Path) -> tuple[str, list[str]]:
    """The wheel's version, and the names of what it cannot do without."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        headers = HeaderParser().parsestr(archive.read(name).decode("utf-8"))
    needed = [one for one in headers.get_all("Requires-Dist", []) if "extra ==" not in one]
    names = (re.match(r"[\w.-]+", one) for one in needed)
    return headers["Version"], [plain(found[0]) for found in names if found]


def plain(name: str) -> str:
    """As PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
