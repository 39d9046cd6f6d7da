"""The published studies' view of a frame: one row per response, the model ("ours") beside the ground truth ("gt")."""

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from surveys.protocols.definition import Definition
from surveys.results.frames.base import PREFERRED, SELECTED, Frame, column, score_maps, scored

SHORTCOMINGS = {
    "confusing": "shortcomings.confusing_sentence",
    "incorrect": "shortcomings.incorrect_description",
    "insufficient": "shortcomings.insufficient_justification",
}
NEEDED = {"justifies", "shortcomings"}


class LayoutError(ValueError):
    """This study can't be written in that layout; the message says why."""


def has_pairs(definition: Definition) -> bool:
    """Does a survey type ask e-ViL's questions, all of everybody, of two explanations, one of them the reference?"""
    keys = {criterion.key for criterion in definition.output_criteria}
    return (
        keys >= NEEDED
        and definition.answer is not None
        and definition.preference is not None
        and definition.outputs_per_item == 2
        and not definition.is_drawn
        and definition.reference_system != ""
        and not any(criterion.asked_if for criterion in definition.criteria)
    )


def is_paired(frame: Frame) -> bool:
    """Can this frame be written in the published layouts?"""
    return _are_paired(frame.definition, frame.systems)


def _are_paired(definition: Definition, systems: Collection[str]) -> bool:
    return has_pairs(definition) and definition.reference_system in systems and len(systems) > 1


def require_pairs(definition: Definition, *, systems: Collection[str]) -> None:
    """LayoutError where the published layouts have no place for what was asked about these systems."""
    if not _are_paired(definition, systems):
        raise LayoutError(
            "This layout is for e-ViL surveys, with outputs of a model and of the ground truth."
        )


@dataclass(frozen=True, slots=True)
class Pairs:
    """Columns of one frame's rows, by side. Where models differ by item, "ours" is the item's own."""

    frame: Frame
    rows: pd.DataFrame

    def ours(self, name: str) -> pd.Series:
        """Return a column of the model's. The last model's value stands where no model has one."""
        models = self.frame.models
        if len(models) == 1:
            return self._of(models[0], name)
        values = self._of(models[0], name)
        for model in models[1:]:
            values = values.where(~self._has_output(model), self._of(model, name))
        return values

    def gt(self, name: str) -> pd.Series:
        return self._of(self.frame.definition.reference_system, name)

    def our_system(self) -> pd.Series:
        systems = pd.Series(self.frame.models[0], index=self.rows.index, dtype="str")
        for model in self.frame.models[1:]:
            systems = systems.where(~self._has_output(model), model)
        return systems

    def scores(self, values: pd.Series) -> pd.Series:
        return scored(values, by=score_maps(self.frame.definition)["justifies"])

    def has_preference(self) -> pd.Series:
        return self.ours("preference").notna()

    def prefers(self, values: pd.Series) -> pd.Series:
        return self._judged(values == PREFERRED)

    def no_preference(self) -> pd.Series:
        neither = ~self.prefers(self.ours("preference")) & ~self.prefers(self.gt("preference"))
        return self._judged(self.has_preference() & neither)

    def ticked(self, values: pd.Series) -> pd.Series:
        return self._judged(values == SELECTED)

    def _judged(self, said: pd.Series) -> pd.Series:
        """Return what was said, and nothing where an item was not judged."""
        skipped = self.rows["is_skipped"]
        return said.astype("boolean").mask(skipped) if skipped.any() else said

    def _of(self, system: str, name: str) -> pd.Series:
        found = self.rows.get(column(system, name))
        return pd.Series(pd.NA, index=self.rows.index, dtype="str") if found is None else found

    def _has_output(self, system: str) -> pd.Series:
        return self._of(system, "text").notna()
