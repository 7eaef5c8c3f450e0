"use strict";
// The section of the page in which sliders choose what is planned.
(() => {
  const { GAMMAS, GAMMA_EVAL, RUNS, weights } = planning;
  const element = (id) => document.getElementById(id);
  const PARTS = [["its own samples", "#CC6677"], ["the prior", "#44AA99"], ["ignorance", "#999999"]];
  const value = (id) => Number(element(id).value);
  const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
  let drawn = {};

  function runs(sigma) {
    if (drawn.sigma !== sigma) drawn = { sigma, runs: planning.draw(sigma) };
    return drawn.runs;
  }

  function drawLoss({ mean, se, best }) {
    const gamma = GAMMAS[best];
    drawChart(element("explore-loss"), {
      height: 280,
      x: { domain: [0, 1], title: "γ, with which the model is planned" },
      // The end of the axis stays in place while sliders move, unless the curve would leave it.
      y: { domain: [0, Math.max(2, ...mean.map((at, i) => at + se[i]))], title: "Planning loss" },
      areas: [{ points: GAMMAS.map((g, i) => [g, mean[i] - se[i], mean[i] + se[i]]), color: "var(--link)", opacity: 0.18 }],
      lines: [{ points: GAMMAS.map((g, i) => [g, mean[i]]), color: "var(--link)" }],
      marks: [{ at: [gamma, mean[best]], shape: "circle", color: "var(--link)", title: `γ* = ${gamma}` }],
      rules: [gamma],
    });
  }

  // How the model that is planned with is made up, from the bottom: samples, prior, ignorance.
  function drawWeights(alpha, gamma) {
    const ends = (g) => { const [data, prior] = weights(alpha, g); return [0, data, data + prior, 1]; };
    drawChart(element("explore-weights"), {
      height: 200,
      x: { domain: [0, 1], title: "γ" },
      y: { domain: [0, 1], title: "Share of the model" },
      areas: PARTS.map(([, color], part) => ({ points: [0, GAMMA_EVAL].map((g) => [g, ends(g)[part], ends(g)[part + 1]]), color, opacity: 0.75 })),
      lines: [],
      rules: [gamma],
    });
  }

  function renew() {
    const [m, sigma, alpha] = [value("explore-m"), value("explore-sigma"), value("explore-alpha")];
    const found = planning.experiment(runs(sigma), m, alpha);
    const gamma = GAMMAS[found.best];
    ["m", "sigma", "alpha"].forEach((name) => { element(`explore-${name}-shown`).textContent = value(`explore-${name}`); });
    drawLoss(found);
    drawWeights(alpha, gamma);
    const parts = weights(alpha, gamma).map((share, i) => `${percent(share)} ${PARTS[i][0]}`).join(", ");
    element("explore-explained").textContent = `With m = ${m}, σ = ${sigma} and α = ${alpha} the best γ* is ${gamma}, with a loss of ${found.mean[found.best].toFixed(3)} ± ${found.se[found.best].toFixed(3)}; with γ = ${GAMMA_EVAL} it is ${found.mean.at(-1).toFixed(3)}. `
      + `To plan with γ* is to plan with ${GAMMA_EVAL} in a model of ${parts}: both plans are the same in ${found.agreeing} of ${RUNS} runs.`;
    element("explore").dataset.ready = "";
  }

  // Moves of a slider between two frames of the screen are one.
  let waiting = 0;
  function soon() {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(renew);
  }

  document.querySelectorAll("#explore input").forEach((slider) => slider.addEventListener("input", soon));
  window.addEventListener("resize", soon);
  renew();
})();
