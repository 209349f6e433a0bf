"""The page's style sheet: light, dark and print, from phone to desk.

Series colours are Okabe and Ito's, told apart without colour vision; lines differ in dashes and
areas in hatching as well. Everything coloured is a class, so that the drawings need no variants.
"""

_LIGHT = """
  --paper: #fff; --ink: #1a1f24; --soft: #59636e; --rule: #e2e6ea; --grid: #eceff2;
  --wash: #f5f7f9; --accent: #0072b2; --second: #d55e00; --gain: #00704f; --loss: #b14a00;
  --blue: #0072b2; --orange: #e69f00; --green: #009e73; --red: #d55e00; --pink: #cc79a7;
  --sky: #56b4e9; --rest: #a3abb3; --floor: #717b85; --heat: 0 114 178; --onheat: #fff;
  --offheat: #1a1f24; --onblue: #fff;
"""
_DARK = """
  --paper: #14181c; --ink: #e6e9ec; --soft: #9aa5af; --rule: #2d343b; --grid: #232a30;
  --wash: #1b2126; --accent: #56b4e9; --second: #f08a3c; --gain: #3ccfa0; --loss: #f08a3c;
  --blue: #2f8fcb; --orange: #e0a01c; --green: #12a67c; --red: #dc6a1c; --pink: #c97fa8;
  --sky: #8ccbf0; --rest: #7b858f; --floor: #8b959f; --heat: 86 180 233; --onheat: #000;
  --offheat: #fff; --onblue: #111;
"""

