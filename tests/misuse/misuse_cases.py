"""The table of misuse: one entry a case, what is done and what must be said, numbers as #."""

from __future__ import annotations

import numpy as np
import pandas as pd
from misused import Case, make_table, of
from study_files import put

TOO_LITTLE = (
    "The tables share too little to compare them: only #% of the source rows (#) and #% of the "
    "target rows (#) have a counterpart in the other table. "
)
OTHERS = TOO_LITTLE + "No single column separates them; several together do."


def apart(column: str, looks: str) -> str:
    """Why nothing is compared, and what the column looks like."""
    return f"{TOO_LITTLE}What separates them: '{column}' ({looks})."


def changed(column: str) -> str:
    """A column whose meaning changed, as the prediction gives it away."""
    return (
        f"Column '{column}' does not mean the same in both tables: rows alike in every column get "
        f"other predictions, and far less so without '{column}'. Compare its units, its codes, and "
        "whether its values still belong to their rows; until then do not read the parts."
    )


def recorded(column: str, looks: str) -> str:
    """A column that looks recorded differently."""
    return (
        f"Column '{column}' looks recorded differently in the two tables ({looks}). Set that "
        "right first."
    )


def unseen(column: str, levels: str, here: str, there: str) -> str:
    """Levels of one table that the other lacks."""
    return (
        f"Column '{column}': {levels} (# of # {here} rows) not seen in {there}: no overlap there."
    )


def identifier(column: str) -> str:
    """A column that differs in every row."""
    return (
        f"Error: Column '{column}' looks like an identifier: it differs in every row. Drop it, or, "
        f"if it says which rows belong together, clusters='{column}'."
    )


def remote(table: str, address: str) -> tuple[str, ...]:
    """A table that lies elsewhere, and how to get it."""
    return (
        (
            f"Error: The {table} table is not on this machine. Got {address}. Download it first, "
            "or read it yourself and pass the table:"
        ),
        f'    {table} = pandas.read_csv("{address}")',
        f"    study = whygap.Study({table}={table}, ...)",
    )


def dated(start: str) -> object:
    """A day a row."""
    return lambda t: t.assign(day=pd.date_range(start, periods=len(t)).astype(str))


def both(kind: str, change: object, *said: str, **study: str) -> Case:
    """Both tables changed alike."""
    return Case(kind, said, change, change, study)


