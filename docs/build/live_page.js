"use strict";
// The live figure of the first page: sliders, runs in small steps between frames, and the chart.
(() => {
  const [STEP, MOST_RUNS, SETTINGS] = [20, 1000, ["sigma", "m", "T", "S", "gamma"]];
  const element = (id) => document.getElementById(id);
  const { colors, labels, library } = JSON.parse(element("live-data").textContent);
  let current = 0; // the number of the last change; older computations stop

  const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;

  function settings() {
    const values = Object.fromEntries(SETTINGS.map((name) => [name, Number(element(`live-${name}`).value)]));
    SETTINGS.forEach((name) => { element(`live-${name}-shown`).textContent = values[name]; });
    return values;
  }

  function shownLearners() {
    return live.LEARNERS.filter((name) => document.querySelector(`#live-learners [name=${name}]`).checked);
  }

  // The library's lines apply to its own settings only.
  function libraryLines({ sigma, m, T, S, gamma }, shown) {
    const applies = m === 5 && S === 10 && gamma === 0.99;
    return applies ? library.filter((line) => line.sigma === sigma && shown.includes(line.learner)).map((line) => ({ ...line, mean: line.mean.slice(0, T), half: line.half.slice(0, T) })) : [];
  }

  function draw(chosen, losses, runs) {
    const shown = shownLearners();
    const of = (learner) => live.LEARNERS.indexOf(learner);
    const lines = shown.map((learner) => losses[of(learner)].map((values, t) => [t + 1, mean(values)]));
    const behind = libraryLines(chosen, shown);
    const top = Math.max(0.1, ...lines.flat().map(([, at]) => at), ...behind.flatMap((line) => line.mean.map((at, t) => at + line.half[t])));
    drawChart(element("live-chart"), {
      height: 320,
      x: { domain: [1, chosen.T], title: "task" },
      y: { domain: [0, top], title: "planning loss" },
      areas: behind.map((line) => ({ points: line.mean.map((at, t) => [t + 1, at - line.half[t], at + line.half[t]]), color: colors[of(line.learner)], opacity: 0.16 })),
      lines: lines.map((points, k) => ({ points, color: colors[of(shown[k])] })),
    });
    const numbers = shown.map((learner, k) => `${labels[of(learner)]} ${mean(lines[k].map(([, at]) => at)).toFixed(3)}`).join(", ");
    const sigmas = [...new Set(library.map((line) => line.sigma))].join(", ");
    const note = behind.length ? "Shaded: 95\u00a0% intervals of the Python library, 200 runs." : `Those of the Python library are shown at m = 5, S = 10, γ = 0.99 and σ = ${sigmas}.`;
    element("live-text").setAttribute("aria-live", runs < MOST_RUNS ? "off" : "polite"); // said once
    element("live-text").textContent = shown.length ? `Mean loss over tasks in ${runs} runs: ${numbers}. ${note}` : "No learner is selected.";
    element("live").dataset.runs = runs;
  }

  function renew() {
    current += 1;
    const mine = current;
    const chosen = settings();
    let losses;
    let runs = 0;
    const step = () => {
      if (mine !== current) return;
      losses = live.compute(chosen, runs, runs + STEP, losses);
      runs += STEP;
      draw(chosen, losses, runs);
      if (runs < MOST_RUNS) setTimeout(step);
    };
    step();
  }

  document.querySelectorAll("#live input").forEach((input) => input.addEventListener("input", () => requestAnimationFrame(renew)));
  window.addEventListener("resize", () => requestAnimationFrame(renew));
  renew();
})();
