"use strict";
// Tables that sort by their headings, filters of rows and columns, and the chart of profiles.
(() => {
  const element = (id) => document.getElementById(id);
  const tables = [...document.querySelectorAll("table.sortable")];

  // The number at the start of a cell; cells without one come last.
  const number = (row, i) => Number.parseFloat(row.cells[i].textContent);
  const compare = (a, b, i, sign) => {
    const [x, y] = [number(a, i), number(b, i)];
    if (Number.isNaN(x) && Number.isNaN(y)) return sign * a.cells[i].textContent.localeCompare(b.cells[i].textContent);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return sign * (x - y);
  };

  function sort(table, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    const rows = [...table.tBodies[0].rows].sort((a, b) => compare(a, b, head.cellIndex, down ? -1 : 1));
    table.tBodies[0].append(...rows);
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  tables.forEach((table) => table.querySelectorAll("button.sort").forEach((button) =>
    button.addEventListener("click", () => sort(table, button.closest("th")))));

  function filter() {
    const words = element("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
    rows.forEach((row) => { row.hidden = !words.every((word) => row.cells[0].textContent.toLowerCase().includes(word)); });
    const group = element("group").value;
    document.querySelectorAll("[data-group]").forEach((cell) => { cell.hidden = group && cell.dataset.group !== group; });
    const ranked = [...tables[0].tBodies[0].rows];
    element("count").textContent = `${ranked.filter((row) => !row.hidden).length} of ${ranked.length} learners`;
  }

  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  document.querySelector("form").addEventListener("input", filter);
  filter();
})();

(async () => {
  const { thresholds, series } = await unpacked(document.getElementById("profiles-data").textContent).json();
  const host = document.getElementById("profiles");

  function draw() {
    const drawn = series.filter((each) => each.drawn);
    drawChart(host, {
      height: 360,
      x: { domain: [0, 200], title: "Loss, in per cent of the mean loss of no meta-learning" },
      y: { domain: [0, 1], title: "Share of runs with at most this loss" },
      areas: drawn.map(({ share: [, low, high], color }) => ({ points: thresholds.map((at, i) => [at, low[i], high[i]]), color, opacity: 0.15 })),
      lines: drawn.map(({ share: [mean], color, dashes }) => ({ points: thresholds.map((at, i) => [at, mean[i]]), color, dashes })),
    });
  }

  document.getElementById("drawn").append(...series.map((each) => {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: each.drawn });
    label.style.setProperty("--series", each.color);
    box.addEventListener("change", () => { each.drawn = box.checked; draw(); });
    label.append(box, Object.assign(document.createElement("span"), { textContent: each.label }));
    return label;
  }));
  window.addEventListener("resize", draw);
  draw();
  host.dataset.ready = "";
})();
