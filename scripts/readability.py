#!/usr/bin/env python3
# ruff: noqa: E501, FURB167, SIM102, SIM905, T201
"""Measure how plainly a package is written, beside the best codebases of the field.

    readability.py [PACKAGE_FOLDER] [--worst N] [FILE ...]

PACKAGE_FOLDER defaults to src/whygap. With FILEs, only docstrings and names in those files are listed.
Figures are guides for a reader, not limits to be met by tricks.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import statistics
import tokenize
from collections import Counter
from pathlib import Path

VERBS = set(
    """accumulate add adjust aggregate align allocate allow analyze append apply approximate ask assemble assert assign
    average bind blend bootstrap break broadcast build calculate calibrate call cast center check choose classify clean
    clip close cluster collect combine compare compile complete compute concatenate configure construct consume convert
    copy correct count create cut decide decode deduplicate define delegate delete derive describe deserialize detect
    determine difference differentiate discard dispatch display divide download drop draw dump emit encode enforce ensure
    enumerate estimate evaluate exclude execute expand explain export extract fall fetch fill filter find fit flatten
    forecast format freeze gather generate get give group guess handle hash hide identify implement import impute include
    index indicate infer initialize inline insert inspect install integrate interpolate intersect invert iterate join
    judge keep label limit link list load locate log look lower make map mark mask match measure merge minimize mirror
    move multiply name normalize obtain open optimize order override pack pad parse partition pass perform permute pick
    pin plan play plot pool predict prepare print process produce project propagate propose protect provide prune publish
    pull push put quantify raise randomize rank read rebuild recommend record recover redact reduce refit refresh refuse
    register reject relabel release remove rename render reorder repair repeat replace report represent resample rescale
    reset reshape resolve restore restrict return reuse reverse reweight rotate round route run sample save say scale scan
    score search select send serialize set shift show shrink shuffle shut simulate skip slice smooth solve sort specify
    split stack standardize start state stop store stratify stream strip subset subtract sum summarize swap switch take
    tell test threshold track train transform translate transport treat trim truncate try tune turn uniquify unite unpack
    update upload use validate value verify view visit wait walk warn weight whiten widen wrap write yield""".split()
)
VERBS |= {v.replace("ize", "ise") for v in VERBS}
THIRD = (
    {v + "s" for v in VERBS}
    | {v + "es" for v in VERBS}
    | {v[:-1] + "ies" for v in VERBS if v.endswith("y")}
)
POINTING = re.compile(
    r"\b(it|its|they|them|their|those|these|ones?|same|such|others?|both|there|here|that of|those of|likewise|above|below|else)\b",
    re.I,
)
BARE = set(
    """one ones other others each every all some any both few many most more less own same such what which where when who
    how here there then now of at by on in up down to with from for about beside behind near away apart alone alike together
    nothing something everything anything whole rest left enough several said told asked shown found known given chosen kept
    made done drawn taken seen held grown won lost meant wanted written called named got put theirs nobody hopeless""".split()
)
PARAMETERS = re.compile(r"^\s*(Parameters\s*\n\s*-{3,}|Args:|Arguments:|Parameters:|:param )", re.M)
GUIDES = {
    "docstrings that begin with a verb": (
        0.80,
        "at least",
        "DoubleML .78, glide .98, arviz-stats .88",
    ),
    "first sentences with a pointing word": (0.10, "at most", "glide .05, DoubleML .03, MAPIE .09"),
    "bare everyday words as names, per 1,000": (10, "at most", "glide 0, DoubleML 1, formulaic 10"),
    "public functions that document parameters": (
        0.60,
        "at least",
        "glide .93, shapiq .72, arviz-stats .53",
    ),
    "classes per 1,000 code lines": (8, "at most", "DoubleML 3, pyfixest 5, MAPIE 7"),
    "functions per 1,000 code lines": (75, "at most", "DoubleML 59, formulaic 69, pyfixest 40"),
    "own names imported per file, median": (6, "at most", "arviz-stats 2, DoubleML 4"),
    "parallel assignments per 1,000 code lines": (6, "at most", "others at most 6"),
    "numeric constants in capitals": (60, "at most", "most: 0 to 8"),
}


def code_lines(source: str, tree: ast.AST) -> set[int]:
    """Return the numbers of lines that hold code: no blanks, comments or docstrings."""
    skipped = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            if isinstance(body[0].value.value, str):
                lines.difference_update(
                    range(body[0].lineno, (body[0].end_lineno or body[0].lineno) + 1)
                )
    return lines


def is_numeric(node: ast.expr) -> bool:
    """Return whether an expression is a literal number or a tuple of them."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return is_numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return is_numeric(node.left) and is_numeric(node.right)
    return isinstance(node, ast.Tuple) and bool(node.elts) and all(map(is_numeric, node.elts))


