"""The style sheet holds together, and its colours can be read."""

from __future__ import annotations

import re

import pytest

from millpond.report.confusion import _ink
from millpond.report.style import _DARK, _LIGHT, STYLE


def _colours(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", text))


def _luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(d * 2 for d in digits)
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a: str, b: str) -> float:
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_braces_match_and_every_variable_is_defined() -> None:
    assert STYLE.count("{") == STYLE.count("}")
    defined = set(re.findall(r"--([\w-]+):", _LIGHT))
    assert set(re.findall(r"var\(--([\w-]+)\)", STYLE)) <= defined
    assert set(re.findall(r"--([\w-]+):", _DARK)) == defined


def test_nothing_is_loaded() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE


@pytest.mark.parametrize("theme", [_LIGHT, _DARK])
@pytest.mark.parametrize("name", ["ink", "soft", "gain", "loss", "accent"])
@pytest.mark.parametrize("ground", ["paper", "wash"])
def test_text_has_the_contrast_that_wcag_asks_for(theme: str, name: str, ground: str) -> None:
    colours = _colours(theme)
    assert _contrast(colours[name], colours[ground]) >= 4.5


@pytest.mark.parametrize("theme", [_LIGHT, _DARK])
@pytest.mark.parametrize("name", ["accent", "second", "floor"])
def test_lines_have_the_contrast_that_wcag_asks_for(theme: str, name: str) -> None:
    colours = _colours(theme)
    assert _contrast(colours[name], colours["paper"]) >= 3


@pytest.mark.parametrize("theme", [_LIGHT, _DARK])
@pytest.mark.parametrize("shade", range(11))
def test_counts_can_be_read_on_every_shade_of_the_heat_map(theme: str, shade: int) -> None:
    colours = _colours(theme)
    heat = [int(v) for v in re.findall(r"--heat: (\d+) (\d+) (\d+);", theme)[0]]
    paper = colours["paper"].lstrip("#")
    paper = paper if len(paper) == 6 else "".join(d * 2 for d in paper)
    alpha = float(re.findall(rf"\.heat{shade} {{ fill: rgb\(var\(--heat\) / ([\d.]+)\)", STYLE)[0])
    mixed = [
        round(alpha * h + (1 - alpha) * int(paper[2 * i : 2 * i + 2], 16))
        for i, h in enumerate(heat)
    ]
    kind = _ink(shade)
    ink = "#000" if kind == "midheat" else colours[kind]
    assert _contrast(ink, "#" + "".join(f"{c:02x}" for c in mixed)) >= 4.5