_SHEET = """
:root { color-scheme: light dark; /* light */ }
@media (prefers-color-scheme: dark) { :root { /* dark */ } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1136px; padding: 40px 32px 72px;
  background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
h1, h2, h3, p, dl, dd, ul, figure, pre { margin: 0; padding: 0; }
h1 { font-size: 34px; line-height: 1.15; letter-spacing: -0.015em; overflow-wrap: anywhere; }
h2 {
  margin: 56px 0 24px; padding-top: 14px; border-top: 1px solid var(--rule);
  font-size: 13px; font-weight: 600; color: var(--soft);
}
header + main > section:first-child h2 { margin-top: 36px; }
h3 { font-size: 17px; line-height: 1.3; font-weight: 600; }
h3 + dl, h3 + table { margin-top: 10px; }
code, pre { font: 13px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.brand { margin-bottom: 28px; font-weight: 650; }
.brand span { margin-left: 10px; font-weight: 400; color: var(--soft); }
.learner { margin-top: 6px; font-size: 19px; overflow-wrap: anywhere; }
.what, .note, figcaption p { color: var(--soft); }
.note { margin-top: 10px; font-size: 13.5px; }
.note code { overflow-wrap: anywhere; }
.nothing { margin-top: 8px; padding: 14px 16px; background: var(--wash); border-radius: 6px; }
.name, td, th, dd { unicode-bidi: isolate; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }

.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 40px 48px; }
.pair + .tiles, figure + .pair { margin-top: 36px; }
.pair > :only-child { grid-column: 1 / -1; }
.headline p + p { max-width: 30em; }
.big { font-size: 68px; line-height: 1; font-weight: 650; letter-spacing: -0.03em; }
.big.none { font-size: 34px; line-height: 1.2; letter-spacing: -0.015em; margin-bottom: 10px; }
.unit { margin: 6px 0 18px; font-size: 17px; }
.gain { color: var(--gain); }
.loss { color: var(--loss); }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 0 48px; }
.tiles div { padding: 10px 0 12px; border-top: 1px solid var(--rule); }
.tiles dt { color: var(--soft); font-size: 13.5px; }
.tiles dd { font-size: 22px; font-weight: 550; letter-spacing: -0.01em; }

figure { container-type: inline-size; min-width: 0; }
figcaption p { max-width: 62ch; margin-top: 2px; font-size: 14px; }
.legend {
  margin: 12px 0 10px; font-size: 13.5px;
}
.legend ul { display: flex; flex-wrap: wrap; gap: 2px 20px; list-style: none; min-width: 0; }
.legend li { display: flex; align-items: center; gap: 7px; min-width: 0; }
.legend .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.legend .value { min-width: 4ch; font-weight: 600; }
/* On the line of the y axis's title. */
.reads {
  height: 24px; margin: 15px 0 -39px; text-align: right; font-size: 12.5px; color: var(--soft);
}
.swatch { flex: none; }
.slider { display: block; width: 100%; height: 4px; margin: 0; opacity: 0; }
.slider:focus-visible { height: 20px; opacity: 1; accent-color: var(--accent); }
.chart { display: none; width: 100%; height: auto; overflow: visible; }
.chart.w360 { display: block; }
@container (min-width: 500px) {
  .has520 .w360 { display: none; }
  .has520 .w520 { display: block; }
}
@container (min-width: 580px) {
  .has640 .w360 { display: none; }
  .has640 .w640 { display: block; }
}
@container (min-width: 960px) {
  .has1040 .w640 { display: none; }
  .has1040 .w1040 { display: block; }
}

text { fill: var(--ink); font-size: 12px; }
.tick { fill: var(--soft); }
.axis { fill: var(--soft); font-size: 12.5px; }
.grid { stroke: var(--grid); }
.base { stroke: var(--floor); }
.warmup { fill: var(--ink); fill-opacity: 0.1; }
.cumulative, .windowed, .curve { fill: none; stroke-linecap: round; stroke-linejoin: round; }
.cumulative { stroke: var(--accent); stroke-width: 2.6; }
.windowed { stroke: var(--second); stroke-width: 1.4; }
.floor { stroke: var(--floor); stroke-width: 1.4; }
.dash0 { stroke-dasharray: 8 4; }
.dash1 { stroke-dasharray: 2 3; }
.dash2 { stroke-dasharray: 8 3 2 3; }
.dash3 { stroke-dasharray: 4 4; }
.end.cumulative, .end.windowed { stroke: none; font-weight: 600; }
.dot { fill: var(--paper); }
.end.cumulative { fill: var(--accent); }
.end.windowed { fill: var(--loss); }
.end.floor { stroke: none; fill: var(--soft); }
.budget { stroke: var(--ink); stroke-width: 1.4; stroke-dasharray: 5 4; }
.rule { stroke: var(--ink); stroke-width: 1; }
.cursor { visibility: hidden; pointer-events: none; }
.cursor.on { visibility: visible; }
.timeline { touch-action: pan-y; }
.area { stroke: var(--paper); stroke-width: 0.8; }
.hatch { stroke: var(--paper); stroke-width: 3; stroke-opacity: 0.65; }
.hue0 { fill: var(--blue); }
.hue1 { fill: var(--orange); }
.hue2 { fill: var(--green); }
.hue3 { fill: var(--pink); }
.hue4 { fill: var(--sky); }
.hue5 { fill: var(--red); }
.rest { fill: var(--rest); }
text.inside { font-weight: 600; fill: #111; }
text.inside.hue0 { fill: var(--onblue); }
text.inside.over {
  fill: var(--ink); stroke: var(--paper); stroke-width: 3.5px; stroke-linejoin: round;
  paint-order: stroke;
}
.track { stroke: var(--rule); stroke-width: 1; }
.reach { stroke-width: 2; }
.reach.own { stroke: var(--accent); }
.reach.other { stroke: var(--floor); }
.mark.own { fill: var(--accent); }
.mark.other { fill: var(--floor); }
.rule-name.own, .rule-value.own { font-weight: 650; }
.rule-name, .rule-value { font-size: 13px; }
.cell { font-size: 12px; }
.small { font-size: 10px; }
.rounded { font-size: 9px; }
.share { font-size: 11.5px; }
.offheat { fill: var(--offheat); }
.midheat { fill: #000; }
.onheat { fill: var(--onheat); }
.hit { stroke: var(--ink); stroke-opacity: 0.35; }
.ideal { stroke: var(--floor); stroke-width: 1.4; stroke-dasharray: 5 4; }
.curve { stroke: var(--accent); stroke-width: 2; }
.bin { fill: var(--accent); }
.few { fill: var(--paper); stroke: var(--accent); stroke-width: 1.6; }
.bar { fill: var(--sky); }
/* heat */

details { margin-top: 10px; font-size: 13.5px; }
summary { width: fit-content; color: var(--soft); cursor: pointer; }
.scroll { max-height: 340px; overflow: auto; margin-top: 8px; border: 1px solid var(--rule); }
.scroll table + table { margin-top: 16px; }
.scroll th, .scroll td { padding: 4px 12px; }
.scroll thead th { position: sticky; top: 0; background: var(--wash); }
table { border-collapse: collapse; width: 100%; }
caption { padding: 8px 12px 4px; text-align: left; color: var(--soft); }
th, td { padding: 7px 0 7px 16px; text-align: right; white-space: nowrap; }
th, td { vertical-align: baseline; }
th:first-child { padding-left: 0; text-align: left; font-weight: 400; }
.scroll th:first-child { padding-left: 12px; }
thead th, thead th:first-child { font-weight: 600; font-size: 13.5px; color: var(--soft); }
tbody tr { border-top: 1px solid var(--rule); }
.sum tbody tr:last-child > * { font-weight: 600; }
th small { display: block; white-space: normal; font-size: 12.5px; color: var(--soft); }
.columns { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 32px 48px; }
.facts div {
  display: grid; grid-template-columns: 11em minmax(0, 1fr); gap: 16px; padding: 5px 0;
  border-top: 1px solid var(--grid); font-size: 14px;
}
.facts dt { color: var(--soft); }
.facts dd { overflow-wrap: anywhere; }
table + .note + h3 { margin-top: 36px; }
pre span { white-space: nowrap; }
pre {
  margin-top: 10px; padding: 14px 16px; background: var(--wash); border-radius: 6px;
  white-space: pre-wrap; overflow-x: auto;
}

@media screen and (max-width: 860px) {
  body { padding: 24px 16px 48px; }
  .pair, .columns { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: repeat(2, 1fr); gap: 0 24px; }
  .big { font-size: 56px; }
  h1 { font-size: 28px; }
  h2 { margin: 40px 0 18px; }
}
@media screen and (max-width: 480px) {
  .facts div { grid-template-columns: 8.5em minmax(0, 1fr); gap: 12px; }
  th { white-space: normal; }
}
@media print {
  :root { color-scheme: light; /* light */ }
  @page { margin: 16mm; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  .pair, .columns { gap: 24px 32px; }
  h2 { margin: 28px 0 14px; }
  .facts div { grid-template-columns: 8.5em minmax(0, 1fr); }
  figure, table, .facts div, .headline, .tiles { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details, .slider, th small { display: none; }
  .area, .bar, rect, .bin { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

_HEAT = "".join(
    f".heat{i} {{ fill: rgb(var(--heat) / {0.03 + 0.097 * i:.3f}); }}\n" for i in range(11)
)

STYLE = (
    _SHEET.replace("/* light */", _LIGHT).replace("/* dark */", _DARK).replace("/* heat */", _HEAT)
)
