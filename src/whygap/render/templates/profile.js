"use strict";
// Draws the closer look at one variable; report.js calls it.
const drawProfile = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const minus = (text) => String(text).replace(/-/g, "\u2212");

  function element(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function number(section, value) {
    const shown = section.payload.share ? 100 * value : value;
    const text = section.payload.share ? Number(shown.toFixed(1)).toString() : Number(shown.toPrecision(3)).toString();
    return minus(value > 0 ? `+${text}` : text);
  }

  function draw(section, variable) {
    const profile = section.payload.profiles.find((one) => one.variable === variable);
    const holder = section.root.querySelector("[data-profile]");
    if (!profile || !holder) return;
    const now = section.payload.levels[section.level];
    const wide = now.wide[variable];
    holder.replaceChildren(
      titled(`Share of rows in each domain`), keys(section), shareChart(section, profile),
      titled(`Mean change due to the outcome along ${variable}${section.payload.share ? " (points)" : ""}, ${now.name} intervals, all groups at once`),
      gapChart(section, profile, wide), numbersOf(section, profile, wide, now.name),
    );
  }

  function titled(text) {
    const made = document.createElement("p");
    made.className = "chart-title";
    made.textContent = text;
    return made;
  }

  function keys(section) {
    const made = document.createElement("div");
    made.className = "key";
    section.payload.names.forEach((name, k) => {
      const one = document.createElement("span");
      const box = document.createElement("i");
      box.className = k ? "to" : "from";
      one.append(box, name);
      made.append(one);
    });
    return made;
  }

  function roundTicks(low, high, about) {
    const raw = (high - low) / about;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((one) => one >= raw * 0.999);
    const ticks = [];
    for (let k = Math.ceil(low / step); k <= Math.floor(high / step); k += 1) ticks.push(k * step);
    return ticks;
  }

  const place = (k, count) => 9 + (k + 0.5) * (91 / count);

  function chart(label, height) {
    const made = element("svg", { class: "chart", width: "100%", height, role: "img", "aria-label": label });
    return made;
  }

  function shareChart(section, profile) {
    const made = chart(`Distribution of ${profile.variable} in both domains; numbers below`, 120);
    const most = Math.max(...profile.source, ...profile.target, 1e-9);
    const half = Math.min(32 / profile.bins.length, 6);
    for (const tick of roundTicks(0, most, 2)) {
      const y = 112 - 96 * (tick / most);
      made.append(element("line", { class: "grid", x1: 0, x2: "100%", y1: y, y2: y }));
      made.append(element("text", { class: "tick", x: 0, y: y - 3 }, `${Number((100 * tick).toPrecision(3))}%`));
    }
    profile.bins.forEach((_, k) => {
      [profile.source[k], profile.target[k]].forEach((share, side) => {
        const tall = 96 * (share / most);
        made.append(element("rect", {
          class: side ? "to" : "from", x: `${place(k, profile.bins.length) - half * (1 - side)}%`,
          width: `${half * 0.94}%`, y: 112 - tall, height: tall,
        }));
      });
    });
    return made;
  }

  // Bins of which nearly nothing is known must not flatten the others.
  function usual(known) {
    const errors = known.map(([, error]) => error).sort((a, b) => a - b);
    const middle = errors[Math.floor((errors.length - 1) / 2)];
    return known.filter(([, error]) => error <= 6 * middle);
  }

  function gapChart(section, profile, wide) {
    const holder = section.root.querySelector("[data-profile]");
    const room = (0.91 * holder.clientWidth) / profile.bins.length;
    const slanted = profile.bins.some((name) => Math.min(name.length, 17) * 7 > room);
    const made = chart(`Change due to the outcome along ${profile.variable}; numbers below`, slanted ? 250 : 190);
    const known = profile.gap.map((gap, k) => [gap, profile.error[k], k]).filter(([g, e]) => g !== null && e !== null);
    const ends = usual(known).flatMap(([gap, error, k]) => [gap - wide[k] * error, gap + wide[k] * error]).concat(0);
    const low = Math.min(...ends);
    const high = Math.max(...ends, low + 1e-12);
    const y = (value) => Math.max(12, Math.min(158, 150 - 130 * ((value - low) / (high - low))));
    for (const tick of roundTicks(low, high, 3)) {
      made.append(element("line", { class: tick === 0 ? "whisker" : "grid", x1: 0, x2: "100%", y1: y(tick), y2: y(tick) }));
      made.append(element("text", { class: "tick", x: 0, y: y(tick) - 3 }, tick === 0 ? "0" : number(section, tick)));
    }
    for (const [gap, error, k] of known) {
      const x = `${place(k, profile.bins.length)}%`;
      const [from, to] = [gap - wide[k] * error, gap + wide[k] * error];
      made.append(element("line", { class: "whisker", x1: x, x2: x, y1: y(from), y2: y(to) }));
      for (const [end, sign] of [[from, -1], [to, 1]]) {
        if (end >= low && end <= high) continue;
        const arrow = element("svg", { x, y: y(end), overflow: "visible" });
        arrow.append(element("path", { class: "more-there", d: `M-4,${4 * sign} L0,${-3 * sign} L4,${4 * sign}` }));
        made.append(arrow);
      }
      if (gap >= low && gap <= high) made.append(element("circle", { class: "gap", cx: x, cy: y(gap), r: 5.5 }));
    }
    profile.bins.forEach((name, k) => {
      const short = name.length > 16 ? `${name.slice(0, 15)}…` : name;
      const spot = element("svg", { x: `${place(k, profile.bins.length)}%`, y: 172, overflow: "visible" });
      const turn = slanted ? { class: "slanted", transform: "rotate(-38)" } : {};
      spot.append(element("text", turn, short));
      made.append(spot);
    });
    return made;
  }

  function numbersOf(section, profile, wide, levelName) {
    const made = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "The numbers";
    const holder = document.createElement("div");
    holder.className = "scroll";
    holder.tabIndex = 0;
    holder.setAttribute("role", "region");
    holder.setAttribute("aria-label", `Numbers of ${profile.variable}`);
    const table = document.createElement("table");
    table.className = "plain";
    const heads = [profile.variable, ...section.payload.names, "Change", `${levelName} interval`];
    const line = (cells, tag) => {
      const row = document.createElement("tr");
      cells.forEach((text, k) => {
        const cell = document.createElement(k === 0 || tag === "th" ? "th" : "td");
        if (cell.tagName === "TH") cell.scope = tag === "th" ? "col" : "row";
        cell.textContent = text;
        row.append(cell);
      });
      return row;
    };
    table.createTHead().append(line(heads, "th"));
    const body = table.createTBody();
    profile.bins.forEach((name, k) => {
      const [gap, error] = [profile.gap[k], profile.error[k]];
      const told = gap !== null && error !== null;
      body.append(line([
        name, `${(100 * profile.source[k]).toFixed(1)}%`, `${(100 * profile.target[k]).toFixed(1)}%`,
        told ? number(section, gap) : "unknown",
        told ? `${number(section, gap - wide[k] * error)} to ${number(section, gap + wide[k] * error)}` : "",
      ], "td"));
    });
    holder.append(table);
    made.append(summary, holder);
    return made;
  }

  return draw;
})();
