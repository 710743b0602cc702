
"use strict";
// Draws the maps of the page from the data beside it: a canvas for each kind of number, a slider over the moments of the
// run, and under them the interval of every action at the point that the pointer (or the arrow keys) is at.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const ramps = {
    value: ["#3b1f6b", "#345e9e", "#1f968b", "#7ad151", "#fde725"],
    share: ["#f7f5ef", "#b6cfe8", "#5b9bd0", "#1f5fa8", "#0a2a5e"],
    noisy: ["#f7f5ef", "#f9cf9c", "#f0953f", "#c8560c", "#6e2703"],
    visits: ["#f7f5ef", "#c9c9c4", "#8f8f8b", "#4f4f4e", "#111111"],
  };
  const paints = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8c6d31", "#666666"];
  const masked = "#b4b4b4"; // an action that is invalid by the masks that the agent has met
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const paint = (a) => paints[a % paints.length];
  const mix = (stops, part) => {
    const at = Math.max(0, Math.min(1, part)) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at));
    const from = rgb(stops[k]), to = rgb(stops[k + 1]);
    return `rgb(${from.map((c, i) => Math.round(c + (to[i] - c) * (at - k))).join(",")})`;
  };
  const number = (value) => {
    const size = Math.abs(value), sign = value < 0 ? "−" : "";
    if (size !== 0 && (size < 1e-3 || size >= 1e7)) return sign + size.toExponential(1).replace("e+", "e");
    return sign + size.toLocaleString("en-US", size >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
  };
  const make = (name, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const unpack = (kind) => {
    const bytes = Uint8Array.from(atob(kind.data), (c) => c.charCodeAt(0));
    const whole = new Uint16Array(bytes.buffer), unit = (kind.high - kind.low) / 65535;
    return Float64Array.from(whole, (k) => kind.low + k * unit);
  };

  // The maps of the run at its moments; and, at its end, planes through each state that it is not sure of, if it has any.
  const nA = data.actions.length, end = data.steps.length - 1;
  const groups = [{ steps: data.steps, views: data.views },
    ...data.unsure.filter((u) => u.views.length).map((u) => ({ steps: [data.steps[end]], views: u.views }))];
  const ready = (group, k) => {
    const view = group.views[k];
    if (!view.get) {
      view.get = Object.fromEntries(Object.entries(view.kinds).map(([name, kind]) => [name, unpack(kind)]));
      view.count = view.get.visits.length / group.steps.length;
    }
    return view;
  };
  let group = groups[0], plane = 0, view = ready(group, 0), last = end, now = last;
  let which = -1, spot = null, pinned = false, picked = null;
  const split = "unknown" in view.get, told = "share" in view.get;
  const action = (i) => view.get.action[now * view.count + i];
  const of = (name, i, a, t = now) => view.get[name][(t * view.count + i) * nA + a];
  const visits = (i) => view.get.visits[now * view.count + i];
  const valid = (i, a, t = now) => !("valid" in view.get) || of("valid", i, a, t) > 0.5;
  const gray = (i) => which >= 0 && !valid(i, which); // the action that is shown is invalid here
  const best = (i, t = now) => Math.max(...data.actions.map((_, a) => valid(i, a, t) ? of("mean", i, a, t) : -Infinity));
  const shown = (name) => (i, t = now) => {
    if (name === "value") return which < 0 ? best(i, t) : of("mean", i, which, t);
    if (name === "visits") return Math.log1p(view.get.visits[t * view.count + i]);
    return of(name, i, which < 0 ? view.get.action[t * view.count + i] : which, t);
  };
  // A share is from 0 to 1, visits are those of the end; what changes its size has the scale of its moment.
  const range = (name) => {
    if (name === "share") return [0, 1];
    const t = name === "visits" ? last : now;
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < view.count; i++) {
      if (gray(i) && name !== "visits") continue;
      const value = shown(name)(i, t);
      low = Math.min(low, value); high = Math.max(high, value);
    }
    if (low > high) return [0, 0];
    return name === "value" ? [low, high] : [0, high];
  };

  const ofAction = () => lines() ? "" : which < 0 ? ", for the action it would take" : `, for ${data.actions[which]}`;
  const layers = [
    ["value", "Estimated value", () => lines() ? "Solid: the mean of each action. Dashed: its upper bound."
      : which < 0 ? "The mean of its best action." : `The mean of ${data.actions[which]}.`],
    ...(told ? [["share", "Prior weight", () =>
      `The prior's remaining weight in the value${ofAction()}: 1 in states without data.`]] : []),
    ["noisy", split ? "Noise" : "Radius", () =>
      (split ? "The part of the radius that is due to random outcomes" : "The radius of the interval") + ofAction() + "."],
    ["visits", "Visits", () => "The number of recorded visits nearby, on a logarithmic scale."],
    ["action", "Chosen action", () => "The action with the highest upper bound, or the highest mean without bounds."],
  ];

  // Places on a canvas: a map fills a rectangle, a line chart has an axis on the left.
  const margin = () => view.across ? { left: 42, right: 8, top: 6, bottom: 30 } : { left: 4, right: 4, top: 4, bottom: 4 };
  const lines = () => view.across && !view.up;
  const fit = (canvas, height) => {
    const width = canvas.clientWidth || 320, scale = window.devicePixelRatio || 1;
    canvas.width = width * scale; canvas.height = height * scale; canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11px system-ui, sans-serif";
    return [pen, width, height];
  };
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const frame = (pen, width, height) => {
    const m = margin();
    const w = width - m.left - m.right, h = height - m.top - m.bottom;
    pen.fillStyle = ink("--soft");
    if (view.across) {
      pen.textAlign = "left"; pen.fillText(number(view.across.low), m.left, height - 17);
      pen.textAlign = "right"; pen.fillText(number(view.across.high), width - m.right, height - 17);
      pen.textAlign = "center"; pen.fillText(view.across.name, m.left + w / 2, height - 5);
    }
    if (view.up) {
      pen.textAlign = "right";
      pen.fillText(number(view.up.high), m.left - 4, m.top + 9);
      pen.fillText(number(view.up.low), m.left - 4, m.top + h);
      pen.save(); pen.translate(11, m.top + h / 2); pen.rotate(-Math.PI / 2);
      pen.textAlign = "center"; pen.fillText(view.up.name, 0, 0); pen.restore();
    }
    return { ...m, w, h };
  };
  const cell = (i, box) => {
    const row = Math.floor(i / view.columns), column = i % view.columns;
    const w = box.w / view.columns, h = box.h / view.rows;
    const y = view.up ? view.rows - 1 - row : row; // a grid has its first row on top, a plane its lowest below
    return [box.left + column * w, box.top + y * h, w, h];
  };

  const drawMap = (canvas, name, [low, high]) => {
    const square = view.up ? 0.8 : Math.min(1.2, view.rows / view.columns);
    const [pen, width, height] = fit(canvas, Math.max(70, (canvas.clientWidth || 320) * square));
    const box = frame(pen, width, height), value = name === "action" ? null : shown(name);
    for (let i = 0; i < view.count; i++) {
      const [x, y, w, h] = cell(i, box);
      const invalid = gray(i) && name !== "action" && name !== "visits";
      pen.fillStyle = invalid ? masked : name === "action" ? paint(action(i)) : mix(ramps[name], (value(i) - low) / (high - low || 1));
      const [x0, y0] = [Math.floor(x), Math.floor(y)];
      pen.fillRect(x0, y0, Math.ceil(x + w) - x0, Math.ceil(y + h) - y0);
      if (!view.across && w > 26 && !invalid) {
        pen.fillStyle = name !== "action" && (value(i) - low) / (high - low || 1) > 0.5 && name !== "value" ? "#fff" : "#111";
        if (name === "value" && (value(i) - low) / (high - low || 1) < 0.5 || name === "action") pen.fillStyle = "#fff";
        pen.textAlign = "center";
        const shortly = (v) => w >= 40 || Math.abs(v) >= 100 ? number(v)
          : number(Number(Math.abs(v) < 1 ? v.toFixed(2) : v.toPrecision(2)));
        const text = name === "action" ? data.actions[action(i)] : shortly(name === "visits" ? visits(i) : value(i));
        pen.fillText(text.slice(0, Math.floor(w / 6)), x + w / 2, y + h / 2 + 4);
      }
    }
    mark(pen, box);
  };
  const mark = (pen, box) => {
    if (view.at !== null) {
      const [x, y, w, h] = cell(view.at, box);
      for (const [width, color] of [[4, "#fff"], [1.8, "#000"]]) {
        pen.lineWidth = width; pen.strokeStyle = color;
        pen.beginPath(); pen.arc(x + w / 2, y + h / 2, 6, 0, 7); pen.stroke();
      }
    }
    if (spot === null) return;
    const [x, y, w, h] = cell(spot, box);
    pen.lineWidth = 3; pen.strokeStyle = "#fff"; pen.strokeRect(x - 1, y - 1, w + 2, h + 2);
    pen.lineWidth = 1.5; pen.strokeStyle = "#000"; pen.strokeRect(x - 1, y - 1, w + 2, h + 2);
  };

  const drawLine = (canvas, name, [low, high]) => {
    const [pen, width, height] = fit(canvas, name === "action" ? 70 : 230);
    const box = frame(pen, width, height);
    if (name === "action") {
      for (let i = 0; i < view.count; i++) {
        pen.fillStyle = paint(action(i));
        pen.fillRect(box.left + i * box.w / view.count, box.top, box.w / view.count + 0.6, box.h);
      }
      return line(pen, box);
    }
    const reach = (i, a, t) => of("mean", i, a, t) + (split ? of("unknown", i, a, t) : 0) + of("noisy", i, a, t);
    if (name !== "visits") for (let i = 0; i < view.count; i++) for (let a = 0; a < nA; a++) {
      if (!valid(i, a)) continue;
      low = Math.min(low, of(name === "value" ? "mean" : name, i, a));
      high = Math.max(high, name === "value" ? reach(i, a) : of(name, i, a));
    }
    const x = (i) => box.left + i * box.w / (view.count - 1);
    const y = (value) => box.top + box.h * (1 - (value - low) / (high - low || 1));
    pen.fillStyle = ink("--soft"); pen.textAlign = "right";
    pen.fillText(number(name === "visits" ? Math.expm1(high) : high), box.left - 4, box.top + 9);
    pen.fillText(number(low), box.left - 4, box.top + box.h);
    if (name === "visits") {
      pen.fillStyle = ramps.visits[3];
      for (let i = 0; i < view.count; i++)
        pen.fillRect(x(i) - box.w / view.count / 2, y(shown(name)(i)), box.w / view.count, box.top + box.h - y(shown(name)(i)));
      return line(pen, box);
    }
    // Lines of an action, in gray where it is invalid.
    const trace = (a, height) => {
      for (let i = 1; i < view.count; i++) {
        pen.strokeStyle = valid(i - 1, a) && valid(i, a) ? paint(a) : masked;
        pen.beginPath(); pen.moveTo(x(i - 1), y(height(i - 1))); pen.lineTo(x(i), y(height(i))); pen.stroke();
      }
    };
    const whole = (a, height) => {
      if ("valid" in view.get) return trace(a, height);
      pen.strokeStyle = paint(a); pen.beginPath();
      for (let i = 0; i < view.count; i++) pen.lineTo(x(i), y(height(i)));
      pen.stroke();
    };
    data.actions.forEach((_, a) => {
      if (name === "value") {
        pen.globalAlpha = 0.08; pen.fillStyle = paint(a); pen.beginPath();
        for (let i = 0; i < view.count; i++) pen.lineTo(x(i), y(of("mean", i, a)));
        for (let i = view.count - 1; i >= 0; i--) pen.lineTo(x(i), y(valid(i, a) ? reach(i, a) : of("mean", i, a)));
        pen.fill(); pen.globalAlpha = 1;
        pen.lineWidth = 1.2; pen.setLineDash([4, 3]);
        whole(a, (i) => valid(i, a) ? reach(i, a) : of("mean", i, a));
        pen.setLineDash([]);
      }
      pen.lineWidth = 1.8;
      whole(a, (i) => of(name === "value" ? "mean" : name, i, a));
    });
    line(pen, box);
  };
  const line = (pen, box) => {
    if (spot === null) return;
    const x = box.left + spot * box.w / (view.count - 1);
    pen.strokeStyle = ink("--ink"); pen.lineWidth = 1; pen.setLineDash([3, 3]);
    pen.beginPath(); pen.moveTo(x, box.top); pen.lineTo(x, box.top + box.h); pen.stroke(); pen.setLineDash([]);
  };

  const at = (canvas, event) => {
    const m = margin(), rect = canvas.getBoundingClientRect();
    const u = (event.clientX - rect.left - m.left) / (rect.width - m.left - m.right);
    const v = (event.clientY - rect.top - m.top) / (rect.height - m.top - m.bottom);
    if (u < 0 || u > 1 || v < 0 || v > 1) return null;
    const column = Math.min(view.columns - 1, Math.floor(u * view.columns));
    if (lines()) return Math.round(u * (view.count - 1));
    const row = Math.min(view.rows - 1, Math.floor(v * view.rows));
    const i = (view.up ? view.rows - 1 - row : row) * view.columns + column;
    return i < view.count ? i : null;
  };
  const where = (i) => {
    if (!view.across) return `state ${number(view.first + i)}`;
    const along = (axis, k, n) => `${axis.name} = ${number(axis.low + (axis.high - axis.low) * k / (n - 1 || 1))}`;
    const parts = [along(view.across, i % view.columns, view.columns)];
    if (view.up) parts.push(along(view.up, Math.floor(i / view.columns), view.rows));
    return parts.join(", ");
  };

  // The interval of every action at a point: a dot for the mean, a bar for each part of the radius above it.
  const readout = document.getElementById("readout");
  const numbers = (rows) => {
    const heads = ["", "mean", split ? "noise" : "radius", ...(split ? ["prior"] : [])];
    const line = (kind, texts) => make("tr", {}, ...texts.map((text) => make(kind, { textContent: text })));
    return make("table", {}, line("th", heads), ...rows.map((r) =>
      line("td", r.out ? [r.name, "invalid", "", ...(split ? [""] : [])]
        : [r.name, number(r.mean), number(r.noisy), ...(split ? [number(r.unknown) + r.share] : [])])));
  };
  const read = () => {
    const state = picked === null ? null : data.unsure[picked];
    if (spot === null && state === null) {
      readout.replaceChildren(make("h3", { textContent: "Point at a map" }), make("p", { textContent:
        "Here the interval of every action appears: what it is worth, how much more it may be worth because nobody knows, and how much because outcomes vary. The agent takes the one that reaches highest. Click to hold a place; the arrow keys move it." }));
      return;
    }
    const canvas = make("canvas");
    const told_of = (name, a) => spot === null ? (state[name] ?? [])[a] : name in view.get ? of(name, spot, a) : undefined;
    const rows = data.actions.map((name, a) => {
      const share = told ? ` (${Math.round(100 * told_of("share", a))}% unknown)` : "";
      const taken = (spot === null ? state.action : action(spot)) === a;
      const out = spot === null ? state.valid?.[a] === false : !valid(spot, a);
      return { name, out, mean: told_of("mean", a), unknown: told_of("unknown", a) ?? 0, noisy: told_of("noisy", a), share, taken };
    });
    const place = spot === null ? `in (${state.state.join(", ")})` : where(spot);
    const often = spot === null ? "" : `noted nearby ${number(visits(spot))} times; `;
    readout.replaceChildren(make("h3", { textContent: `${place}, after ${group.steps[now].toLocaleString("en-US")} steps` }),
      canvas, numbers(rows), make("p", { textContent: `${often}the action it would take is marked by ▸` }));
    const [pen, width] = fit(canvas, 26 * nA + 22);
    const inside = rows.filter((r) => !r.out);
    const low = Math.min(...inside.map((r) => r.mean)), high = Math.max(...inside.map((r) => r.mean + r.unknown + r.noisy));
    const span = high - low || Math.abs(high) || 1, left = Math.min(150, width * 0.3), right = 14;
    const x = (value) => left + (value - low + 0.04 * span) / (1.08 * span) * (width - left - right);
    rows.forEach((r, a) => {
      const y = 26 * a + 16;
      pen.fillStyle = r.out ? masked : ink("--ink"); pen.textAlign = "left"; pen.font = `${r.taken ? "bold " : ""}12px system-ui, sans-serif`;
      pen.fillText(`${r.taken ? "▸ " : "   "}${r.name}`.slice(0, 24), 0, y + 4);
      if (r.out) return;
      pen.fillStyle = ramps.noisy[2]; pen.fillRect(x(r.mean), y - 6, x(r.mean + r.noisy) - x(r.mean), 12);
      pen.fillStyle = ramps.share[2]; pen.fillRect(x(r.mean + r.noisy), y - 6, x(r.mean + r.noisy + r.unknown) - x(r.mean + r.noisy), 12);
      pen.fillStyle = ink("--ink"); pen.beginPath(); pen.arc(x(r.mean), y, 4.5, 0, 7); pen.fill();
    });
    pen.font = "11px system-ui, sans-serif"; pen.fillStyle = ink("--soft"); pen.textAlign = "left";
    pen.fillText(number(low), x(low), 26 * nA + 18); pen.textAlign = "right"; pen.fillText(number(high), x(high), 26 * nA + 18);
  };

  const place = document.getElementById("maps");
  let figures = [];
  const build = () => {
    place.className = lines() ? "lines" : "";
    figures = layers.map(([name, title, caption]) => {
      const canvas = make("canvas", { tabIndex: 0 });
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", title);
      const legend = make("div", { className: "legend" }), words = make("figcaption");
      canvas.addEventListener("pointermove", (event) => { if (!pinned) { spot = at(canvas, event); draw(); } });
      canvas.addEventListener("pointerleave", () => { if (!pinned) { spot = null; draw(); } });
      canvas.addEventListener("click", (event) => { const i = at(canvas, event); pinned = i !== null && !(pinned && i === spot); spot = i; draw(); });
      canvas.addEventListener("keydown", (event) => {
        const up = view.up ? view.columns : -view.columns;
        const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: lines() ? 0 : up, ArrowDown: lines() ? 0 : -up }[event.key];
        if (step === undefined) return;
        event.preventDefault(); pinned = true;
        const i = (spot ?? Math.floor(view.count / 2)) + (spot === null ? 0 : step);
        if (i >= 0 && i < view.count) spot = i;
        draw();
      });
      return { name, canvas, legend, words, caption, node: make("figure", {}, make("h3", { textContent: title }), canvas, legend, words) };
    });
    place.replaceChildren(...figures.map((f) => f.node), readout);
  };
  const rangeOf = (name) => name === "action" ? [0, 1] : range(name);
  const draw = () => {
    for (const f of figures) {
      const [low, high] = rangeOf(f.name);
      (lines() ? drawLine : drawMap)(f.canvas, f.name, [low, high]);
      f.words.textContent = f.caption();
    }
    read();
  };
  const legends = () => {
    for (const f of figures) {
      const keys = data.actions.map((name, a) => {
        const box = make("i"); box.style.background = paint(a);
        return make("span", { className: "key" }, box, name);
      });
      if (f.name === "action" || (lines() && f.name !== "visits")) { f.legend.replaceChildren(...keys); continue; }
      if (lines()) continue;
      const [low, high] = rangeOf(f.name), bar = make("canvas", { width: 112, height: 11 }), pen = bar.getContext("2d");
      for (let k = 0; k < 112; k++) { pen.fillStyle = mix(ramps[f.name], k / 111); pen.fillRect(k, 0, 1, 11); }
      const back = (v) => number(f.name === "visits" ? Math.expm1(v) : v);
      f.legend.replaceChildren(back(low), bar, back(high));
    }
  };

  const controls = document.getElementById("controls");
  let leave = () => {};
  const said = make("output"), slider = make("input", { type: "range", min: 0, max: last, step: 1, value: last });
  slider.setAttribute("aria-label", "moment of the run");
  const show = (t) => { now = t; slider.value = t; said.textContent = `after ${group.steps[now].toLocaleString("en-US")} steps`; legends(); draw(); };
  const when = make("div", { className: "when" });
  if (end > 0) {
    let timer = null;
    const play = make("button", { type: "button", textContent: "▶ play" });
    const stop = () => { clearInterval(timer); timer = null; play.textContent = "▶ play"; };
    play.addEventListener("click", () => {
      if (timer) return stop();
      if (now === last) show(0);
      play.textContent = "❚❚ stop";
      timer = setInterval(() => (now < last ? show(now + 1) : stop()), 700);
    });
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    when.append(play, slider, said);
    controls.append(when);
    leave = stop;
  }
  if (nA > 1 && !lines()) {
    const choice = make("select", {}, make("option", { value: -1, textContent: "the action it would take" }),
      ...data.actions.map((name, a) => make("option", { value: a, textContent: name })));
    choice.addEventListener("change", () => { which = Number(choice.value); legends(); draw(); });
    controls.append(make("label", {}, "of", choice));
  }
  const lead = document.getElementById("lead");
  const enter = (g, k) => {
    leave();
    group = groups[g]; plane = k; view = ready(group, k); last = group.steps.length - 1;
    spot = null; pinned = false;
    when.hidden = last === 0;
    const through = view.through ? ` The planes go through (${view.through.join(", ")}), the ring.` : "";
    const cells = (view.across ? "" : ` The cells are its states${view.title === "all states" ? "" : ", by number"}.`)
      + ("valid" in view.get ? " Invalid actions are gray, where they were met." : "");
    lead.textContent = `The estimates of ${data.agent}, state by state. It explores where its upper bound is high: where it expects a high value or lacks data.${through}${cells}`;
    build();
    show(last);
  };
  const options = (texts) => texts.map((text, k) => make("option", { value: k, textContent: text }));
  const brief = (state) => state.join(", ").length > 26 ? `${state.join(", ").slice(0, 24)}…` : state.join(", ");
  const through = make("select", {}, ...options([brief(view.through ?? []), ...data.unsure.map((u, k) => `${k + 1}: ${brief(u.state)}`)]));
  if (data.views.length > 1) {
    const choice = make("select", {}, ...options(data.views.map((v) => v.title)));
    choice.addEventListener("change", () => enter(groups.indexOf(group), Number(choice.value)));
    controls.append(make("label", {}, "plane of", choice));
  }
  const pick = (k) => {
    picked = k < 0 ? null : k;
    through.value = k + 1;
    rows.forEach((row, i) => row.classList.toggle("picked", i === k));
    if (groups.length > 1) enter(k + 1, plane);
    else { show(last); spot = data.unsure[k].place; pinned = true; draw(); }
  };
  const rows = [...document.querySelectorAll("#unsure tbody tr")];
  rows.forEach((row, k) => {
    const button = make("button", { type: "button", textContent: `look at ${k + 1}` });
    button.addEventListener("click", () => { pick(k); lead.scrollIntoView(); });
    row.prepend(make("td", {}, button));
  });
  document.querySelector("#unsure thead tr")?.prepend(make("td"));
  if (groups.length > 1) {
    through.addEventListener("change", () => pick(Number(through.value) - 1));
    controls.append(make("label", {}, "through", through));
  }
  enter(0, 0);
  new ResizeObserver(() => draw()).observe(place);
  document.documentElement.classList.add("live");
})();
