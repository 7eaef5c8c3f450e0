"use strict";
// Figure 5 in the page: the losses of POMRL, ada-POMRL and three others over T tasks (Algorithms 1 and 2, as repaired).
// A model is a typed array with a row of S probabilities for each pair (s, a), in the order of s A + a.
// It needs planning.js. tests/site/test_live_figure.py compares the mean losses with those of the Python library.
const live = (() => {
  const { A, GAMMA_EVAL, generator, logGamma } = planning;
  const [SEED, FIRST_VARIANCE] = [20261129, 0.25];
  const LEARNERS = ["oracle", "without_meta", "pomrl", "ada_pomrl", "aggregating"];

  // Set the row at `offset` to weights divided by their sum.
  function setRow(model, offset, weights) {
    let total = 0;
    for (const weight of weights) total += weight;
    weights.forEach((weight, next) => { model[offset + next] = weight / total; });
  }

  // The mean model: in each row, half of the states have probabilities proportional to uniform numbers.
  function chain(S, random) {
    const model = new Float64Array(S * A * S);
    for (let pair = 0; pair < S * A; pair += 1) {
      const order = Array.from({ length: S }, (_, next) => [random(), next]).sort((a, b) => a[0] - b[0]);
      const weights = new Float64Array(S);
      order.slice(Math.floor(S / 2)).forEach(([, next]) => { weights[next] = 1 - random(); });
      setRow(model, pair * S, weights);
    }
    return model;
  }

  // Draw a task: Dirichlet rows around the mean model, in which the largest variance of a probability is sigma.
  function drawTask(mean, S, concentration, random, task) {
    const weights = new Float64Array(S);
    for (let offset = 0; offset < mean.length; offset += S) {
      let most = -Infinity;
      for (let next = 0; next < S; next += 1) {
        const p = mean[offset + next];
        weights[next] = p > 0 ? logGamma(concentration * p, random) : -Infinity;
        most = Math.max(most, weights[next]);
      }
      setRow(task, offset, weights.map((log) => Math.exp(log - most)));
    }
  }

  // Draw the frequencies of next states in m transitions of each pair.
  function drawFrequencies(task, S, m, random, frequencies) {
    frequencies.fill(0);
    for (let offset = 0; offset < task.length; offset += S) {
      for (let i = 0; i < m; i += 1) {
        let place = random();
        let next = 0;
        while (next < S - 1 && (place -= task[offset + next]) >= 0) next += 1;
        frequencies[offset + next] += 1 / m;
      }
    }
  }

  // The values of a policy, by elimination. I - gamma P is diagonally dominant, so no pivots are needed.
  function values(P, R, policy, S, gamma, V) {
    const width = S + 1;
    const rows = new Float64Array(S * width);
    for (let s = 0; s < S; s += 1) {
      const pair = s * A + policy[s];
      for (let next = 0; next < S; next += 1) rows[s * width + next] = (s === next ? 1 : 0) - gamma * P[pair * S + next];
      rows[s * width + S] = R[pair];
    }
    for (let i = 0; i < S; i += 1) {
      for (let k = i + 1; k < S; k += 1) {
        const factor = rows[k * width + i] / rows[i * width + i];
        if (factor) for (let j = i; j <= S; j += 1) rows[k * width + j] -= factor * rows[i * width + j];
      }
    }
    for (let i = S - 1; i >= 0; i -= 1) {
      let left = rows[i * width + S];
      for (let j = i + 1; j < S; j += 1) left -= rows[i * width + j] * V[j];
      V[i] = left / rows[i * width + i];
    }
    return V;
  }

  // The optimal policy, by policy iteration from a given policy. An action changes only if another one is better.
  function plan(P, R, S, gamma, policy) {
    const V = new Float64Array(S);
    for (let changed = true; changed;) {
      values(P, R, policy, S, gamma, V);
      changed = false;
      for (let s = 0; s < S; s += 1) {
        const Q = [0, 1].map((a) => {
          let q = R[s * A + a];
          for (let next = 0, offset = (s * A + a) * S; next < S; next += 1) q += gamma * P[offset + next] * V[next];
          return q;
        });
        if (Q[1 - policy[s]] > Q[policy[s]] + 1e-10) { policy[s] = 1 - policy[s]; changed = true; }
      }
    }
    return policy;
  }

  // The largest sample variance of earlier tasks, from their sums of squares; tasks 1 and 2 have a start value.
  function similarity(squares, t) {
    return t > 2 ? Math.max(...squares) / (t - 2) : FIRST_VARIANCE;
  }

  // Add the losses of one run to `losses`, by learner and task.
  function run({ S, sigma, m, T, gamma }, index, losses) {
    const random = generator(SEED + index);
    const mean = chain(S, random);
    const R = Float64Array.from({ length: S * A }, random);
    const concentration = Math.max(...mean.map((p) => p * (1 - p))) / sigma - 1;
    const [task, frequencies, average, squares, estimate] = Array.from({ length: 5 }, () => new Float64Array(mean.length));
    const [best, earned] = [new Float64Array(S), new Float64Array(S)];
    const policies = Array.from({ length: LEARNERS.length + 1 }, () => new Uint8Array(S));
    for (let t = 1; t <= T; t += 1) {
      const variance = similarity(squares, t);
      drawTask(mean, S, concentration, random, task);
      drawFrequencies(task, S, m, random, frequencies);
      frequencies.forEach((frequency, i) => { // Welford
        const difference = frequency - average[i];
        average[i] += difference / t;
        squares[i] += difference * (frequency - average[i]);
      });
      values(task, R, plan(task, R, S, GAMMA_EVAL, policies[LEARNERS.length]), S, GAMMA_EVAL, best);
      const weight = (similarity) => 1 / (similarity * (1 + 1 / t) * m + 1);
      const weights = [weight(sigma), 0, t > 1 ? weight(sigma) : 0, t > 1 ? weight(variance) : 0, 1];
      LEARNERS.forEach((learner, k) => {
        const prior = learner === "oracle" ? mean : average;
        for (let i = 0; i < mean.length; i += 1) estimate[i] = weights[k] * prior[i] + (1 - weights[k]) * frequencies[i];
        values(task, R, plan(estimate, R, S, gamma, policies[k]), S, GAMMA_EVAL, earned);
        losses[k][t - 1].push(best.reduce((most, value, s) => Math.max(most, value - earned[s]), 0));
      });
    }
  }

  // Compute the runs [from, to), and add their losses to `losses`.
  function compute(settings, from, to, losses = LEARNERS.map(() => Array.from({ length: settings.T }, () => []))) {
    for (let index = from; index < to; index += 1) run(settings, index, losses);
    return losses;
  }

  return { LEARNERS, compute, similarity };
})();
