#!/usr/bin/env python3
"""Print the published schema: python scripts/gap_schema.py > docs/gap.schema.json."""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from whygap.results import Gap, files


def schema_text() -> str:
    """Return the JSON schema of a saved gap, as docs/gap.schema.json has it."""

    class Words(GenerateJsonSchema):
        """Numbers may be words."""

        def float_schema(self, schema: Any) -> dict[str, Any]:
            return {"anyOf": [super().float_schema(schema), {"enum": ["nan", "inf", "-inf"]}]}

    body = files.adapter_of(Gap).json_schema(schema_generator=Words)
    head = {
        "schema": {"const": files.SCHEMA},
        "kind": {"const": "gap"},
        "problems": {"type": "array", "items": {"type": "string"}},
    }
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **body,
        "title": "A result of whygap",
        "properties": head | body["properties"],
        "required": [*head, *body["required"]],
    }
    return json.dumps(whole, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
