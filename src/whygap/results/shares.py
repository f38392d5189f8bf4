"""The paper's shares of one part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from whygap.domains import Array
from whygap.errors import ResultError, did_you_mean, name_list, require_known
from whygap.estimate import Estimate
from whygap.results.joint import Joint, RankInterval, Sampling


@dataclass(frozen=True, slots=True)
class SubsetValue:
    """One evaluated subset: numerator and value."""

    players: tuple[str, ...]
    numerator: Estimate
    value: Estimate | None


@dataclass(frozen=True, slots=True)
class Detailed:
    """Shares of one part.

    Attributes:
        part: "covariate" or "outcome".
        players: all player names, in the study's order.
        denominator: mean squared gap across strata; what the shares are shares of.
        defined: False when the denominator is not distinguishable from 0.
        reason: why it is not defined, in words; empty when it is.
        base: v(empty): what recalibrating the re-estimated source risk within strata of W explains,
            which is no recalibration of the model (always 0 for covariates).
        shares: player -> Estimate; empty when not defined.
        covariance: of the shares, in the players' order; sampling error included.
        subsets: the subsets that were evaluated.
        sampling: how they were chosen.
    """

    part: Literal["covariate", "outcome"]
    players: tuple[str, ...]
    denominator: Estimate
    defined: bool
    reason: str
    base: Estimate | None
    shares: Mapping[str, Estimate]
    covariance: Array
    subsets: tuple[SubsetValue, ...]
    sampling: Sampling | None

    def numerator(self, names: Iterable[str]) -> Estimate:
        """Unexplained mean squared gap of a subset that was evaluated."""
        return self._find(names).numerator

    def value(self, names: Iterable[str]) -> Estimate:
        """Explained share v(s) of a subset that was evaluated."""
        found = self._find(names)
        if found.value is None:
            raise ResultError(f"The {self.part} values are undefined", hint=self.reason)
        return found.value

    def joint(self) -> Joint:
        """The shares with what is known of them together."""
        if not self.defined:
            raise ResultError(f"The {self.part} shares are undefined", hint=self.reason)
        return Joint(self.shares, self.covariance)

    def difference(self, first: str, second: str) -> Estimate:
        """Share of `first` minus share of `second`."""
        self._share(first), self._share(second)
        return self.joint().difference(first, second)

    def ranking(self, level: float = 0.95) -> dict[str, RankInterval]:
        """Simultaneous rank intervals per player."""
        return self.joint().ranking(level)

    def simultaneous(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Intervals that hold for all players at once (max-t)."""
        return self.joint().simultaneous(level)

    def adjusted_p_values(self, method: Literal["holm", "max_t"] = "holm") -> dict[str, float]:
        """p-values of "this share is 0", adjusted for looking at all players."""
        return self.joint().adjusted_p_values(method)

    def top_group(self, level: float = 0.95) -> tuple[str, ...]:
        """The players that may have the largest share (`Joint.first`), largest first."""
        return self.joint().first(level)

    def _share(self, name: str) -> Estimate:
        if not self.defined:
            raise ResultError(f"The {self.part} shares are undefined", hint=self.reason)
        what = f"There is no {self.part} share named '{name}'"
        require_known(name, self.shares, what, "Names", ResultError)
        return self.shares[name]

    def _find(self, names: Iterable[str]) -> SubsetValue:
        wanted = frozenset(name_list(names, "A subset", ResultError))
        for name in wanted - set(self.players):
            raise ResultError(
                f"There is no player named '{name}'", hint=did_you_mean(name, self.players)
            )
        for subset in self.subsets:
            if frozenset(subset.players) == wanted:
                return subset
        raise ResultError(
            "This subset was not evaluated",
            got="{" + ", ".join(sorted(wanted)) + "}",
            hint="Ask for it with whygap.subset_values(study, part=..., subsets=[...]).",
        )
