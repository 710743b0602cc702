// A chain of states in which an agent learns before your eyes, with one feature for each state and action. ucls-exact:
// its recursions, dense, with no trace (lambda = 0). ucls-plan, if data-algorithm says so: value iteration after every
// step. tests/test_site.py holds these numbers against the batch formulas.
"use strict";

(() => {
  const STATES = 6, ACTIONS = 2, SIZE = STATES * ACTIONS;
  const GAMMA = 0.9, M = 1, FACTOR = 1, PLAN_M = 0.03, PLAN_FACTOR = 2;
  const NAMES = ["left", "right"];

  function generator(seed) { // mulberry32: the same walk for everybody
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  class Learner {
    constructor() {
      const square = (diagonal) =>
        Array.from({ length: SIZE }, (_, i) => Array.from({ length: SIZE }, (_, j) => (i === j ? diagonal : 0)));
      this.inverse = square(1 / M);
      this.C = square(0);
      this.w = Array(SIZE).fill(0);
      this.h = Array(SIZE).fill(0);
      this.visits = Array(SIZE).fill(0);
      this.transitions = [];
    }

    mean(i) { return this.w[i]; }
    unknown(i) { return Math.min(1, Math.max(0, 1 - this.h[i])); }
    noise(i) { return FACTOR * Math.sqrt(Math.max(0, this.C[i][i])); }
    upper(i, v0) { return this.mean(i) + v0 * this.unknown(i) + this.noise(i); }

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

  class Planner {
    constructor(v0) { // a function: the maximum return as it is set now
      this.v0 = v0;
      this.visits = Array(SIZE).fill(0);
      this.moves = Array.from({ length: SIZE }, () => []); // of each pair: reward, next state, how often
      this.transitions = [];
      this.solved = null;
    }

    mean(i) { return this.found().w[i]; }
    noise(i) { return this.found().noise[i]; }
    upper(i) { return this.visits[i] ? this.found().y[i] + this.noise(i) : this.v0(); }
    unknown(i) { return this.v0() ? Math.max(0, this.upper(i) - this.noise(i) - this.mean(i)) / this.v0() : 0; }

    update(i, reward, j) {
      const next = Math.floor(j / ACTIONS);
      const known = this.moves[i].find((move) => move.reward === reward && move.next === next);
      if (known) known.n += 1;
      else this.moves[i].push({ reward, next, n: 1 });
      this.visits[i] += 1;
      this.transitions.push([i, reward, j]);
      this.solved = null;
    }

    found() { // the fixed point, from v0 down
      const v0 = this.v0();
      if (this.solved?.v0 === v0) return this.solved;
      const clip = (value) => Math.min(Math.max(value, 0), v0);
      const sure = (i, mean, base) => (PLAN_M * base + this.visits[i] * mean) / (PLAN_M + this.visits[i]);
      const made = { v0, y: Array(SIZE).fill(v0), w: Array(SIZE).fill(0), noise: Array(SIZE).fill(0) };
      let V = Array(STATES).fill(v0), means = Array(STATES).fill(0);
      for (let sweep = 0, change = 1; sweep < 2000 && change > 1e-12; sweep++) {
        const S = Array(SIZE).fill(0);
        for (let i = 0; i < SIZE; i++) {
          if (!this.visits[i]) continue;
          const over = (f) => this.moves[i].reduce((sum, move) => sum + move.n * f(move), 0);
          const target = (move) => move.reward + GAMMA * V[move.next];
          const y = over(target) / this.visits[i];
          S[i] = over((move) => (target(move) - y) ** 2);
          made.y[i] = sure(i, y, v0);
          made.w[i] = sure(i, over((move) => move.reward + GAMMA * means[move.next]) / this.visits[i], 0);
        }
        const freedom = this.visits.reduce((sum, n) => sum + Math.max(0, n - 1), 0);
        const doubt = v0 * 0.5 ** this.visits.filter((n) => n > 1).length;
        const sigma2 = doubt ** 2 + (freedom ? S.reduce((sum, each) => sum + each, 0) / freedom : 0);
        made.noise = S.map((own, i) => (this.visits[i] ? PLAN_FACTOR * Math.sqrt(own + sigma2) / (PLAN_M + this.visits[i]) : 0));
        const pairs = (state) => [0, 1].map((a) => state * ACTIONS + a);
        const tops = V.map((_, s) => clip(Math.max(...pairs(s).map((i) => (this.visits[i] ? made.y[i] + made.noise[i] : v0)))));
        const bests = V.map((_, s) => clip(Math.max(0, ...pairs(s).filter((i) => this.visits[i]).map((i) => made.w[i]))));
        change = Math.max(...tops.map((top, s) => Math.max(Math.abs(top - V[s]), Math.abs(bests[s] - means[s]))));
        [V, means] = [tops, bests];
      }
      this.solved = made;
      return made;
    }
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
      this.learner = this.place.dataset.algorithm === "ucls-plan" ? new Planner(() => this.v0) : new Learner();
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
      this.learner.update(state * ACTIONS + action, reward, next * ACTIONS + this.choice(next));
      this.state = next;
      this.steps += 1;
      this.reward += reward;
      this.picked = state * ACTIONS + action;
    }

    walk(steps) {
      for (let t = 0; t < steps; t++) this.take(this.state, this.choice(this.state));
    }
  }

  // The picture: for every state two bars, left and right, each with its mean, what is noisy and what is unknown.
  const HIGH = 330, BASE = 265, SCALE = 15;
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
    const said = `state ${state + 1}, ${NAMES[action]}: upper bound ${top.toFixed(2)}, ${learner.visits[i]} visits`;
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
    const [mean, unknown, noise] = [learner.mean(i), learner.unknown(i), learner.noise(i)].map((n) => n.toFixed(3));
    const which = `State ${Math.floor(i / ACTIONS) + 1}, ${NAMES[i % ACTIONS]}, ${learner.visits[i]} visits`;
    return `${whole} ${which}: mean ${mean}, prior ${unknown} × ${v0}, noise ${noise}, ` +
      `upper bound ${learner.upper(i, v0).toFixed(3)}.`;
  }

  function open(place) {
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
