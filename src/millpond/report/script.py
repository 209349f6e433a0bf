"""The page's only script: a read-out that follows the pointer or the arrow keys along a timeline.

Without it the page loses nothing but that: legends then hold the values of the last row, and the
tables hold all of them. The data is read from those tables, not kept a second time.
"""

SCRIPT = """
"use strict";
for (const figure of document.querySelectorAll("figure[data-timeline]")) {
  const points = [...figure.querySelectorAll("details tbody tr")]
    .map((tr) => [...tr.cells].map((cell) => cell.textContent));
  const at = points.map((cells) => Number(cells[0].replaceAll(",", "")));
  const reads = figure.querySelector("[data-at]");
  const values = [...figure.querySelectorAll("[data-column]")];
  const cursors = [...figure.querySelectorAll(".cursor")];
  const last = points.length - 1;

  const slider = document.createElement("input");
  slider.type = "range";
  slider.className = "slider";
  slider.max = last;
  slider.value = last;
  slider.setAttribute("aria-label", "Row to read: " + figure.querySelector("h3").textContent);
  [...figure.querySelectorAll(".chart")].at(-1).after(slider);

  const show = (index, pointing) => {
    const cells = points[index];
    reads.textContent = "values at row " + cells[0];
    for (const value of values) value.textContent = cells[value.dataset.column];
    slider.setAttribute("aria-valuetext", "row " + cells[0] + ": " + values.map((value) =>
      value.previousElementSibling.textContent + " " + value.textContent).join(", "));
    for (const { dataset, classList, style } of cursors) {
      const wide = dataset.right - dataset.left;
      style.transform = "translateX(" + (at[index] / dataset.rows) * wide + "px)";
      classList.toggle("on", pointing);
    }
  };
  const nearest = (row) => at.reduce(
    (best, r, i) => (Math.abs(r - row) < Math.abs(at[best] - row) ? i : best), 0);
  const rest = () => { slider.value = last; show(last, false); };

  for (const cursor of cursors) {
    const svg = cursor.ownerSVGElement;
    const { left, right, rows } = cursor.dataset;
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      const index = nearest(((x - left) / (right - left)) * rows);
      slider.value = index;
      show(index, true);
    });
    svg.addEventListener("pointerleave", rest);
  }
  slider.addEventListener("input", () => show(Number(slider.value), true));
  slider.addEventListener("blur", rest);
  show(last, false);
}
"""
