"use strict";
(async () => {
  const data = await unpacked(document.getElementById("curves-data").textContent).json();
  const inUnits = (rows) => rows?.map((row) => row.map((whole) => whole * data.unit));
  Object.values(data.curves).forEach((curve) => Object.assign(curve, { mean: inUnits(curve.mean), half: inUnits(curve.half) }));
  const element = (id) => document.getElementById(id);
  const KEYS = ["sweep", "sigma", "m", "T", "S"];
  const MINIMUM = "Minimum, at γ*";
  const MARKS = [MINIMUM, ...data.schedules.filter((label) => shown(label))];

  function shown(label) {
    return Object.values(data.curves).some((curve) => label in curve.choices);
  }

  // The state of the controls: a value for each key, and the drawn methods.
  const start = data.series.find((each) => each.T > 1) ?? data.series[0];
  const chosen = Object.fromEntries(KEYS.map((key) => [key, start[key]]));
  let wanted = new Set();

  const matching = () => data.series.filter((each) => KEYS.every((key) => each[key] === chosen[key]));
  const drawn = () => matching().filter((each) => wanted.has(each.method));
  const task = () => Number(element("task").value);
  const round = (value) => value.toFixed(3);

  // Set a key to a value. The other keys take the values of the experiment that keeps most of their present values.
  function choose(key, value) {
    const agreement = (each) => KEYS.reduce((sum, other) => sum + (each[other] === chosen[other]) * (other === "sweep" ? 3 : 1), 0);
    const candidates = data.series.filter((each) => each[key] === value);
    const best = candidates.reduce((a, b) => (agreement(b) > agreement(a) ? b : a));
    KEYS.forEach((other) => { chosen[other] = best[other]; });
  }

  // Numbers come before words, which describe the similarity if it is no number.
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

  // A series is dashed if it would hide an equal, earlier series in this task.
  function lines(t) {
    return drawn().map((each, i, all) => {
      const { gammas, mean } = data.curves[each.curve];
      const points = gammas.map((gamma, j) => [gamma, mean[t - 1][j]]);
      return { points, color: each.color, dashes: all.slice(0, i).some((other) => same(other, each, t)) ? "7 7" : "" };
    });
  }

  const same = (one, other, t) => String(data.curves[one.curve].mean[t - 1]) === String(data.curves[other.curve].mean[t - 1]);

  function bands(t) {
    return drawn().map((each) => {
      const { gammas, mean, half } = data.curves[each.curve];
      const width = (i) => (half ? half[t - 1][i] : 0);
      const points = gammas.map((gamma, i) => [gamma, Math.max(0, mean[t - 1][i] - width(i)), mean[t - 1][i] + width(i)]);
      return { points, color: each.color, opacity: 0.15 };
    });
  }

  // The marks in a task: the minimum of each series, and the choices of schedules.
  function marks(t) {
    return drawn().flatMap((each) => {
      const curve = data.curves[each.curve];
      const best = curve.best[t - 1];
      const found = { mark: MINIMUM, gamma: curve.gammas[best], mean: curve.mean[t - 1][best] };
      const choices = Object.entries(curve.choices).map(([mark, at]) => ({ mark, gamma: at[t - 1][0], mean: at[t - 1][1] }));
      return [found, ...choices].map((mark) => ({
        ...mark, task: t, method: each.method, color: each.color, shape: SHAPES[MARKS.indexOf(mark.mark) % SHAPES.length],
        title: `${each.method}. ${mark.mark}: γ = ${Number(mark.gamma.toFixed(3))} in task ${t}, loss ${round(mark.mean)}`,
      }));
    });
  }

  const allTasks = () => Array.from({ length: chosen.T }, (_, i) => i + 1);

  function drawLoss() {
    drawChart(element("loss"), {
      height: 360,
      x: { domain: [0, 1], title: "Discount factor γ of planning" },
      y: { domain: [0, 1.05 * highest()], title: "Planning loss" },
      areas: bands(task()), lines: lines(task()), marks: marks(task()).map((each) => ({ ...each, at: [each.gamma, each.mean] })),
    });
  }

  // The best and the chosen discount factors against the task.
  function drawHorizon() {
    const history = allTasks().flatMap(marks);
    const best = (each) => history.filter((mark) => mark.mark === MINIMUM && mark.method === each.method);
    drawChart(element("horizon"), {
      height: 190,
      x: { domain: [0.5, chosen.T + 0.5], title: "Task t", ticks: allTasks().filter((t) => t % Math.ceil(chosen.T / 15) === 0 || t === 1) },
      y: { domain: [0, 1], title: "Chosen γ" },
      lines: drawn().map((each) => ({ points: best(each).map((mark) => [mark.task, mark.gamma]), color: each.color })),
      marks: history.map((mark) => ({ ...mark, at: [mark.task, mark.gamma] })), rules: [task()],
    });
  }

  function fillKey() {
    const entries = MARKS.map((name, i) => {
      const entry = document.createElement("li");
      entry.append(drawChart.key(SHAPES[i % SHAPES.length]), ` ${name}`);
      return entry;
    });
    element("key").replaceChildren(...entries);
  }

  // One range for all tasks, so that the axes stay in place when the task changes.
  const highest = () => Math.max(0.01, ...allTasks().flatMap((t) => bands(t).flatMap((band) => band.points.map(([, , upper]) => upper))));

  function describe() {
    const t = task();
    const runs = [...new Set(drawn().map((each) => each.runs))].join(" or ");
    const problem = ["σ", "m", "T", "S"].map((name) => `${name}\u00a0=\u00a0${chosen[name === "σ" ? "sigma" : name]}`).join(", ");
    const setting = `Sweep ${chosen.sweep.replaceAll("_", " ")}: ${problem}`;
    element("task-shown").textContent = t;
    element("explained").textContent = drawn().length ? `${setting}. Task ${t}, means over ${runs} runs. ${coinciding(t)}` : `${setting}. Choose a method.`;
    element("loss").setAttribute("aria-label", `Planning loss against γ in task ${t}. ${setting}. The values are in the table below.`);
    element("horizon").setAttribute("aria-label", `γ* and the choices of schedules in all tasks. ${setting}.`);
    const names = data.schedules.filter((name) => drawn().some((each) => name in data.curves[each.curve].choices));
    const rows = drawn().map((each) => {
      const { gammas, mean, best, choices } = data.curves[each.curve];
      const at = best[t - 1];
      const chosenBy = names.map((name) => (name in choices ? Number(choices[name][t - 1][0].toFixed(3)) : "–"));
      return [each.method, gammas[at], round(mean[t - 1][at]), round(mean[t - 1].at(-1)), ...chosenBy];
    });
    fillTable(["Method", "γ*", "Loss at γ*", "Loss at γ_eval", ...names.map((name) => `γ: ${name}`)], rows);
  }

  // A sentence for each series that equals an earlier one in this task.
  function coinciding(t) {
    const pairs = drawn().map((each, i, all) => [each, all.slice(0, i).find((other) => same(other, each, t))]);
    return pairs.filter(([, other]) => other).map(([each, other]) => `${each.method} and ${other.method} are equal in this task.`).join(" ");
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

  function redraw() {
    describe();
    drawLoss();
    drawHorizon();
  }

  function renew() {
    KEYS.forEach((key) => { element(`choose-${key}`).value = chosen[key]; });
    const slider = element("task");
    slider.max = chosen.T;
    slider.disabled = chosen.T === 1;
    fillMethods();
    redraw();
  }

  fillSelects();
  fillKey();
  element("task").addEventListener("input", redraw);
  window.addEventListener("resize", redraw);
  // Begin with the last task: in the first, most methods coincide.
  Object.assign(element("task"), { max: chosen.T, value: chosen.T });
  renew();
  element("explorer").dataset.ready = "";
})();
