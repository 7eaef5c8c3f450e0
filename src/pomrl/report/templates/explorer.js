"use strict";
(async () => {
  const data = JSON.parse(document.getElementById("curves-data").textContent);
  const element = (id) => document.getElementById(id);
  const KEYS = ["sweep", "sigma", "m", "T", "S"];
  const MINIMUM = "Minimum, at γ*";
  const MARKS = [MINIMUM, ...Object.values(data.schedules).filter((label) => shown(label))];
  const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"];
  const FIRST_SHOWN = ["ada-POMRL", "Without meta-learning"];

  function shown(label) {
    const name = Object.keys(data.schedules).find((each) => data.schedules[each] === label);
    return Object.values(data.curves).some((curve) => name in curve.choices);
  }

  // The state of the controls: a value for each key, and the methods that are drawn.
  const start = data.series.find((each) => each.sweep === "task_similarity") ?? data.series[0];
  const chosen = Object.fromEntries(KEYS.map((key) => [key, start[key]]));
  let wanted = new Set(FIRST_SHOWN);
  let charts = [];

  const matching = () => data.series.filter((each) => KEYS.every((key) => each[key] === chosen[key]));
  const drawn = () => matching().filter((each) => wanted.has(each.method));
  const task = () => Number(element("task").value);
  const round = (value) => value.toFixed(3);

  // Set a key to a value. The other keys become those of the experiment that agrees with most of their present values.
  function choose(key, value) {
    const agreement = (each) => KEYS.reduce((sum, other) => sum + (each[other] === chosen[other]) * (other === "sweep" ? 3 : 1), 0);
    const candidates = data.series.filter((each) => each[key] === value);
    const best = candidates.reduce((a, b) => (agreement(b) > agreement(a) ? b : a));
    KEYS.forEach((other) => { chosen[other] = best[other]; });
  }

  // The order of numbers before words, which name the similarity where it is no number.
  function numbersFirst(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : 1;
  }

  function fillSelects() {
    for (const key of KEYS) {
      const values = [...new Set(data.series.map((each) => each[key]))];
      if (key !== "sweep") values.sort(numbersFirst);
      const select = element(`choose-${key}`);
      select.replaceChildren(...values.map((value) => new Option(key === "sweep" ? value.replaceAll("_", " ") : value, value)));
      select.addEventListener("change", () => {
        choose(key, values.find((value) => String(value) === select.value));
        renew();
      });
    }
  }

  function fillMethods() {
    const methods = matching();
    if (!drawn().length) wanted = new Set(methods.slice(0, 4).map((each) => each.method));
    const labels = methods.map((each) => {
      const label = document.createElement("label");
      const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: wanted.has(each.method) });
      label.style.setProperty("--series", each.color);
      box.addEventListener("change", () => {
        if (box.checked) wanted.add(each.method); else wanted.delete(each.method);
        redraw();
      });
      const name = Object.assign(document.createElement("span"), { textContent: each.method });
      label.append(box, name);
      return label;
    });
    element("methods").replaceChildren(element("methods").querySelector("legend"), ...labels);
  }

  function points(t) {
    return drawn().flatMap((each) => {
      const curve = data.curves[each.curve];
      return curve.gammas.map((gamma, i) => {
        const mean = curve.mean[t - 1][i];
        const width = curve.se ? curve.se[t - 1][i] : 0;
        return { method: each.method, color: each.color, gamma, mean, lower: Math.max(0, mean - width), upper: mean + width };
      });
    });
  }

  function marks(t) {
    return drawn().flatMap((each) => {
      const curve = data.curves[each.curve];
      const best = curve.best[t - 1];
      const found = { mark: MINIMUM, gamma: curve.gammas[best], mean: curve.mean[t - 1][best] };
      const choices = Object.entries(curve.choices).map(([name, at]) => ({ mark: data.schedules[name] ?? name, gamma: at[t - 1][0], mean: at[t - 1][1] }));
      return [found, ...choices].map((mark) => ({ ...mark, task: t, method: each.method, color: each.color }));
    });
  }

  const allTasks = () => Array.from({ length: chosen.T }, (_, i) => i + 1);

  const CONFIG = {
    background: "transparent",
    font: "system-ui, sans-serif",
    view: { stroke: null },
    aria: false,
    axis: { labelColor: "currentColor", titleColor: "currentColor", gridColor: "currentColor", gridOpacity: 0.12, domainColor: "currentColor", domainOpacity: 0.4, tickColor: "currentColor", tickOpacity: 0.4, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 },
    legend: { labelColor: "currentColor", labelFontSize: 12, symbolStrokeColor: "currentColor", symbolFillColor: "transparent", symbolStrokeWidth: 1.5, symbolSize: 90 },
  };
  const COLOR = { field: "color", type: "nominal", scale: null };
  const LINES = { field: "method", type: "nominal" };
  const TOOLTIP = (titles) => Object.entries(titles).map(([field, title]) => ({ field, title, ...(["method", "mark"].includes(field) ? {} : { format: ".4~f" }) }));
  const SHAPE = { field: "mark", type: "nominal", scale: { domain: MARKS, range: SHAPES.slice(0, MARKS.length) } };

  const lossChart = () => ({
    width: "container", height: 330, autosize: { type: "fit-x", contains: "padding" }, config: CONFIG,
    datasets: { points: points(task()), marks: marks(task()) },
    encoding: {
      x: { field: "gamma", type: "quantitative", title: "γ, with which the model is planned", scale: { domain: [0, 1] }, axis: { format: "~g", tickCount: 10 } },
      y: { type: "quantitative", title: "Planning loss", scale: { domain: [0, highest()], nice: true } },
    },
    layer: [
      { data: { name: "points" }, mark: { type: "area", opacity: 0.15 }, encoding: { y: { field: "lower" }, y2: { field: "upper" }, color: COLOR, detail: LINES } },
      { data: { name: "points" }, mark: { type: "line", strokeWidth: 2 }, encoding: { y: { field: "mean" }, color: COLOR, detail: LINES } },
      { data: { name: "points" }, mark: { type: "point", filled: true, size: 22, opacity: 1 }, encoding: { y: { field: "mean" }, color: COLOR, tooltip: TOOLTIP({ method: "Method", gamma: "γ", mean: "Loss", lower: "less one s.e.", upper: "plus one s.e." }) } },
      { data: { name: "marks" }, mark: { type: "point", filled: true, size: 130, opacity: 1, stroke: "currentColor", strokeWidth: 1.5 }, encoding: { y: { field: "mean" }, fill: COLOR, shape: { ...SHAPE, legend: { title: null, orient: "bottom", columns: window.innerWidth < 500 ? 1 : 4 } }, tooltip: TOOLTIP({ mark: "Choice", method: "Method", gamma: "γ", mean: "Loss" }) } },
    ],
  });

  // The best discount factor and those that schedules choose, against the task.
  const horizonChart = () => ({
    width: "container", height: 130, autosize: { type: "fit-x", contains: "padding" }, config: CONFIG,
    datasets: { history: allTasks().flatMap(marks), now: [{ task: task() }] },
    encoding: { x: { field: "task", type: "quantitative", title: "Task t", scale: { domain: [0.5, chosen.T + 0.5], nice: false }, axis: { tickMinStep: 1, grid: false } } },
    layer: [
      { data: { name: "now" }, mark: { type: "rule", strokeWidth: 14, opacity: 0.12, color: "currentColor" } },
      { data: { name: "history" }, transform: [{ filter: { field: "mark", equal: MINIMUM } }], mark: { type: "line", strokeWidth: 1.5, opacity: 0.8 }, encoding: { y: { field: "gamma", type: "quantitative", title: "γ chosen", scale: { domain: [0, 1] } }, color: COLOR, detail: LINES } },
      { data: { name: "history" }, mark: { type: "point", filled: true, size: 34, opacity: 0.9 }, encoding: { y: { field: "gamma", type: "quantitative" }, color: COLOR, shape: { ...SHAPE, legend: null }, tooltip: TOOLTIP({ mark: "Choice", method: "Method", task: "Task", gamma: "γ", mean: "Loss" }) } },
    ],
  });

  // One range for all tasks, so that the axes stay in place when the task changes.
  const highest = () => Math.max(0.01, ...allTasks().flatMap((t) => points(t).map((point) => point.upper)));

  function describe() {
    const t = task();
    const runs = [...new Set(drawn().map((each) => each.runs))].join(" or ");
    const problem = ["σ", "m", "T", "S"].map((name) => `${name}\u00a0=\u00a0${chosen[name === "σ" ? "sigma" : name]}`).join(", ");
    const setting = `Sweep ${chosen.sweep.replaceAll("_", " ")}: ${problem}`;
    element("task-shown").textContent = t;
    element("explained").textContent = drawn().length ? `${setting}. Task ${t}, means over ${runs} runs.` : `${setting}. Choose a method.`;
    element("loss").setAttribute("aria-label", `Planning loss against γ in task ${t}. ${setting}. The values are in the table below.`);
    element("horizon").setAttribute("aria-label", `γ* and the choices of schedules in all tasks. ${setting}.`);
    const names = Object.keys(data.schedules).filter((name) => drawn().some((each) => name in data.curves[each.curve].choices));
    const rows = drawn().map((each) => {
      const { gammas, mean, best, choices } = data.curves[each.curve];
      const at = best[t - 1];
      const chosenBy = names.map((name) => (name in choices ? Number(choices[name][t - 1][0].toFixed(3)) : "–"));
      return [each.method, gammas[at], round(mean[t - 1][at]), round(mean[t - 1].at(-1)), ...chosenBy];
    });
    fillTable(["Method", "γ*", "Loss at γ*", "Loss at γ_eval", ...names.map((name) => `γ: ${data.schedules[name]}`)], rows);
  }

  function fillTable(heads, rows) {
    const row = (cells, tag) => {
      const line = document.createElement("tr");
      line.append(...cells.map((text, i) => {
        const cell = Object.assign(document.createElement(i ? tag : "th"), { textContent: text });
        if (i && tag === "td") cell.className = "number"; else cell.scope = tag === "td" ? "row" : "col";
        return cell;
      }));
      return line;
    };
    const [head, body] = [document.createElement("thead"), document.createElement("tbody")];
    head.append(row(heads, "th"));
    body.append(...rows.map((cells) => row(cells, "td")));
    element("values").replaceChildren(head, body);
  }

  async function redraw() {
    describe();
    charts.forEach((chart) => chart.finalize());
    const options = { actions: false, renderer: "svg", mode: "vega-lite" };
    charts = await Promise.all([vegaEmbed("#loss", lossChart(), options), vegaEmbed("#horizon", horizonChart(), options)]);
  }

  function move() {
    describe();
    const t = task();
    charts[0].view.data("points", points(t)).data("marks", marks(t)).run();
    charts[1].view.data("now", [{ task: t }]).run();
  }

  function renew() {
    KEYS.forEach((key) => { element(`choose-${key}`).value = chosen[key]; });
    const slider = element("task");
    slider.max = chosen.T;
    slider.disabled = chosen.T === 1;
    fillMethods();
    return redraw();
  }

  fillSelects();
  element("task").addEventListener("input", move);
  // Begin with the last task: in the first, most methods coincide.
  Object.assign(element("task"), { max: chosen.T, value: chosen.T });
  await renew();
  element("explorer").dataset.ready = "";
})();
