"""What a metric is: its name, what it takes, what it gives, and its version."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from metrics.thesaurus import Synonyms, Thesaurus, as_thesaurus

Level = Literal["item", "corpus"]
Direction = Literal["higher", "lower"]


@dataclass(frozen=True, kw_only=True)
class Score:
    """A value that says where it comes from."""

    value: float
    metric: str
    version: str
    profile: str
    thesaurus: str | None = None
    """Name of the thesaurus used, `none` if there was none; None for metrics that know no synonyms."""
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A declared metric. `range` is (least, greatest), infinite where there is no bound."""

    name: str
    level: Level
    """`item`: one score for each pair, a data set has their mean. `corpus`: one score for a whole set."""
    inputs: tuple[str, ...]
    range: tuple[float, float]
    direction: Direction
    """Which way is better."""
    version: str
    """Changes whenever a value may change; scores of different versions are not comparable."""
    measure: Callable[..., float]
    explain: Callable[..., Mapping[str, Any]] | None = None
    """Gives the parts, `value` among them."""
    takes_thesaurus: bool = False

    def score(self, *inputs: Any, thesaurus: Synonyms = None, **options: Any) -> float:
        """Return the value for these inputs; options are those of the measuring function, such as `profile`.

        Raises MetricError for inputs that have no score. A metric without synonyms takes a thesaurus and ignores it.
        """
        return self.measure(*inputs, **self._options(thesaurus, options))

    def evaluate(self, *inputs: Any, thesaurus: Synonyms = None, **options: Any) -> Score:
        """Return the value with its metric, version, profile, thesaurus and parts."""
        given = self._options(thesaurus, options)
        parts = self.explain(*inputs, **given) if self.explain else {}
        return Score(
            value=parts["value"] if self.explain else self.measure(*inputs, **given),
            metric=self.name,
            version=self.version,
            profile=options.get("profile", "document"),
            thesaurus=_name(given["thesaurus"]) if self.takes_thesaurus else None,
            parts=parts,
        )

    def _options(self, thesaurus: Synonyms, options: Mapping[str, Any]) -> dict[str, Any]:
        return {**options, "thesaurus": as_thesaurus(thesaurus)} if self.takes_thesaurus else dict(options)


def _name(thesaurus: Thesaurus | None) -> str:
    return thesaurus.name if thesaurus else "none"
