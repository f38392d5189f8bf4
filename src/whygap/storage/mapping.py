"""Results as plain values (what JSON can hold) and back; `whygap.storage` writes and reads them.

Numbers that JSON cannot hold become the words "nan", "inf" and "-inf". Influence values, when
asked for, are little-endian float64 in base64; rows of the tables are never part of it.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from whygap.domains import Array, ByDomain
from whygap.estimate import Estimate, Influence, Sample
from whygap.fieller import Ratio
from whygap.results import (
    About,
    Aggregate,
    Detailed,
    Diagnostics,
    Gap,
    NuisanceRecord,
    Profile,
    RatioRecord,
    Sampling,
    SubsetValue,
)
from whygap.tables.design import Note

__all__ = ["SCHEMA", "VERSION", "from_mapping", "plain", "to_mapping"]

VERSION = 1
SCHEMA = f"whygap/{VERSION}"

Plain = dict[str, Any]


# -- to plain values -----------------------------------------------------------------------------


def to_mapping(gap: Gap, influence: bool = False) -> Plain:
    """Plain values, ready for JSON."""
    writer = _Writer(influence)
    mapping: Plain = {
        "schema": SCHEMA,
        "about": _plain(_about_fields(gap.about)),
        "aggregate": writer.aggregate(gap.aggregate),
        "covariate": writer.detailed(gap.covariate),
        "outcome": writer.detailed(gap.outcome),
        "diagnostics": _plain(asdict(gap.diagnostics)),
        "profiles": [_plain(asdict(profile)) for profile in gap.profiles],
        "table_kind": gap.table_kind,
    }
    if influence:
        mapping["samples"] = [_sample(sample) for sample in writer.samples]
    return mapping


def _about_fields(about: About) -> Plain:
    values = {f.name: getattr(about, f.name) for f in fields(about)}
    return {k: asdict(v) if isinstance(v, ByDomain) else v for k, v in values.items()}


@dataclass
class _Writer:
    """Writes estimates and collects the samples they belong to."""

    influence: bool
    samples: list[Sample] = field(default_factory=list)

    def aggregate(self, aggregate: Aggregate) -> Plain:
        names = [f.name for f in fields(aggregate) if f.name != "covariance"]
        covariance = aggregate.corner_covariance()
        return {name: self.estimate(getattr(aggregate, name)) for name in names} | {
            "covariance": None if covariance is None else _plain(covariance)
        }

    def detailed(self, detailed: Detailed | None) -> Plain | None:
        if detailed is None:
            return None
        return {
            "part": detailed.part,
            "players": list(detailed.players),
            "denominator": self.estimate(detailed.denominator),
            "defined": detailed.defined,
            "reason": detailed.reason,
            "base": self.estimate(detailed.base),
            "shares": {name: self.estimate(share) for name, share in detailed.shares.items()},
            "covariance": _plain(detailed.covariance),
            "subsets": [
                {
                    "players": list(subset.players),
                    "numerator": self.estimate(subset.numerator),
                    "value": self.estimate(subset.value),
                }
                for subset in detailed.subsets
            ],
            "sampling": None if detailed.sampling is None else _plain(asdict(detailed.sampling)),
        }

    def estimate(self, estimate: Estimate | None) -> Plain | None:
        if estimate is None:
            return None
        plain: Plain = {
            "value": _plain(estimate.value),
            "standard_error": _plain(estimate.standard_error),
            "plugin": _plain(estimate.plugin),
            "sampling_error": _plain(estimate.sampling_error),
        }
        if estimate.ratio is not None:
            plain["ratio"] = _plain(asdict(estimate.ratio))
        if self.influence and estimate.influence is not None and estimate.sample is not None:
            plain["sample"] = self._position(estimate.sample)
            values = estimate.influence
            plain["influence"] = {
                name: _packed(getattr(values, name))
                for name in ("source", "target", "draws", "fits")
            }
        return plain

    def _position(self, sample: Sample) -> int:
        for position, known in enumerate(self.samples):
            if known is sample:
                return position
        self.samples.append(sample)
        return len(self.samples) - 1


def _sample(sample: Sample) -> Plain:
    return {
        name: {
            "weights": _packed(sample.weights[name]),
            "units": _packed(sample.units[name].astype(float)),
            "size": int(sample.sizes[name]),
        }
        for name in ("source", "target")
    }


def _packed(values: Array) -> str:
    return base64.b64encode(np.asarray(values, dtype="<f8").tobytes()).decode("ascii")


def _plain(value: Any) -> Any:
    return plain(value, not_finite=str)


def plain(value: Any, not_finite: Callable[[float], Any] = lambda _: None) -> Any:
    """Nothing but what strict JSON holds; numbers it cannot hold are None unless said otherwise."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item, not_finite) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set) else value
        return [plain(item, not_finite) for item in items]
    if isinstance(value, float):
        return value if math.isfinite(value) else not_finite(value)
    return value if value is None or isinstance(value, str | bool | int) else str(value)


# -- and back ------------------------------------------------------------------------------------


