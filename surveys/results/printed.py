"""How numbers of results are written, on pages and in tables for a paper."""

from surveys.results.statistics.inference import ALPHA

NOTHING = "–"


def number(value: float | None, *, places: int = 4) -> str:
    return NOTHING if value is None else f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")


def p_value(p: float) -> str:
    """Return a p value as "0.012" or "< 0.001", never rounded across the limit."""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.4f}" if abs(p - ALPHA) < 0.0005 else f"{p:.3f}"
