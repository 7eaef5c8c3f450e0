"use strict";
(async () => {
  const SECONDS = 3;
  const MOST = 500; // the largest number of listed rows; more would be slow
  const element = (id) => document.getElementById(id);
  const { table, losses, colors } = await unpacked(element("data").textContent).json();
  const settings = table.columns.slice(1, table.columns.indexOf("runs"));
  const columns = ["signature", "planning_loss", "runs", ...settings, ...table.columns.slice(settings.length + 2)];
  const rows = table.data.map((cells) => {
    const mean = losses[cells[0]]?.mean;
    const loss = mean ? mean.reduce((sum, each) => sum + each, 0) / mean.length : "";
    return Object.fromEntries([...table.columns.map((name, i) => [name, cells[i]]), ["planning_loss", loss]]);
  });

  // The choices of the reader are kept in the address, so that they survive when the page is loaded again.
  const state = { words: "", group: "", sort: "", down: false, selected: [], ...JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}") };
  const keep = () => history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(state))}`);

  const shown = (value) => (typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value));

  function isFound(row, word) {
    const [, name, sign, value] = word.match(/^([^<>=]+)(<=|>=|<|>|=)(.+)$/) ?? [];
    const key = columns.find((each) => each.toLowerCase() === name);
    if (!key) return columns.some((name) => String(row[name]).toLowerCase().includes(word));
    if (sign === "=") return String(row[key]).toLowerCase() === value;
    const [a, b] = [Number(row[key]), Number(value)];
    return row[key] !== "" && ({ "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b })[sign];
  }

  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));

  function listed() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => words.every((word) => isFound(row, word)));
    if (state.sort) found.sort((a, b) => (state.down ? -1 : 1) * compare(a[state.sort], b[state.sort]));
    if (state.group) found.sort((a, b) => compare(a[state.group], b[state.group]));
    return found;
  }

  const create = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  function heading(name) {
    const sign = state.sort === name ? (state.down ? " ▼" : " ▲") : "";
    const button = create("button", { type: "button", className: "sort", textContent: name + sign, id: `sort-${name}` });
    button.addEventListener("click", () => {
      Object.assign(state, { sort: name, down: state.sort === name && !state.down });
      renew();
      element(`sort-${name}`).focus();
    });
    const head = create("th", { scope: "col" }, button);
    if (sign) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    return head;
  }

  function line(row) {
    const name = row.signature;
    const place = state.selected.indexOf(name);
    const box = create("input", { type: "checkbox", checked: place >= 0, ariaLabel: `Draw ${name}`, id: `draw-${name}`, disabled: !losses[name] });
    if (place >= 0) box.style.setProperty("--series", colors[place % colors.length]);
    box.addEventListener("change", () => {
      state.selected = box.checked ? [...state.selected, name] : state.selected.filter((other) => other !== name);
      renew();
      element(`draw-${name}`).focus();
    });
    const cells = columns.map((key) => create("td", { textContent: shown(row[key]), title: String(row[key]), className: typeof row[key] === "number" ? "number" : "" }));
    return create("tr", {}, create("td", {}, box), ...cells);
  }

  function group(members) {
    const means = members.map((row) => row.planning_loss).filter((loss) => loss !== "");
    const mean = means.length ? `, mean loss ${shown(means.reduce((sum, each) => sum + each, 0) / means.length)}` : "";
    const title = `${state.group} = ${shown(members[0][state.group])}: ${members.length}${mean}`;
    return create("tr", {}, create("th", { scope: "rowgroup", colSpan: columns.length + 1, textContent: title }));
  }

  function renew() {
    keep();
    const found = listed();
    const body = create("tbody");
    found.slice(0, MOST).forEach((row, i) => {
      if (state.group && (!i || row[state.group] !== found[i - 1][state.group])) body.append(group(found.filter((other) => other[state.group] === row[state.group])));
      body.append(line(row));
    });
    const head = create("thead", {}, create("tr", {}, create("td", { textContent: "draw" }), ...columns.map(heading)));
    element("experiments").replaceChildren(head, body);
    const cut = found.length > MOST ? `; the first ${MOST} are listed` : "";
    element("count").textContent = `${found.length} of ${rows.length} experiments${cut}.`;
    draw();
  }

  const row = (name) => rows.find((each) => each.signature === name);

  // The label of a drawn experiment: the settings in which experiments differ.
  function key(each, i, drawn) {
    const differs = (name) => drawn.some((other) => other[name] !== drawn[0][name]);
    const differing = [...settings, "code"].filter((name) => differs(name) && !(name.includes(".") && differs(name.split(".")[0])));
    const values = differing.map((name) => `${name} = ${shown(row(each.name)[name])}`).join(", ");
    const entry = create("li", {}, drawChart.key(SHAPES[i % SHAPES.length]), ` ${each.name}${values && ": "}${values}`);
    entry.style.setProperty("color", `color-mix(in oklab, currentColor 55%, ${each.color})`);
    return entry;
  }

  function draw() {
    const drawn = state.selected.map((name, i) => ({ name, color: colors[i % colors.length], ...losses[name] })).filter((each) => each.mean);
    const chart = element("losses");
    chart.hidden = element("key").hidden = !drawn.length;
    if (!drawn.length) return;
    element("key").replaceChildren(...drawn.map((each, i) => key(each, i, drawn.map(({ name }) => row(name)))));
    const ends = (each) => each.mean.map((mean, t) => [t + 1, mean - (each.half[t] ?? 0), mean + (each.half[t] ?? 0)]);
    const all = drawn.flatMap(ends);
    const tasks = Math.max(...all.map(([t]) => t));
    const [low, high] = [Math.min(0, ...all.map(([, lower]) => lower)), Math.max(1e-9, ...all.map(([, , upper]) => upper))];
    drawChart(chart, {
      height: 320,
      x: { domain: [0.5, tasks + 0.5], title: "Task t" },
      y: { domain: [low, 1.05 * high], title: "Planning loss" },
      areas: drawn.map((each) => ({ points: ends(each), color: each.color, opacity: 0.15 })),
      lines: drawn.map((each) => ({ points: each.mean.map((mean, t) => [t + 1, mean]), color: each.color })),
      marks: drawn.flatMap((each, i) => each.mean.map((mean, t) => ({ at: [t + 1, mean], shape: SHAPES[i % SHAPES.length], color: each.color, title: `${each.name}, task ${t + 1}: ${shown(mean)}` }))),
    });
    chart.setAttribute("aria-label", `Planning loss in each task of ${drawn.map((each) => each.name).join(", ")}; means over tasks are in the column planning_loss.`);
  }

  element("group").replaceChildren(new Option("nothing", ""), ...table.columns.slice(1).map((name) => new Option(name, name)));
  Object.assign(element("group"), { value: state.group });
  element("words").value = state.words;
  element("words").addEventListener("input", () => { state.words = element("words").value; renew(); });
  element("group").addEventListener("change", () => { state.group = element("group").value; renew(); });
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("resize", draw);
  renew();
  element("experiments").dataset.ready = "";

  // The page is not loaded again while somebody types.
  const follow = () => { if (document.hidden || document.activeElement === element("words")) setTimeout(follow, 1000 * SECONDS); else location.reload(); };
  if (element("data").dataset.live === "1") setTimeout(follow, 1000 * SECONDS);
})();