def from_mapping(mapping: Plain) -> Gap:
    """The result that `to_mapping` took apart."""
    reader = _Reader([_read_sample(plain) for plain in mapping.get("samples", [])])
    return Gap(
        aggregate=reader.aggregate(mapping["aggregate"]),
        covariate=reader.detailed(mapping["covariate"]),
        outcome=reader.detailed(mapping["outcome"]),
        diagnostics=_read_diagnostics(mapping["diagnostics"]),
        about=_read_about(mapping["about"]),
        profiles=tuple(_read_profile(plain) for plain in mapping["profiles"]),
        table_kind=mapping["table_kind"],
    )


@dataclass(frozen=True)
class _Reader:
    """Reads estimates; those of one study share one `Sample` object again."""

    samples: list[Sample]

    def aggregate(self, plain: Plain) -> Aggregate:
        names = [f.name for f in fields(Aggregate) if f.name != "covariance"]
        return Aggregate(
            **{name: self.needed(plain[name]) for name in names},
            covariance=None if plain["covariance"] is None else _matrix(plain["covariance"]),
        )

    def detailed(self, plain: Plain | None) -> Detailed | None:
        if plain is None:
            return None
        sampling = plain["sampling"]
        return Detailed(
            part=plain["part"],
            players=tuple(plain["players"]),
            denominator=self.needed(plain["denominator"]),
            defined=plain["defined"],
            reason=plain["reason"],
            base=self.estimate(plain["base"]),
            shares={name: self.needed(share) for name, share in plain["shares"].items()},
            covariance=_matrix(plain["covariance"]),
            subsets=tuple(self.subset(subset) for subset in plain["subsets"]),
            sampling=None if sampling is None else Sampling(**_numbers(sampling, _SAMPLING)),
        )

    def subset(self, plain: Plain) -> SubsetValue:
        return SubsetValue(
            tuple(plain["players"]), self.needed(plain["numerator"]), self.estimate(plain["value"])
        )

    def estimate(self, plain: Plain | None) -> Estimate | None:
        return None if plain is None else self.needed(plain)

    def needed(self, plain: Plain) -> Estimate:
        ratio, influence = plain.get("ratio"), plain.get("influence")
        return Estimate(
            value=_number(plain["value"]),
            standard_error=_number(plain["standard_error"]),
            plugin=_number(plain["plugin"]),
            influence=None
            if influence is None
            else Influence(
                *(_unpacked(influence[n]) for n in ("source", "target", "draws", "fits"))
            ),
            sample=None if influence is None else self.samples[plain["sample"]],
            ratio=None if ratio is None else Ratio(**{k: _number(v) for k, v in ratio.items()}),
            sampling_error=_number(plain["sampling_error"]),
        )


_SAMPLING = ("possible", "largest_error")
_RATIO = ("effective_size", "largest_weight", "clipped_share", "domain_auc")
_PROFILE = ("source_share", "target_share", "gap", "gap_error")


def _number(value: float | str) -> float:
    return float(value)


def _numbers(plain: Plain, names: tuple[str, ...]) -> Plain:
    return {key: _number(value) if key in names else value for key, value in plain.items()}


def _matrix(rows: list[list[float | str]]) -> Array:
    matrix = np.array([[_number(cell) for cell in row] for row in rows], dtype=float)
    return matrix.reshape(len(rows), len(rows))


def _unpacked(text: str) -> Array:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8").astype(float)


def _read_sample(plain: Plain) -> Sample:
    return Sample(
        weights=_pair(plain, lambda side: _unpacked(side["weights"])),
        units=_pair(plain, lambda side: _unpacked(side["units"]).astype(np.int64)),
        sizes=_pair(plain, lambda side: int(side["size"])),
    )


def _pair(plain: Plain, read: Callable[[Any], Any]) -> ByDomain[Any]:
    return ByDomain(read(plain["source"]), read(plain["target"]))


def _read_about(plain: Plain) -> About:
    pairs = {name: _pair(plain[name], _number) for name in ("effective_rows", "kept_share")} | {
        "rows": _pair(plain["rows"], int)
    }
    columns = {name: tuple(members) for name, members in plain["players"].items()}
    seconds = {name: _number(value) for name, value in plain["seconds"].items()}
    read = {"baseline": tuple(plain["baseline"]), "players": columns, "seconds": seconds}
    return About(**(plain | read | pairs))


def _read_diagnostics(plain: Plain) -> Diagnostics:
    return Diagnostics(
        nuisances=tuple(
            NuisanceRecord(**(one | {"scores": _numbers(one["scores"], tuple(one["scores"]))}))
            for one in plain["nuisances"]
        ),
        ratios=tuple(RatioRecord(**_numbers(one, _RATIO)) for one in plain["ratios"]),
        notes=tuple(Note(**note) for note in plain["notes"]),
    )


def _read_profile(plain: Plain) -> Profile:
    series = {name: tuple(_number(value) for value in plain[name]) for name in _PROFILE}
    return Profile(variable=plain["variable"], bins=tuple(plain["bins"]), **series)
