"use strict";
// Line charts as SVG. A chart has one horizontal and one vertical axis, each with a `domain` of two numbers, a `title` and
// optionally `ticks`; its `areas`, `lines`, `marks` and `rules` are in the units of these axes. The SVG is hidden from
// assistive technology: the element around it has a label, and words or a table next to it show the same content.
const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "wedge"];

const drawChart = (() => {
  const MARGIN = { left: 46, right: 10, top: 10, bottom: 40 };
  const OUTLINES = {
    circle: "M-5.5,0A5.5,5.5 0 1 1 5.5,0A5.5,5.5 0 1 1 -5.5,0Z",
    square: "M-5,-5H5V5H-5Z",
    triangle: "M0,-6L6,5H-6Z",
    diamond: "M0,-7L6,0L0,7L-6,0Z",
    cross: "M-2,-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    wedge: "M0,6L6,-5H-6Z",
  };

  function element(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...children);
    return made;
  }

  // About `count` round numbers from one end of a domain to the other.
  function roundTicks([low, high], count) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
  }

  const path = (points, x, y) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(2)},${y(b).toFixed(2)}`).join("");

  function axes(chart, x, y, width, height) {
    const text = (content, attributes) => element("text", { fill: "currentColor", "font-size": 12, ...attributes }, content);
    const bottom = height - MARGIN.bottom;
    const ticks = { x: chart.x.ticks ?? roundTicks(chart.x.domain, width < 500 ? 5 : 10), y: chart.y.ticks ?? roundTicks(chart.y.domain, 5) };
    const grid = ticks.y.map((at) => element("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(at), y2: y(at), stroke: "currentColor", opacity: 0.15 }));
    const labels = [
      ...ticks.x.map((at) => text(String(at), { x: x(at), y: bottom + 16, "text-anchor": "middle" })),
      ...ticks.y.map((at) => text(String(at), { x: MARGIN.left - 6, y: y(at) + 4, "text-anchor": "end" })),
      text(chart.x.title, { x: (MARGIN.left + width) / 2, y: height - 6, "text-anchor": "middle" }),
      text(chart.y.title, { transform: `translate(12,${(MARGIN.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }),
    ];
    return element("g", { class: "axes" }, ...grid, ...labels);
  }

  function symbol(shape, attributes) {
    return element("path", { d: OUTLINES[shape], stroke: "currentColor", "stroke-width": 1.2, ...attributes });
  }

  function mark(each, x, y) {
    const shown = symbol(each.shape, { transform: `translate(${x(each.at[0]).toFixed(2)},${y(each.at[1]).toFixed(2)})`, fill: each.color });
    shown.append(element("title", {}, each.title));
    return shown;
  }

  // Replace the content of an element by a chart of its width.
  function draw(host, chart) {
    const width = Math.max(240, host.clientWidth);
    const { height } = chart;
    const scale = (domain, from, to) => (value) => from + ((value - domain[0]) / (domain[1] - domain[0])) * (to - from);
    const x = scale(chart.x.domain, MARGIN.left, width - MARGIN.right);
    const y = scale(chart.y.domain, height - MARGIN.bottom, MARGIN.top);
    const areas = (chart.areas ?? []).map((each) => {
      const outline = [...each.points.map(([a, low]) => [a, low]), ...each.points.map(([a, , high]) => [a, high]).reverse()];
      return element("path", { d: `${path(outline, x, y)}Z`, fill: each.color, opacity: each.opacity });
    });
    const lines = chart.lines.map((each) => element("path", { d: path(each.points, x, y), fill: "none", stroke: each.color, "stroke-width": 2.2, "stroke-dasharray": each.dashes ?? "" }));
    const rules = (chart.rules ?? []).map((at) => element("line", { x1: x(at), x2: x(at), y1: MARGIN.top, y2: height - MARGIN.bottom, stroke: "currentColor", "stroke-dasharray": "4 3" }));
    host.replaceChildren(element(
      "svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      element("g", { class: "mark-area" }, ...areas), axes(chart, x, y, width, height), element("g", { class: "mark-line" }, ...lines),
      element("g", { class: "mark-rule" }, ...rules), element("g", { class: "mark-point" }, ...(chart.marks ?? []).map((each) => mark(each, x, y))),
    ));
  }

  // A small picture of a mark's shape, for a legend.
  draw.key = (shape) => element("svg", { width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" }, symbol(shape, { fill: "none" }));
  return draw;
})();
