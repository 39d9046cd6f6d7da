"""A frame in, plain dataclasses out; no pandas leaves this module.

Every share has its count and its total beside it. A mean over nothing is None, never 0 and never NaN.
"""

from dataclasses import replace

import pandas as pd

from surveys.protocols.definition import UNSEEN
from surveys.results.frames.base import KEPT_STATUSES, NO_PREFERENCE, PREFERRED, Frame, column, only
from surveys.results.statistics.criteria import coded, criterion_summaries, scores_of, share_of, values_of
from surveys.results.statistics.numbers import (
    BLANK,
    Counts,
    Minutes,
    PairedDifference,
    Selection,
    Share,
    Summary,
    SystemSummary,
    TaskScores,
)

STRATA = ("true", "false", "unknown")
# What a system's numbers take of an answer.
OF_ANSWER = ("item_id", "worker", "gold", "is_skipped", "skip_reason")


def summarise(frame: Frame) -> Summary:
    """Return the numbers of a study. An empty frame gives counts of 0 and means of None."""
    kept = _selection(frame, frame.kept, name="kept")
    is_all_kept = len(frame.kept) == len(frame.responses)
    return Summary(
        headline=frame.definition.headline,
        counts=_counts(frame.responses),
        minutes=_minutes(frame.kept),
        all=replace(kept, name="all") if is_all_kept else _selection(frame, frame.responses, name="all"),
        kept=kept,
        filtered=(
            _selection(frame, frame.filtered, name="filtered")
            if frame.is_graded
            else replace(kept, name="filtered")
        ),
        strata=_strata(frame),
        is_graded=frame.is_graded,
    )


def _strata(frame: Frame) -> tuple[Selection, ...]:
    is_known = [frame.responses[column(system, "model_correct")].notna().any() for system in frame.systems]
    if not any(is_known):
        return ()
    return tuple(_selection(frame, frame.kept, name=name, stratum=name) for name in STRATA)


def _counts(rows: pd.DataFrame) -> Counts:
    assignments = rows.drop_duplicates(["assignment_id", "worker"])
    kept = int(assignments["included"].sum())
    rejected = int((~assignments["status"].isin(KEPT_STATUSES)).sum())
    return Counts(
        assignments=len(assignments),
        kept=kept,
        rejected=rejected,
        hits=int(rows["hit_id"].nunique()),
        items=int(rows["item_id"].nunique()),
        workers=int(rows["worker"].nunique()),
        responses=len(rows),
        skipped=int(rows["is_skipped"].sum()),
        left_out=len(assignments) - kept - rejected,
    )


def _minutes(rows: pd.DataFrame) -> Minutes:
    seconds = rows.drop_duplicates(["assignment_id", "worker"])["work_seconds"].dropna()
    if seconds.empty:
        return Minutes(None, None, 0)
    return Minutes(float(seconds.mean()) / 60, float(seconds.median()) / 60, len(seconds))


def _selection(frame: Frame, rows: pd.DataFrame, *, name: str, stratum: str = "") -> Selection:
    systems = tuple(_system(frame, rows, system=system, stratum=stratum) for system in frame.systems)
    rows = only(rows, ~rows["is_skipped"])
    correct = None
    if frame.is_graded:
        is_right = rows["answer_correct"].fillna(False).astype(bool)
        correct = share_of("correct", "Answer right", is_right, coded(rows))
    about_items = frame.definition.item_criteria
    return Selection(
        name=name,
        responses=sum(system.responses for system in systems) if stratum else len(rows),
        correct=None if stratum else correct,
        criteria=() if stratum else criterion_summaries(frame, rows, system="", criteria=about_items),
        systems=systems,
        preference=() if stratum else _preference(frame, rows),
    )


def _system(frame: Frame, rows: pd.DataFrame, *, system: str, stratum: str) -> SystemSummary:
    shown = frame.about(_columns_about(frame, rows, system=system), system=system)
    if stratum:
        shown = shown[_stratum(shown[column(system, "model_correct")]) == stratum]
    rows = only(shown, ~shown["is_skipped"])
    criteria = criterion_summaries(frame, rows, system=system, criteria=frame.definition.output_criteria)
    return SystemSummary(
        system=system,
        role=frame.role(system),
        responses=len(rows),
        skipped=len(shown) - len(rows),
        criteria=criteria,
        evil=_task_scores(frame, rows, system=system),
        interval=next((c.interval for c in criteria if c.key == frame.definition.headline), None),
        difference=_difference(frame, rows, system=system),
        reasons=_reasons(frame, shown[shown["is_skipped"]]),
    )


def _columns_about(frame: Frame, rows: pd.DataFrame, *, system: str) -> pd.DataFrame:
    """Return what the numbers of a system are made of: choosing rows takes as long as there are columns."""
    own, other = column(system, ""), column(frame.definition.reference_system, frame.definition.headline)
    return rows[[name for name in rows.columns if name in OF_ANSWER or name.startswith(own) or name == other]]


def _reasons(frame: Frame, skipped: pd.DataFrame) -> tuple[Share, ...]:
    """Return how often each reason was given; one the survey type does not list comes last, by itself."""
    counts = skipped["skip_reason"].value_counts()
    labels = {choice.value: choice.label for choice in frame.definition.skip_reasons}
    labels |= {value: UNSEEN.get(value, value) for value in counts.index if value not in labels}
    return tuple(Share(v, label, int(counts.get(v, 0)), len(skipped)) for v, label in labels.items())


def _stratum(correct: "pd.Series[bool]") -> "pd.Series[str]":
    return correct.map({True: "true", False: "false"}).astype("str").fillna("unknown")


def _difference(frame: Frame, rows: pd.DataFrame, *, system: str) -> PairedDifference | None:
    reference = frame.definition.reference_system
    if system == reference or reference not in frame.systems:
        return None
    ours, theirs = (scores_of(frame, rows, system=name) for name in (system, reference))
    pairs = (ours - theirs).dropna().sort_values()
    return PairedDifference(float(pairs.mean()) if len(pairs) else None, len(pairs))


def _preference(frame: Frame, rows: pd.DataFrame) -> tuple[Share, ...]:
    """Return how often each system was preferred, no preference, and blank, of all rows."""
    preference = frame.definition.preference
    if preference is None or preference.by != "choice":
        return ()
    key = preference.key
    values = {system: values_of(rows, column(system, key)) for system in frame.systems}
    given = pd.DataFrame({system: v.notna() for system, v in values.items()}, index=rows.index).any(axis=1)
    none = pd.DataFrame({s: v == NO_PREFERENCE for s, v in values.items()}, index=rows.index).any(axis=1)
    names = coded(rows)
    shares = [share_of(s, s, v == PREFERRED, names) for s, v in values.items()]
    return (
        *shares,
        share_of(NO_PREFERENCE, "No preference", none, names),
        Share(BLANK, "Blank", len(rows) - int(given.sum()), len(rows)),
    )


def _task_scores(frame: Frame, rows: pd.DataFrame, *, system: str) -> TaskScores | None:
    if system not in frame.models or not frame.is_graded:
        return None
    said = rows[column(system, "answer")].replace("", pd.NA)
    graded = rows[said.notna() & rows["gold"].notna()]
    right = graded[graded[column(system, "answer")] == graded["gold"]]
    items, items_right = int(graded["item_id"].nunique()), int(right["item_id"].nunique())
    given = scores_of(frame, right, system=system).dropna().sort_values()
    return TaskScores(
        task=items_right / items if items else None,
        items_right=items_right,
        items=items,
        explanation=float(given.mean()) if len(given) else None,
        whole=frame.accuracies.get(system),
    )
