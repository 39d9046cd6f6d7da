"""How numbers of results are written, on pages and in tables for a paper."""

from collections.abc import Iterable

from surveys.results.statistics.inference import ALPHA, FEW_WORKERS, Interval, Support

NOTHING = "–"


def number(value: float | None, *, places: int = 4) -> str:
    return NOTHING if value is None else f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")


def known(value: float | None, interval: Interval | None) -> str:
    """Return a number to as many places as its interval allows, and more where it would else be printed as 0."""
    places = interval.places if interval else 2
    while places < 4 and value and not round(value, places):
        places += 1
    return number(value, places=places)


def p_value(p: float) -> str:
    """Return a p value as "0.012" or "< 0.001", never rounded across the limit."""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.4f}" if abs(p - ALPHA) < 0.0005 else f"{p:.3f}"


def level_text(level: float) -> str:
    """Return a level as "95 %", with as many places as tell it from the whole: that of 100 tests is 99.95 %."""
    text = f"{100 * level:.3g}"
    return f"{100 * level:.6g} %" if text == "100" else f"{text} %"


def support_line(supports: Iterable[Support]) -> str:
    """Return what the weakest of the tests rests on, and a warning where that is too little."""
    support = min(supports, key=lambda s: s.effective or 0.0)
    if support.effective is None or support.busiest is None:
        return "Nobody knows who rated what: intervals and p values leave out how workers differ."
    told = (
        f"The thinnest side of a comparison has {support.workers} workers, as good as {support.effective:.1f} equally "
        f"busy ones; the busiest three gave {support.busiest:.0%} of its ratings."
    )
    few = f" Fewer than {FEW_WORKERS:g} are few: do not lean on intervals and p values near the edge."
    return told + (few if support.has_few_workers else "")
