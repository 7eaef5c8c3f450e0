"use strict";
// Planning in the page: random chains of ten states are drawn, sampled, mixed with their prior, and planned with each
// discount factor. It is the experiment of the paper's Figure 2 with related tasks, whose prior is the true mean model.
// A model is an array with a row of S probabilities for each pair (s, a), in the order of s A + a; rewards have the same order.
const planning = (() => {
  const [S, A, ZEROS] = [10, 2, 5];
  const GAMMA_EVAL = 0.99;
  const GAMMAS = [...Array.from({ length: 20 }, (_, i) => i / 20), GAMMA_EVAL];
  const MOST_SAMPLES = 50;
  const RUNS = 100;
  const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const normalised = (row) => { const total = sum(row); return row.map((value) => value / total); };

  // A generator of numbers in [0, 1), from a seed: mulberry32.
  function generator(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  function normal(random) {
    return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  }

  // The logarithm of a Gamma variate, by Marsaglia and Tsang from shape + 1. Small shapes underflow without the logarithm.
  function logGamma(shape, random) {
    const d = shape + 2 / 3;
    for (;;) {
      const x = normal(random);
      const v = (1 + x / Math.sqrt(9 * d)) ** 3;
      if (v > 0 && Math.log(1 - random()) < x * x / 2 + d - d * v + d * Math.log(v)) {
        return Math.log(d * v) + Math.log(1 - random()) / shape;
      }
    }
  }

  // The mean model of tasks: in each row, five of ten states have probabilities proportional to uniform numbers.
  function chain(random) {
    return times(S * A, () => {
      const order = times(S, (s) => [random(), s]).sort((a, b) => a[0] - b[0]).map(([, s]) => s);
      const row = Array(S).fill(0);
      order.slice(ZEROS).forEach((s) => { row[s] = 1 - random(); });
      return normalised(row);
    });
  }

  // A task: Dirichlet rows around a mean model, in which the largest variance of a probability is sigma.
  function task(mean, sigma, random) {
    if (sigma === 0) return mean;
    const concentration = Math.max(...mean.flat().map((p) => p * (1 - p))) / sigma - 1;
    return mean.map((row) => {
      const logs = row.map((p) => (p > 0 ? logGamma(concentration * p, random) : -Infinity));
      const most = Math.max(...logs);
      return normalised(logs.map((each) => Math.exp(each - most)));
    });
  }

  // The state at a place in [0, 1) of a row's cumulative distribution.
  function stateAt(row, place) {
    let total = 0;
    const found = row.findIndex((p) => { total += p; return place < total; });
    return found >= 0 ? found : row.findLastIndex((p) => p > 0);
  }

  // The frequencies of next states in the first m of the samples of each pair.
  function frequencies(samples, m) {
    return samples.map((of) => {
      const row = Array(S).fill(0);
      of.slice(0, m).forEach((state) => { row[state] += 1 / m; });
      return row;
    });
  }

  const mixture = (one, other, weight) => one.map((row, i) => row.map((p, j) => weight * p + (1 - weight) * other[i][j]));

  // Solve a system of linear equations by elimination with partial pivoting; each row ends with its right-hand side.
  function solve(rows) {
    const n = rows.length;
    for (let i = 0; i < n; i += 1) {
      let pivot = i;
      for (let k = i + 1; k < n; k += 1) if (Math.abs(rows[k][i]) > Math.abs(rows[pivot][i])) pivot = k;
      [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
      for (let k = i + 1; k < n; k += 1) {
        const factor = rows[k][i] / rows[i][i];
        if (factor) for (let j = i; j <= n; j += 1) rows[k][j] -= factor * rows[i][j];
      }
    }
    const found = Array(n);
    for (let i = n - 1; i >= 0; i -= 1) {
      let left = rows[i][n];
      for (let j = i + 1; j < n; j += 1) left -= rows[i][j] * found[j];
      found[i] = left / rows[i][i];
    }
    return found;
  }

  // The values of a policy, which has an action for each state.
  function values(P, R, policy, gamma) {
    return solve(policy.map((a, s) => [...P[s * A + a].map((p, next) => (next === s) - gamma * p), R[s * A + a]]));
  }

  // The optimal policy of a model, by policy iteration from a given policy. An action changes only if another one is better.
  function plan(P, R, gamma, start = Array(S).fill(0)) {
    let policy = start;
    for (;;) {
      const V = values(P, R, policy, gamma);
      const Q = (s, a) => { let q = R[s * A + a]; const row = P[s * A + a]; for (let i = 0; i < S; i += 1) q += gamma * row[i] * V[i]; return q; };
      const better = policy.map((now, s) => times(A, (a) => a).reduce((best, a) => (Q(s, a) > Q(s, best) + 1e-10 ? a : best), now));
      if (better.every((a, s) => a === policy[s])) return policy;
      policy = better;
    }
  }

  // What no slider but sigma changes: tasks, their optimal values, and samples of them. A seed for each run keeps curves smooth.
  function draw(sigma, runs = RUNS) {
    return times(runs, (run) => {
      const random = generator(1000 + run);
      const prior = chain(random);
      const R = times(S * A, random);
      const places = times(S * A, () => times(MOST_SAMPLES, random));
      const P = task(prior, sigma, random);
      const samples = P.map((row, pair) => places[pair].map((place) => stateAt(row, place)));
      return { prior, R, P, samples, best: values(P, R, plan(P, R, GAMMA_EVAL), GAMMA_EVAL) };
    });
  }

  const estimate = (run, m, alpha) => mixture(run.prior, frequencies(run.samples, m), alpha);

  // The planning loss at each discount factor: how much less than optimal the plan earns in the state where that is most.
  function losses(run, P_hat) {
    let policy;
    return GAMMAS.map((gamma) => {
      policy = plan(P_hat, run.R, gamma, policy);
      const V = values(run.P, run.R, policy, GAMMA_EVAL);
      return Math.max(...V.map((value, s) => run.best[s] - value));
    });
  }

  // The model that planning at gamma_eval has to have for the plan of gamma (the page theory.md, section 8); u is uniform.
  function equivalent(P_hat, gamma) {
    return mixture(P_hat, times(S * A, () => Array(S).fill(1 / S)), gamma / GAMMA_EVAL);
  }

  // The weights of a task's samples, of the prior and of ignorance in what is planned with.
  function weights(alpha, gamma) {
    const known = gamma / GAMMA_EVAL;
    return [known * (1 - alpha), known * alpha, 1 - known];
  }

  function experiment(runs, m, alpha) {
    const models = runs.map((run) => estimate(run, m, alpha));
    const each = runs.map((run, i) => losses(run, models[i]));
    const mean = GAMMAS.map((_, i) => sum(each.map((of) => of[i])) / runs.length);
    const se = GAMMAS.map((_, i) => Math.sqrt(sum(each.map((of) => (of[i] - mean[i]) ** 2)) / (runs.length - 1) / runs.length));
    const smallest = Math.min(...mean);
    const tied = 1e-12 * Math.max(1, smallest, Math.max(...mean) / 100); // as in pomrl.science.gamma_star
    const best = mean.findLastIndex((loss) => loss <= smallest + tied);
    const agree = runs.filter((run, i) => String(plan(models[i], run.R, GAMMAS[best])) === String(plan(equivalent(models[i], GAMMAS[best]), run.R, GAMMA_EVAL)));
    return { mean, se, best, agreeing: agree.length };
  }

  return { S, A, GAMMA_EVAL, GAMMAS, RUNS, generator, logGamma, draw, estimate, losses, plan, values, equivalent, weights, experiment };
})();
