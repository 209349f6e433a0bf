"""What the page of a whole run adds to the reports' style sheet."""

from millpond.report.style import STYLE

# Okabe and Ito's hues again; lines differ in dashes too, so that they are told apart in grey print.
_LINES = (
    ("--accent", "none", 2.8),
    ("--second", "7 3", 1.8),
    ("--green", "none", 1.6),
    ("--orange", "5 3", 1.6),
    ("--pink", "none", 1.6),
    ("--sky", "9 3 2 3", 1.6),
    ("--red", "2 3", 1.6),
    ("--rest", "none", 1.6),
    ("--floor", "6 2 2 2", 1.6),
)
_METHODS = "".join(
    f".m{i} {{ stroke: var({hue}); stroke-dasharray: {dash}; stroke-width: {width}; }}\n"
    f"text.end.m{i} {{ stroke: none; fill: var(--ink); }}\n"
    for i, (hue, dash, width) in enumerate(_LINES)
)

_SHEETS = """
.method { fill: none; stroke-linecap: round; stroke-linejoin: round; }
text.end.m0 { font-weight: 650; }
.skip { position: absolute; left: -999px; }
.skip:focus { position: static; }
nav ul { display: flex; flex-wrap: wrap; gap: 2px 18px; margin-top: 18px; list-style: none; }
nav a, .note a { color: var(--accent); }
.sheet { margin-top: 36px; }
h2 + .sheet { margin-top: 0; }
/* Positioned: what is for screen readers only would else stick out of it. */
.wide { position: relative; overflow-x: auto; margin-top: 10px; }
.wide th, .wide td { padding: 5px 0 5px 14px; }
.wide .paper > * { font-style: italic; color: var(--soft); }
.wide .sum > * { font-weight: 600; }
.wide .word { text-align: left; white-space: normal; }
.wide td.word { min-width: 6em; }
.wide th:first-child { padding-left: 0; white-space: normal; min-width: 8em; max-width: 24em; }
.wide thead th { white-space: normal; vertical-align: bottom; }
td .best { font-weight: 700; }
td .second { text-decoration: underline; text-underline-offset: 3px; }
.sheet .note { max-width: 78ch; margin-top: 8px; }
.box { fill: var(--wash); stroke: var(--floor); }
.box.hold { stroke: var(--accent); stroke-width: 2; }
.flow { stroke: var(--ink); stroke-width: 1.6; }
.clique { stroke: var(--ink); stroke-width: 4; stroke-linecap: round; }
figure + figure, .sheet + figure, figure + .sheet { margin-top: 40px; }
@media print {
  .wide { overflow: visible; }
  .wide table { font-size: 8pt; }
  .wide th, .wide td { padding-left: 8px; }
  .sheet { break-inside: avoid; }
  nav { display: none; }
}
"""

PAGE = STYLE + _METHODS + _SHEETS
