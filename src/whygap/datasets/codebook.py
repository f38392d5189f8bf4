"""What the codes of the employment table mean, after the ACS 2018 public-use data dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["EMPLOYMENT", "Variable"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One column: our name, the Census Bureau's name, and the text of each code.

    `labels` is in the order of the codes; `ordered` says whether that order means something.
    """

    name: str
    census_name: str
    meaning: str
    labels: Mapping[str, str]
    ordered: bool = False


def _labels(**texts: str) -> Mapping[str, str]:
    """`_1="Married"` becomes `{"1": "Married"}`."""
    return MappingProxyType({code.lstrip("_"): text for code, text in texts.items()})


_YES_NO = _labels(_1="Yes", _2="No")

_SCHOOLING = _labels(
    _1="No schooling completed",
    _2="Nursery school",
    _3="Kindergarten",
    **{f"_{grade + 3}": f"Grade {grade}" for grade in range(1, 12)},
    _15="Grade 12, no diploma",
    _16="High school diploma",
    _17="GED or alternative credential",
    _18="College, less than 1 year",
    _19="College, 1 year or more, no degree",
    _20="Associate's degree",
    _21="Bachelor's degree",
    _22="Master's degree",
    _23="Professional degree",
    _24="Doctorate degree",
)

_RELATIONSHIP = _labels(
    _0="Reference person",
    _1="Husband or wife",
    _2="Biological child",
    _3="Adopted child",
    _4="Stepchild",
    _5="Brother or sister",
    _6="Father or mother",
    _7="Grandchild",
    _8="Parent-in-law",
    _9="Child-in-law",
    _10="Other relative",
    _11="Roomer or boarder",
    _12="Housemate or roommate",
    _13="Unmarried partner",
    _14="Foster child",
    _15="Other nonrelative",
    _16="Group quarters, institutional",
    _17="Group quarters, noninstitutional",
)

_RACE = _labels(
    _1="White",
    _2="Black or African American",
    _3="American Indian",
    _4="Alaska Native",
    _5="American Indian or Alaska Native, tribe specified or not",
    _6="Asian",
    _7="Native Hawaiian or Pacific Islander",
    _8="Some other race",
    _9="Two or more races",
)

EMPLOYMENT: tuple[Variable, ...] = (
    Variable("age", "AGEP", "age in years", _labels()),
    Variable("sex", "SEX", "sex", _labels(_1="Male", _2="Female")),
    Variable("race", "RAC1P", "race, as reported by the respondent", _RACE),
    Variable("schooling", "SCHL", "highest schooling completed", _SCHOOLING, ordered=True),
    Variable(
        "marital_status",
        "MAR",
        "marital status",
        _labels(_1="Married", _2="Widowed", _3="Divorced", _4="Separated", _5="Never married"),
    ),
    Variable("relationship", "RELP", "relationship to the reference person", _RELATIONSHIP),
    Variable("any_difficulty", "DIS", "any recorded disability", _YES_NO),
    Variable("hearing_difficulty", "DEAR", "deaf or serious difficulty hearing", _YES_NO),
    Variable("vision_difficulty", "DEYE", "blind or serious difficulty seeing", _YES_NO),
    Variable(
        "cognitive_difficulty", "DREM", "difficulty remembering, concentrating, deciding", _YES_NO
    ),
    Variable(
        "mobility",
        "MIG",
        "where the person lived one year ago",
        _labels(_1="Same house", _2="Outside the US", _3="Elsewhere in the US"),
    ),
    Variable(
        "military",
        "MIL",
        "military service",
        _labels(
            _1="On active duty",
            _2="On active duty in the past",
            _3="Training for Reserves or Guard only",
            _4="Never served",
        ),
    ),
    Variable(
        "ancestry",
        "ANC",
        "how ancestry was recorded",
        _labels(_1="Single", _2="Multiple", _3="Unclassified", _4="Not reported"),
    ),
)
