// A chain of states in which ucls-plan or ucls-exact learns, with one feature for each state and action. The attribute
// data-algorithm of the element says which. tests/test_site.py compares these numbers with the batch formulas.
"use strict";

(() => {
  const STATES = 6, ACTIONS = 2, SIZE = STATES * ACTIONS;
  const GAMMA = 0.9;
  const NAMES = ["left", "right"];

  function generator(seed) { // mulberry32: the same walk for everybody
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  // UCLS-Exact: its recursions, without a trace (lambda = 0).
  class Exact {
    constructor() {
      this.priorVisits = 1;
      this.noiseScale = 1;
      const square = (diagonal) =>
        Array.from({ length: SIZE }, (_, i) => Array.from({ length: SIZE }, (_, j) => (i === j ? diagonal : 0)));
      this.inverse = square(1 / this.priorVisits);
      this.C = square(0);
      this.w = Array(SIZE).fill(0);
      this.h = Array(SIZE).fill(0);
      this.visits = Array(SIZE).fill(0);
      this.transitions = [];
    }

    mean(i) { return this.w[i]; }
    prior(i, v0) { return v0 * Math.min(1, Math.max(0, 1 - this.h[i])); }
    noise(i) { return this.noiseScale * Math.sqrt(Math.max(0, this.C[i][i])); }
    plan() {} // nothing to do where v0 is only added in the end

    update(i, reward, j) { // x is 1 at i, x' is 1 at j, d = x - gamma x', z = x
      const { inverse, C, w, h } = this;
      const along = (v) => v[i] - GAMMA * v[j];
      const dA = inverse[i].map((value, k) => value - GAMMA * inverse[j][k]);
      const shrink = 1 / (1 + dA[i]);
      const g = inverse.map((row) => row[i] * shrink);
      const delta = reward - along(w), surprise = 1 - GAMMA - along(h);
      const Cd = C.map(along);
      const dCd = along(Cd);
      for (let a = 0; a < SIZE; a++) {
        w[a] += g[a] * delta;
        h[a] += g[a] * surprise;
        for (let b = 0; b < SIZE; b++) {
          C[a][b] += (dCd + delta * delta) * g[a] * g[b] - g[a] * Cd[b] - Cd[a] * g[b];
          inverse[a][b] -= g[a] * dA[b];
        }
      }
      this.visits[i] += 1;
      this.transitions.push([i, reward, j]);
    }
  }

  // UCLS-Plan: sweeps over everything that was observed, until nothing changes.
  class Plan {
    constructor() {
      this.priorVisits = 0.03;
      this.noiseScale = 2;
      const zeros = () => Array(SIZE).fill(0);
      [this.visits, this.w, this.optimistic, this.squares, this.noises] = [zeros(), zeros(), zeros(), zeros(), zeros()];
      this.moves = this.visits.map(() => []); // of each state and action: [reward, next state, how often]
      this.transitions = [];
    }

    mean(i) { return this.w[i]; }
    prior(i, v0) { return (this.visits[i] ? this.optimistic[i] : v0) - this.w[i]; }
    noise(i) { return this.noises[i]; }

    update(i, reward, j, v0) {
      const next = Math.floor(j / ACTIONS);
      const known = this.moves[i].find(([r, s]) => r === reward && s === next);
      if (known) known[2] += 1;
      else this.moves[i].push([reward, next, 1]);
      this.visits[i] += 1;
      this.transitions.push([i, reward, next]);
      this.plan(v0);
    }

    plan(v0) {
      for (let sweep = 0; sweep < 1000 && this.sweep(v0) > 1e-10; sweep++);
    }

    sweep(v0) { // one step of value iteration; returns the largest change
      const clip = (value) => Math.min(v0, Math.max(0, value));
      const states = Array.from({ length: STATES }, (_, s) => [s * ACTIONS, s * ACTIONS + 1]);
      const V = states.map((pairs) => clip(Math.max(...pairs.map((i) => this.upper(i, v0)))));
      const greedy = states.map((pairs) => clip(Math.max(0, ...pairs.map((i) => this.w[i])))); // no value is negative
      const add = (values) => values.reduce((total, value) => total + value, 0);
      let change = 0;
      this.visits.forEach((visits, i) => {
        if (!visits) return;
        const expected = (ahead) => add(this.moves[i].map(([r, s, n]) => n * (r + GAMMA * ahead[s])));
        const mean = expected(V) / visits, n = visits + this.priorVisits;
        const optimistic = (this.priorVisits * v0 + visits * mean) / n, w = expected(greedy) / n;
        change = Math.max(change, Math.abs(optimistic - this.optimistic[i]), Math.abs(w - this.w[i]));
        this.optimistic[i] = optimistic;
        this.w[i] = w;
        this.squares[i] = add(this.moves[i].map(([r, s, n]) => n * (r + GAMMA * V[s] - mean) ** 2));
      });
      const freedom = add(this.visits.map((n) => Math.max(0, n - 1)));
      const unseen = v0 * 0.5 ** this.visits.filter((n) => n > 1).length; // noise that may not have shown yet
      const variance = unseen ** 2 + (freedom ? add(this.squares) / freedom : 0); // for what a single visit cannot show
      this.visits.forEach((visits, i) => {
        if (!visits) return;
        const spread = this.noiseScale * Math.sqrt(this.squares[i] + variance) / (visits + this.priorVisits);
        const noise = Math.max(0, Math.min(spread, v0 - this.optimistic[i])); // no further than v0
        change = Math.max(change, Math.abs(noise - this.noises[i]));
        this.noises[i] = noise;
      });
      return change;
    }
  }

  for (const Learner of [Exact, Plan]) {
    Learner.prototype.upper = function (i, v0) { return this.mean(i) + this.prior(i, v0) + this.noise(i); };
  }

  class World {
    constructor() { this.random = generator(7); }

    step(state, action) { // right is against the stream: it fails three times in ten
      if (action === 0) return [Math.max(0, state - 1), state === 0 ? 0.1 : 0];
      if (this.random() < 0.3) return [state, 0];
      const top = state === STATES - 1;
      return [Math.min(STATES - 1, state + 1), top && this.random() < 0.5 ? 2 : 0];
    }
  }

  class Chain {
    constructor(place) {
      this.place = place;
      this.v0 = 10;
      this.restart();
    }

    restart() {
      this.learner = new (this.place.dataset.algorithm === "ucls-plan" ? Plan : Exact)();
      this.world = new World();
      this.state = 0;
      this.steps = 0;
      this.reward = 0;
      this.picked = null;
    }

    choice(state) { // ties go to the left, where the agent begins
      const [left, right] = [0, 1].map((a) => this.learner.upper(state * ACTIONS + a, this.v0));
      return right > left + 1e-12 ? 1 : 0;
    }

    take(state, action) {
      const [next, reward] = this.world.step(state, action);
      this.learner.update(state * ACTIONS + action, reward, next * ACTIONS + this.choice(next), this.v0);
      this.state = next;
      this.steps += 1;
      this.reward += reward;
      this.picked = state * ACTIONS + action;
    }

    walk(steps) {
      for (let t = 0; t < steps; t++) this.take(this.state, this.choice(this.state));
    }
  }

  // The picture: for every state two bars, left and right, each with its mean, its noise term and its prior term.
  const HIGH = 330, BASE = 265, SCALE = 15;
  const visits = (n) => `${n} visit${n === 1 ? "" : "s"}`;
  const layout = (narrow) => (narrow ? { wide: 400, first: 58, gap: 62, bar: 27 } : { wide: 720, first: 95, gap: 115, bar: 34 });

  function shape(name, attributes, parent, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  function draw(chain, svg) {
    const y = (value) => BASE - SCALE * value;
    const at = layout(chain.place.clientWidth < 520);
    svg.setAttribute("viewBox", `0 0 ${at.wide} ${HIGH}`);
    svg.replaceChildren();
    for (const value of [0, 5, 10, 15]) {
      shape("line", { x1: 26, x2: at.wide, y1: y(value), y2: y(value), class: "rule" }, svg);
      shape("text", { x: 20, y: y(value) + 4, "text-anchor": "end" }, svg, value);
    }
    for (let i = 0; i < SIZE; i++) drawBar(chain, svg, i, y, at);
    for (let state = 0; state < STATES; state++) {
      const x = at.first + at.gap * state;
      if (state === chain.state) shape("circle", { cx: x, cy: BASE + 45, r: 15, class: "here" }, svg);
      const label = { x, y: BASE + 50, "text-anchor": "middle", class: state === chain.state ? "here" : "" };
      shape("text", label, svg, state + 1);
    }
  }

  function drawBar(chain, svg, i, y, at) {
    const { learner, v0 } = chain;
    const state = Math.floor(i / ACTIONS), action = i % ACTIONS;
    const x = at.first + at.gap * state + (action ? 1 : -1 - at.bar);
    const middle = x + at.bar / 2, width = at.bar - 2;
    const mean = learner.mean(i), noisy = mean + learner.noise(i), top = learner.upper(i, v0);
    const said = `state ${state + 1}, ${NAMES[action]}: upper bound ${top.toFixed(2)}, ${visits(learner.visits[i])}`;
    const bar = shape("g", { class: "bar", tabindex: 0, role: "button", "aria-label": said, "data-bar": i }, svg);
    shape("rect", { x, y: 0, width, height: BASE + 28, class: "room" }, bar);
    shape("rect", { x, y: y(noisy), width, height: Math.max(0, y(mean) - y(noisy)), class: "noisy" }, bar);
    shape("rect", { x, y: y(top), width, height: Math.max(0, y(noisy) - y(top)), class: "unknown" }, bar);
    shape("circle", { cx: middle, cy: y(mean), r: 4, class: "mean" }, bar);
    const chosen = chain.choice(state) === action;
    const arrow = { x: middle, y: BASE + 22, "text-anchor": "middle", class: chosen ? "arrow chosen" : "arrow" };
    shape("text", arrow, bar, action ? "→" : "←");
  }

  function tell(chain) {
    const rate = chain.steps ? (chain.reward / chain.steps).toFixed(3) : "-";
    const whole = `${chain.steps} steps, reward ${chain.reward.toFixed(1)}, ${rate} per step.`;
    if (chain.picked === null) return `${whole} Click a bar, or press a button.`;
    const { learner, picked: i, v0 } = chain;
    const [mean, prior, noise] = [learner.mean(i), learner.prior(i, v0), learner.noise(i)].map((n) => n.toFixed(3));
    const which = `State ${Math.floor(i / ACTIONS) + 1}, ${NAMES[i % ACTIONS]}, ${visits(learner.visits[i])}`;
    return `${whole} ${which}: mean ${mean}, prior ${prior}, noise ${noise}, ` +
      `upper bound ${learner.upper(i, v0).toFixed(3)}.`;
  }

  const CONTROLS = `<div class="controls">
    <button type="button" data-steps="1">one step</button>
    <button type="button" data-steps="10">10 steps</button>
    <button type="button" data-steps="100">100 steps</button>
    <button type="button" data-restart>restart</button>
    <label>maximum return v0 = <b>10</b> <input type="range" min="0" max="15" step="1" value="10"></label>
    </div>
    <svg role="group" aria-label="Bars of the upper bounds of two actions in six states"></svg>
    <output></output>
    <div class="controls"><span><i class="mean"></i> mean</span> <span><i class="noisy"></i> noise term</span>
    <span><i class="unknown"></i> prior term</span> <span>bold arrow: chosen action</span></div>`;

  function open(place) {
    place.innerHTML = CONTROLS;
    const chain = new Chain(place);
    const svg = place.querySelector("svg"), output = place.querySelector("output");
    const show = () => { draw(chain, svg); output.textContent = tell(chain); };
    const visit = (event) => {
      const bar = event.target.closest("[data-bar]");
      if (!bar || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      const i = Number(bar.dataset.bar);
      chain.take(Math.floor(i / ACTIONS), i % ACTIONS);
      show();
      svg.querySelector(`[data-bar="${i}"]`).focus();
    };
    svg.addEventListener("click", visit);
    svg.addEventListener("keydown", visit);
    for (const button of place.querySelectorAll("[data-steps]")) {
      button.addEventListener("click", () => { chain.walk(Number(button.dataset.steps)); show(); });
    }
    place.querySelector("[data-restart]").addEventListener("click", () => { chain.restart(); show(); });
    place.querySelector("input").addEventListener("input", (event) => {
      chain.v0 = Number(event.target.value);
      chain.learner.plan(chain.v0);
      place.querySelector("b").textContent = event.target.value;
      show();
    });
    window.addEventListener("resize", show);
    place.hidden = false;
    show();
    return chain;
  }

  window.chain = open(document.getElementById("chain"));
})();
