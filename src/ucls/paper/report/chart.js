
"use strict";
// Draws the figures of the page from the data beside it: an SVG for each panel, a legend that hides lines, a readout
// that follows the pointer or the arrow keys; and lets the claims be filtered by verdict.
(() => {
  const maker = (space) => (name, attributes = {}, ...children) => {
    const node = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const html = maker("http://www.w3.org/1999/xhtml");
  const svg = maker("http://www.w3.org/2000/svg");

  // Three digits, or all of a whole number; `least` of them even if they are zeros, so that columns line up.
  const number = (value, least = 1) => {
    if (value === null) return "–";
    const size = Math.abs(value), sign = value < 0 ? "−" : "";
    if (size !== 0 && (size < 1e-4 || size >= 1e9)) return sign + size.toExponential(2).replace(/\.?0*e\+?/, "e");
    const digits = { minimumSignificantDigits: least, maximumSignificantDigits: 3 };
    return sign + size.toLocaleString("en-US", size >= 100 ? { maximumFractionDigits: 0 } : digits);
  };

  const scale = (low, high, from, to, log) => {
    const f = log ? (value) => Math.log10(Math.max(value, low)) : (value) => value;
    const start = f(low), factor = (to - from) / (f(high) - start);
    return (value) => Math.max(-1e4, Math.min(1e4, from + (f(value) - start) * factor));
  };

  const spot = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;

  // The pieces of a line without gaps, as lists of places; `keep` may leave more of them out.
  const pieces = (values, keep) => {
    const found = [];
    let open = null;
    values.forEach((value, i) => {
      if (value === null || !keep(i)) open = null;
      else if (open) open.push(i);
      else found.push((open = [i]));
    });
    return found;
  };

  const curve = (xs, ys, values, keep = () => true) =>
    pieces(values, keep).map((places) => "M" + places.map((i) => spot(xs[i], ys(values[i]))).join("L") + "h0").join("");

  const band = (xs, ys, line) =>
    pieces(line.mid, (i) => line.low[i] !== null && line.high[i] !== null).map((places) => {
      const above = places.map((i) => spot(xs[i], ys(line.high[i])));
      const below = places.map((i) => spot(xs[i], ys(line.low[i]))).reverse();
      return `M${above.join("L")}L${below.join("L")}Z`;
    }).join("");

  const swatch = (entry) => {
    const classes = `c${entry.color} ${entry.dash ? "dash" : ""} ${entry.points ? "points" : ""}`;
    const picture = svg("svg", { width: 22, height: 10, class: classes, "aria-hidden": "true" });
    picture.append(svg("path", { class: "mid", d: "M1 5H21" }));
    if (entry.points) picture.append(svg("circle", { class: "dot", cx: 11, cy: 5, r: 3.5 }));
    return picture;
  };

  function drawLine(line, entry, xs, ys, hidden) {
    const classes = ["line", `c${entry.color}`, entry.dash && "dash", line.points && "points", hidden && "off"];
    const group = svg("g", { class: classes.filter(Boolean).join(" "), "data-entry": line.entry });
    if (line.points) {
      group.append(svg("path", { class: "thread", d: curve(xs, ys, line.mid) }));
      line.mid.forEach((value, i) => {
        if (value === null) return;
        if (line.low && line.low[i] !== null) {
          const [low, high] = [ys(line.low[i]), ys(line.high[i])];
          group.append(svg("line", { class: "whisker", x1: xs[i], x2: xs[i], y1: low, y2: high }));
        }
        group.append(svg("circle", { class: "dot", cx: xs[i], cy: ys(value), r: 4 }));
      });
      return group;
    }
    if (line.low) group.append(svg("path", { class: "band", d: band(xs, ys, line) }));
    const most = Array.isArray(line.runs) ? Math.max(...line.runs) : 0;
    if (most) group.append(svg("path", { class: "some", d: curve(xs, ys, line.mid) }));
    group.append(svg("path", { class: "mid", d: curve(xs, ys, line.mid, (i) => !most || line.runs[i] === most) }));
    return group;
  }

  // One panel: drawn anew whenever its width changes.
  class Panel {
    constructor(panel, legend, hidden, id) {
      Object.assign(this, { panel, legend, hidden, id, width: 0, place: null });
      this.box = html("div", { class: "panel" }, html("h4", {}, panel.title, html("small", {}, panel.runs)));
      if (!panel.lines.length) {
        this.box.classList.add("none");
        this.box.append(html("p", {}, "no finished run"));
        return;
      }
      this.readout = html("div", { class: "readout", hidden: "" });
      this.chart = svg("svg", {
        class: "chart", tabindex: 0, role: "slider", "aria-valuemin": panel.extent[0], "aria-valuemax": panel.extent[1],
        "aria-valuenow": panel.extent[0], "aria-valuetext": "use the arrow keys",
        "aria-label": `${panel.title}: ${panel.y} against ${panel.x}`,
      });
      this.box.append(this.chart, this.readout);
      new ResizeObserver(() => this.resize()).observe(this.box);
      this.chart.addEventListener("pointermove", (event) => this.point(event));
      this.chart.addEventListener("pointerdown", (event) => this.point(event));
      this.chart.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.leave());
      this.chart.addEventListener("blur", () => this.leave());
      this.chart.addEventListener("keydown", (event) => this.key(event));
    }

    resize() {
      const width = Math.floor(this.box.clientWidth);
      if (!width || width === this.width) return;
      this.width = width;
      this.draw();
    }

    draw() {
      const { panel, width } = this;
      const height = Math.round(Math.min(360, Math.max(210, width * 0.66)));
      const longest = Math.max(0, ...panel.ticksY.map(([, label]) => label.length));
      const [left, right] = [26 + 6.3 * longest, width - (panel.optimum ? 8 + 6.3 * panel.optimum[1].length : 14)];
      const [top, bottom] = [10, height - 36];
      const [x0, x1, y0, y1] = panel.extent;
      const X = scale(x0, x1, left, right, panel.logX), Y = scale(y0, y1, bottom, top, panel.logY);
      const add = (name, attributes, ...children) => this.chart.append(svg(name, attributes, ...children));
      this.chart.replaceChildren();
      for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
        this.chart.setAttribute(key, value);
      }
      add("clipPath", { id: this.id }, svg("rect", { x: left, y: top - 2, width: right - left + 1, height: bottom - top + 4 }));
      for (const [value, label] of panel.ticksY) {
        add("line", { class: "rule", x1: left, x2: right, y1: Y(value), y2: Y(value) });
        add("text", { x: left - 6, y: Y(value) + 4, "text-anchor": "end" }, label);
      }
      let free = -Infinity;
      for (const [value, label] of panel.ticksX) {
        if (X(value) - 3.2 * label.length < free) continue;
        free = X(value) + 3.2 * label.length + 4;
        add("line", { class: "rule", x1: X(value), x2: X(value), y1: top, y2: bottom });
        add("text", { x: X(value), y: bottom + 16, "text-anchor": "middle" }, label);
      }
      add("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` });
      add("text", { class: "label", x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, panel.x);
      const middle = (top + bottom) / 2;
      add("text", { class: "label", x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, panel.y);
      const pointed = panel.lines.filter((line) => line.points);
      this.columns = panel.lines.map((line) => {
        const shift = pointed.includes(line) ? 4 * (pointed.indexOf(line) - (pointed.length - 1) / 2) : 0;
        return panel.grids[line.grid].map((value) => X(value) + shift);
      });
      const inside = svg("g", { "clip-path": `url(#${this.id})` });
      panel.lines.forEach((line, k) =>
        inside.append(drawLine(line, this.legend[line.entry], this.columns[k], Y, this.hidden.has(line.entry))));
      this.chart.append(inside);
      if (panel.optimum) {
        const y = Y(panel.optimum[0]);
        add("line", { class: "optimum", x1: left, x2: right, y1: y, y2: y });
        add("text", { class: "label", x: right + 4, y: y + 4 }, panel.optimum[1]);
      }
      this.marks = svg("g", {});
      this.chart.append(this.marks);
      Object.assign(this, { X, Y, top, bottom, height });
      if (this.place !== null) this.show(this.place);
    }

    toggle() {
      for (const line of this.chart?.querySelectorAll(".line") ?? []) {
        line.classList.toggle("off", this.hidden.has(Number(line.dataset.entry)));
      }
      this.leave();
    }

    places() {
      const lines = this.panel.lines.filter((line) => !this.hidden.has(line.entry));
      const all = lines.flatMap((line) => this.panel.grids[line.grid].filter((_, i) => line.mid[i] !== null));
      return [...new Set(all)].sort((a, b) => a - b);
    }

    point(event) {
      const x = event.clientX - this.chart.getBoundingClientRect().left;
      const near = (best, value) => (Math.abs(this.X(value) - x) < Math.abs(this.X(best) - x) ? value : best);
      const places = this.places();
      if (places.length) this.show(places.reduce(near));
    }

    key(event) {
      const places = this.places();
      const from = this.place === null ? -1 : places.indexOf(this.place), leap = event.shiftKey ? 10 : 1;
      const last = places.length - 1;
      const to = { ArrowRight: from + leap, ArrowUp: from + leap, ArrowLeft: from - leap, ArrowDown: from - leap, Home: 0, End: last };
      if (event.key === "Escape") this.leave();
      if (!(event.key in to) || last < 0) return;
      event.preventDefault();
      this.show(places[Math.min(last, Math.max(0, to[event.key]))]);
    }

    // What the visible lines say at a place: those without a value within a few pixels of it are left out.
    show(place) {
      this.place = place;
      const { panel, X, Y, top, bottom } = this, at = X(place), rows = [];
      this.marks.replaceChildren(svg("line", { class: "cursor", x1: at, x2: at, y1: top, y2: bottom }));
      panel.lines.forEach((line, k) => {
        if (this.hidden.has(line.entry)) return;
        const grid = panel.grids[line.grid];
        const i = grid.reduce((best, value, j) => (Math.abs(X(value) - at) < Math.abs(X(grid[best]) - at) ? j : best), 0);
        if (line.mid[i] === null || Math.abs(X(grid[i]) - at) > 4) return;
        const entry = this.legend[line.entry], y = Y(line.mid[i]);
        if (y >= top - 4 && y <= bottom + 4) {
          this.marks.append(svg("circle", { class: `dot c${entry.color}`, cx: this.columns[k][i], cy: y, r: 4.5 }));
        }
        const runs = Array.isArray(line.runs) ? line.runs[i] : line.runs;
        rows.push({
          value: line.mid[i], label: entry.label, mark: html("i", { class: `c${entry.color}` }),
          range: line.low && line.low[i] !== null ? `${number(line.low[i], 3)} to ${number(line.high[i], 3)}` : "",
          runs: runs === undefined ? "" : `${runs} run${runs === 1 ? "" : "s"}`,
        });
      });
      if (panel.optimum) rows.push({ value: panel.optimum[0], label: panel.optimum[2], mark: html("i"), range: "", runs: "" });
      rows.sort((a, b) => b.value - a.value);
      const counts = [...new Set(rows.map((row) => row.runs).filter(Boolean))], same = counts.length === 1;
      const cells = (row) => [number(row.value, 3), row.range, ...(same ? [] : [row.runs])];
      const table = html("table", {}, ...rows.map((row) => html("tr", {}, html("td", {}, row.mark, row.label),
        ...cells(row).map((text) => html("td", {}, text)))));
      this.readout.replaceChildren(html("b", {}, `${panel.x}: ${number(place)}`), same ? `, ${counts[0]}` : "", table);
      this.chart.setAttribute("aria-valuenow", place);
      this.chart.setAttribute("aria-valuetext", `${panel.x} ${number(place)}. ` +
        rows.map((row) => [row.label, number(row.value, 3), row.range && `(${row.range})`, row.runs].join(" ")).join("; "));
      this.put(at);
    }

    // The readout hangs below the axis, or above the chart where there is no room: it never covers the lines.
    put(at) {
      const { readout, box, chart } = this;
      readout.hidden = false;
      const frame = box.getBoundingClientRect(), size = readout.getBoundingClientRect();
      const under = chart.getBoundingClientRect().bottom - 14, over = chart.getBoundingClientRect().top - size.height;
      const y = under + size.height > window.innerHeight && over > 0 ? over : under;
      const most = document.documentElement.clientWidth - size.width - 4;
      const x = Math.max(4, Math.min(frame.left + at - size.width / 2, most));
      readout.style.left = `${x - frame.left}px`;
      readout.style.top = `${y - frame.top}px`;
    }

    leave() {
      if (!this.readout) return;
      this.place = null;
      this.readout.hidden = true;
      this.marks?.replaceChildren();
    }
  }

  function drawPlot(figure, plot) {
    const hidden = new Set();
    const id = (k) => `clip-${figure.dataset.index}-${k}`;
    const panels = plot.panels.map((panel, k) => new Panel(panel, plot.legend, hidden, id(k)));
    figure.querySelector(".panels").append(...panels.map((panel) => panel.box));
    const dim = (chosen) => figure.querySelectorAll(".line").forEach((line) =>
      line.classList.toggle("dim", chosen !== null && Number(line.dataset.entry) !== chosen));
    const buttons = plot.legend.map((entry, k) => {
      const button = html("button", { type: "button" }, swatch(entry), entry.label);
      button.title = "click: hide or show; double click: only this one, or all";
      button.addEventListener("click", () => set(hidden.has(k) ? [...hidden].filter((j) => j !== k) : [...hidden, k]));
      button.addEventListener("dblclick", () => {
        const others = plot.legend.map((_, j) => j).filter((j) => j !== k);
        set(others.every((j) => hidden.has(j)) ? [] : others);
      });
      button.addEventListener("pointerenter", () => dim(hidden.has(k) ? null : k));
      button.addEventListener("pointerleave", () => dim(null));
      return button;
    });
    const set = (chosen) => {
      hidden.clear();
      chosen.forEach((k) => hidden.add(k));
      buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(!hidden.has(k))));
      panels.forEach((panel) => panel.toggle());
      dim(null);
    };
    const best = [...new Set(plot.panels.filter((p) => p.optimum && p.lines.length).map((p) => p.optimum[2]))];
    const fixed = best.map((label) => html("span", { class: "fixed" },
      svg("svg", { width: 22, height: 10, "aria-hidden": "true" }, svg("path", { class: "optimum", d: "M0 5H22" })), label));
    figure.querySelector(".legend").append(...buttons, ...fixed);
    set([]);
  }

  function filterClaims() {
    const buttons = document.querySelectorAll(".filter button");
    buttons.forEach((button) => button.addEventListener("click", () => {
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      for (const row of document.querySelectorAll(".claims > tbody > tr")) {
        row.hidden = button.dataset.kind !== "" && row.dataset.kind !== button.dataset.kind;
      }
    }));
  }

  document.documentElement.classList.add("live");
  const plots = JSON.parse(document.getElementById("data").textContent);
  document.querySelectorAll("figure.plot").forEach((figure) => drawPlot(figure, plots[figure.dataset.index]));
  filterClaims();
})();
