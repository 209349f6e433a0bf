"""Numbers for people: percent with two decimals as in the paper, thousands, times."""

from __future__ import annotations

MISSING = "–"
_MINUS = "\u2212"


def _signs(text: str) -> str:
    return text.replace("-", _MINUS)


def percent(fraction: float | None, decimals: int = 2) -> str:
    """0.84213 -> 84.21%."""
    return MISSING if fraction is None else _signs(f"{100 * fraction:.{decimals}f}%")


def points(difference: float) -> str:
    """The difference of two fractions in signed percentage points: 0.1969 -> +19.69."""
    return _signs(f"{100 * difference:+.2f}")


def decimal(value: float | None, decimals: int = 4) -> str:
    """0.38124 -> 0.3812."""
    return MISSING if value is None else _signs(f"{value:.{decimals}f}")


def count(number: float | None) -> str:
    """12345 -> 12,345."""
    return MISSING if number is None else _signs(f"{number:,.0f}")


def compact(number: float) -> str:
    """A count for a small cell: 950, 1.2k, 12k, 1.2M."""
    if number < 1000:
        return f"{number:.0f}"
    for size, letter in ((1e3, "k"), (1e6, "M")):
        # 999,500 and more would round to "1000k"
        if number < 999.5 * size:
            scaled = number / size
            return f"{scaled:.1f}{letter}" if scaled < 9.95 else f"{scaled:.0f}{letter}"
    return f"{number / 1e9:.1f}G"


def milliseconds(seconds: float | None) -> str:
    """Three significant digits without an exponent: 0.00226 s -> 2.26."""
    if seconds is None:
        return MISSING
    value = 1000 * seconds
    if value < 0.0005:
        return "<0.001" if value > 0 else "0"
    decimals = 2 - len(str(int(value))) + 1 if value >= 1 else 3
    return f"{value:,.{max(decimals, 0)}f}"


def duration(seconds: float | None) -> str:
    """41.24 -> 41.2 s; 123 -> 2 min 3 s; 7500 -> 2 h 5 min."""
    if seconds is None:
        return MISSING
    if seconds < 59.95:
        return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def plural(number: int, one: str, many: str | None = None) -> str:
    """1 class, 2 classes."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def shorten(text: str, length: int) -> str:
    """At most `length` characters. The middle goes: long names differ at either end."""
    if len(text) <= length:
        return text
    tail = (length - 1) * 2 // 5
    return f"{text[: length - 1 - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"
