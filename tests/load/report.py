"""What a load test says at its end. Times are for people to read; nothing depends on them."""

from annotators.models import Assignment, Channel
from surveys.models import Replacement
from tests.load.rush import Rush

Status = Assignment.Status


def report(rush: Rush, *, seconds: float) -> str:
    """Return the report as a text for the terminal."""
    meter, counts = rush.meter, rush.records.counts
    rejected = Assignment.objects.filter(status=Status.REJECTED)
    submitted = Assignment.objects.exclude(status=Status.ACCEPTED)
    rows = {
        "annotators": len(rush.people),
        "seconds": f"{seconds:.0f}",
        "batches": len(rush.study.batches),
        "requests": len(meter.seconds),
        "requests a second": f"{len(meter.seconds) / seconds:.1f}",
        "answered within (p50, p95)": f"{meter.percentile(0.5):.2f} s, {meter.percentile(0.95):.2f} s",
        "statuses": ", ".join(f"{status}: {n}" for status, n in sorted(meter.statuses.items())),
        "submitted": f"{counts['submitted']}, by link {submitted.exclude(channel=Channel.MARKETPLACE).count()}",
        "submitted twice at once": counts["submitted twice at once"],
        "rejected": rejected.count(),
        "replaced": f"{Replacement.objects.exclude(opened_at=None).count()} on the marketplace",
        "drafts": f"{counts['drafts']}, reopened {counts['drafts reopened']}",
        "left with a draft": f"{counts['abandoned']}, returned {counts['returned']}, finished late {counts['late']}",
        "turned away": counts["turned away"],
        "opened too early": counts["opened too early"],
        "errors": len(meter.errors),
        **{f"error {n}": error[:600] for n, error in enumerate(meter.errors[:3], 1)},
    }
    width = max(map(len, rows))
    return "\n".join(["", *(f"  {name:<{width}}  {value}" for name, value in rows.items()), ""])