def measure(root: Path) -> tuple[dict[str, float], list[tuple[Path, int, str, str]]]:
    """Return the figures of a package and the places that weigh on them."""
    count: Counter[str] = Counter()
    imported: list[int] = []
    places: list[tuple[Path, int, str, str]] = []
    for path in sorted(root.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        lines = len(code_lines(source, tree))
        count["code"] += lines
        own = 0
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and (
                node.level or (node.module or "").split(".")[0] == root.name
            ):
                own += len(node.names)
            elif isinstance(node, ast.ClassDef):
                count["classes"] += 1
            elif (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Tuple)
            ):
                count["parallel"] += isinstance(node.value, ast.Tuple)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names = [node.id]
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = [
                    a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                ]
                names = [node.name, *arguments]
                inspect_function(node, arguments, path, count, places)
            for name in names:
                if name in {"self", "cls", "_"} or name.startswith("__"):
                    continue
                count["bindings"] += 1
                if name.strip("_").lower() in BARE:
                    count["bare"] += 1
                    places.append((path, getattr(node, "lineno", 0), "name", name))
        for node in tree.body:
            if (
                isinstance(node, ast.Assign | ast.AnnAssign)
                and node.value is not None
                and is_numeric(node.value)
            ):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                count["constants"] += isinstance(target, ast.Name) and target.id.isupper()
        if path.name != "__init__.py" and lines >= 20:
            imported.append(own)
    thousand = max(1, count["code"]) / 1000
    figures = (
        count["verb"] / max(1, count["plain docs"]),
        count["pointing"] / max(1, count["docs"]),
        1000 * count["bare"] / max(1, count["bindings"]),
        count["documented"] / max(1, count["public"]),
        count["classes"] / thousand,
        count["functions"] / thousand,
        statistics.median(imported or [0]),
        count["parallel"] / thousand,
        count["constants"],
    )
    return dict(zip(GUIDES, figures, strict=True)), places


def inspect_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    arguments: list[str],
    path: Path,
    count: Counter[str],
    places: list[tuple[Path, int, str, str]],
) -> None:
    """Count one function and note a docstring that cannot be read alone."""
    decorators = " ".join(ast.unparse(d) for d in node.decorator_list)
    if "overload" in decorators:
        return
    count["functions"] += 1
    is_property = "property" in decorators or "setter" in decorators
    text = (ast.get_docstring(node) or "").strip()
    if not node.name.startswith("_") and not is_property and set(arguments) - {"self", "cls"}:
        count["public"] += 1
        count["documented"] += bool(PARAMETERS.search(text))
    if not text:
        return
    first = re.split(r"(?<=[.])\s|\n\s*\n", text)[0].replace("\n", " ")
    count["docs"] += 1
    pointing = bool(POINTING.search(first))
    count["pointing"] += pointing
    starts_with_verb = True
    if not is_property and not node.name.startswith("__"):
        word = re.sub(r"[^A-Za-z-]", "", first.split()[0]).lower()
        starts_with_verb = word in VERBS or word in THIRD
        count["plain docs"] += 1
        count["verb"] += starts_with_verb
    if pointing or not starts_with_verb:
        places.append((path, node.lineno, "docstring", f"{node.name}: {first[:90]}"))


def main() -> None:
    """Print the table, then the worst places."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", nargs="?", type=Path, default=Path("src/whygap"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--worst", type=int, default=0, help="list this many places")
    given = parser.parse_args()
    figures, places = measure(given.package)
    missed = 0
    for name, value in figures.items():
        limit, kind, others = GUIDES[name]
        good = value >= limit if kind == "at least" else value <= limit
        missed += not good
        print(f"{'  ' if good else '* '}{name:<46} {value:8.2f}   {kind} {limit:g}   ({others})")
    wanted = {path.resolve() for path in given.files}
    shown = [p for p in places if not wanted or p[0].resolve() in wanted]
    for path, line, kind, text in shown[: given.worst]:
        print(f"{path}:{line} {kind} {text}")
    print(f"{missed} of {len(figures)} guides missed")


if __name__ == "__main__":
    main()