REVERSED = (
    "In the {} high scores go with outcome # (AUC #): the scores may be # - p, or meant for the "
    "other outcome value (positive=)."
)
OTHER_MODEL = (
    "Rows alike in every column get other predictions in the two tables, and no single column "
    "explains it: the model sees something that is not among the columns, or it is not the same "
    "model. What the parts say of alike rows does not hold for what it sees besides."
)
ONE_CLASS = (
    "The outcome 'y' equals # in too few target rows (#): was it recorded, and were the rows "
    "chosen, as in the source? The gap has its parts all the same, but the target's outcomes teach "
    "a model too little."
)
CASES: dict[str, Case] = {
    "in order": Case("fine"),
    "kilograms and grams": Case(
        "not comparable",
        (apart("weight", "other units: the target's median is # times the source's"),),
        target=of("weight", lambda x: x * 1000),
    ),
    "pounds and kilograms": Case(
        "not comparable",
        (apart("weight", "other units: the target's median is #/# of the source's"),),
        source=of("weight", lambda x: x * 2.205),
    ),
    "a balance in cents": Case(
        "not comparable",
        (apart("balance", "other units: the target's spread is # times the source's"),),
        target=of("balance", lambda x: x * 100),
    ),
    "Celsius and Kelvin": Case(
        "not comparable",
        (apart("weight", "another origin: the target's values lie +# from the source's"),),
        target=of("weight", lambda x: x + 273.15),
    ),
    "a column turned round": Case(
        "problem", (changed("balance"),), target=of("balance", lambda x: -x)
    ),
    "a column sorted by itself": Case(
        "problem", (changed("weight"),), target=of("weight", np.sort)
    ),
    "a column of the source sorted": Case(
        "problem", (changed("balance"),), source=of("balance", np.sort)
    ),
    "a column shifted by a deviation": Case(
        "problem", (changed("balance"),), source=of("balance", lambda x: x + 1)
    ),
    "a column scaled a little": Case(
        "problem",
        (
            changed("balance"),
            (
                "The domains overlap poorly on all variables: reweighted to look like the target, "
                "the source rows count as about # (the heaviest counts # times); #% of the target "
                "rows have no counterpart in the source."
            ),
        ),
        target=of("balance", lambda x: 2.54 * x),
    ),
    "a column of other rows": Case(
        "problem", (changed("weight"),), target=of("weight", lambda x: np.roll(x, 7))
    ),
    "Yes and yes": Case(
        "not comparable",
        (
            apart("smoker", "other coding: 'No' in the source, 'no' in the target"),
            unseen("smoker", "levels 'No', 'Yes'", "source", "target"),
            unseen("smoker", "levels 'no', 'yes'", "target", "source"),
        ),
        target=of("smoker", lambda x: x.str.lower()),
    ),
    "1.0 and 1": Case(
        "problem",
        (
            recorded("grade", "other coding: '#' in the source, '#' in the target"),
            unseen("grade", "levels '#', '#'", "source", "target"),
            unseen("grade", "levels '#', '#'", "target", "source"),
        ),
        source=of("grade", lambda x: x.replace("3", "high")),
        target=of("grade", lambda x: x.map({"1": "1.0", "2": "2.0", "3": "high"})),
    ),
    "Yes is No": Case(
        "problem",
        (changed("smoker"),),
        target=of("smoker", lambda x: x.map({"Yes": "No", "No": "Yes"})),
    ),
    "0/1 and 1/2": Case(
        "problem",
        (recorded("flag", "other coding: # and # in the source, # and # in the target"),),
        target=of("flag", lambda x: x + 1),
    ),
    "0/1 and 0/100": Case(
        "problem",
        (recorded("flag", "other coding: # and # in the source, # and # in the target"),),
        target=of("flag", lambda x: x * 100),
    ),
    "a date": Case(
        "not comparable",
        (apart("day", "a date, a counter or an identifier"),),
        source=dated("2020-01-01"),
        target=dated("2023-01-01"),
    ),
    "a counter": both("refused", lambda t: t.assign(row=range(len(t))), identifier("row")),
    "a counter in one table": Case(
        "not comparable",
        (apart("weight", "a counter: the rows of the target are numbered"),),
        target=of("weight", lambda x: range(len(x))),
    ),
    "an identifier": both(
        "refused",
        lambda t: t.assign(patient=[f"a{i}" for i in range(len(t))]),
        identifier("patient"),
    ),
    "constant in one table": Case(
        "not comparable", (apart("weight", "constant in the target"),), target=put(weight=[74.0])
    ),
    "constant in both": both("fine", put(weight=[74.0])),
    "missing in both": both(
        "warning",
        put(weight=[np.nan]),
        "Left out, missing in every row of both tables: 'weight'.",
    ),
    "1 - p": both(
        "problem",
        of("risk", lambda p: 1 - p),
        REVERSED.format("source"),
        REVERSED.format("target"),
        "In the source the model is right in #% of the rows; always saying # would be right in #%.",
    ),
    "1 - p in one table": Case(
        "problem",
        (OTHER_MODEL, REVERSED.format("target")),
        target=of("risk", lambda p: 1 - p),
    ),
    "scores of other rows": Case(
        "problem", (OTHER_MODEL,), target=of("risk", lambda p: np.roll(p, 7))
    ),
    "a constant score": both(
        "warning",
        put(risk=[0.7]),
        "The prediction is # in every row: it cannot tell any rows apart.",
    ),
    "a score that is the outcome": both(
        "problem",
        lambda t: t.assign(risk=t["y"]),
        "The prediction gives the outcome in every row of both tables: it is the outcome itself, "
        "or was made from it.",
    ),
    "a covariate that is the outcome": both(
        "problem",
        lambda t: t.assign(late=t["y"]),
        "Column 'late' alone gives the outcome in every row: it is the outcome itself, or recorded "
        "after it.",
    ),
    "scores in percent": both(
        "refused",
        of("risk", lambda p: 100 * p),
        "Error: The prediction 'risk' must be a probability from # to #, or a label. Got values "
        "from # to # in source. It looks like percent: divide by #.",
    ),
    "one class": Case("warning", (ONE_CLASS,), target=put(y=[1])),
    "rows that stand in both tables": Case(
        "warning",
        (
            (
                "# of # rows of target are equal in every column to rows of source: if they are "
                "the same cases, leave them out of one table; intervals take the tables for "
                "independent."
            ),
        ),
        target=lambda t: pd.concat([t.head(200), make_table(360, 1).head(100)]),
    ),
    "rows that stand twice": Case(
        "warning",
        (
            (
                "# of # rows of source repeat another one in every column: if they are copies, "
                "leave them out; if several rows belong to one case, name it with clusters=. "
                "Intervals take rows for independent."
            ),
        ),
        source=lambda t: pd.concat([t, t.head(100)]),
    ),
    "a metric that is constant": both(
        "problem",
        lambda t: t.assign(risk=np.where(t["y"] == 1, 0.9, 0.1)),
        "The prediction gives the outcome in every row of both tables: it is the outcome itself, "
        "or was made from it.",
    ),
    "a group that one table lacks": Case(
        "warning",
        (unseen("smoker", "level 'No'", "source", "target"),),
        target=lambda t: t[t["smoker"] == "Yes"],
    ),
    "weights all in one group": Case(
        "not comparable",
        (OTHERS,),
        source=lambda t: t.assign(w=np.where(t["smoker"] == "Yes", 1.0, 0.0)),
        target=lambda t: t.assign(w=np.where(t["smoker"] == "No", 1.0, 0.0)),
        study={"weights": '"w"'},
    ),
    "semicolons": Case("fine", write=lambda t, path: t.to_csv(path, index=False, sep=";")),
    "semicolons and decimal commas": Case(
        "fine", write=lambda t, path: t.to_csv(path, index=False, sep=";", decimal=",")
    ),
    "tabs": Case("fine", write=lambda t, path: t.to_csv(path, index=False, sep="\t")),
    "latin-1": Case(
        "fine",
        source=of("smoker", lambda x: x.replace("Yes", "fumé")),
        target=of("smoker", lambda x: x.replace("Yes", "fumé")),
        write=lambda t, path: t.to_csv(path, index=False, encoding="latin-1"),
    ),
    "a pandas index": Case("fine", write=lambda t, path: t.to_csv(path)),
    "a file on s3": Case(
        "refused",
        remote("source", "s#://bucket/source.csv"),
        study={"source": '"s3://bucket/source.csv"'},
    ),
    "a file on the web": Case(
        "refused",
        remote("target", "https://example.org/target.csv"),
        study={"target": '"https://example.org/target.csv"'},
    ),
}
