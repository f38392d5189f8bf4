"use strict";
(() => {
  const FEW = 15;
  const tip = document.getElementById("tip");
  const all = (root, query) => Array.from(root.querySelectorAll(query));

  // -- theme ------------------------------------------------------------------------------------

  const theme = document.querySelector(".theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";

  function labelTheme() {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
    theme.setAttribute("aria-pressed", String(isDark()));
  }
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    labelTheme();
  });
  prefersDark.addEventListener("change", labelTheme);
  labelTheme();

  // -- one target -------------------------------------------------------------------------------

  function setList(list, texts) {
    list.replaceChildren(...texts.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  }

  function showLevel(section, level) {
    const now = section.payload.levels[level];
    section.level = level;
    for (const node of all(section.root, "[data-text]")) {
      node.textContent = now[node.dataset.text];
      node.hidden = !node.textContent;
    }
    all(section.root, "[data-part]").forEach((node, k) => { node.textContent = now.parts[k][1]; });
    for (const list of all(section.root, "[data-list]")) {
      setList(list, now.lists[list.dataset.list]);
    }
    all(section.root, "[data-budget]").forEach((cell, k) => { cell.textContent = now.budgets[k]; });
    all(section.root, "[data-column]").forEach((group, k) => moveWhisker(group, now.walk[k]));
    for (const detail of all(section.root, "[data-detail]")) showShares(detail, now);
    all(section.root, "[data-cell]").forEach((cell, k) => { cell.textContent = now.table[k]; });
    if (section.variable) drawProfile(section, section.variable);
  }

  function moveWhisker(group, [top, bottom, label, clear, cut]) {
    for (const line of all(group, "line")) {
      line.setAttribute("y1", top);
      line.setAttribute("y2", bottom);
    }
    group.querySelector(".value").setAttribute("y", label);
    group.classList.toggle("unclear", !clear);
    for (const side of ["up", "down"]) group.classList.toggle(side, cut.includes(side));
  }

  function showLine(row, [from, to, interval, , , cut]) {
    const whisker = row.querySelector(".whisker");
    whisker.setAttribute("x1", `${from}%`);
    whisker.setAttribute("x2", `${to}%`);
    row.querySelector("[data-interval]").textContent = interval;
    for (const side of ["left", "right"]) row.classList.toggle(side, cut.includes(side));
  }

  function showShares(detail, now) {
    const lines = now.lines[detail.dataset.detail];
    for (const row of all(detail, "[data-row]")) {
      const line = lines[Number(row.dataset.row)];
      const said = line[3];
      showLine(row, line);
      row.classList.toggle("leads", Boolean(said));
      const tag = row.querySelector(".lead");
      tag.textContent = said;
      tag.hidden = !said || said === "clear";
    }
    const note = detail.querySelector("[data-leads]");
    if (note) note.hidden = !lines.some(([, , , said]) => said);
  }

  // -- sort, filter, fold -----------------------------------------------------------------------

  function prepareShares(section, detail) {
    const table = detail.querySelector(".shares");
    if (!table) return;
    const body = table.tBodies[0];
    const facts = section.payload.rows[detail.dataset.detail];
    const rows = all(body, "tr");
    const state = { filter: "", folded: rows.length > FEW };
    const more = detail.querySelector("[data-more]");

    function refresh() {
      let shown = 0;
      for (const row of all(body, "tr")) {
        const name = facts[Number(row.dataset.row)][0].toLocaleLowerCase();
        const fits = name.includes(state.filter);
        const folded = fits && state.folded && !state.filter && shown >= FEW;
        row.hidden = !fits || folded;
        row.toggleAttribute("data-folded", folded);
        shown += row.hidden ? 0 : 1;
      }
      if (more) {
        more.textContent = state.folded ? "Show all" : "Show fewer";
        more.setAttribute("aria-expanded", String(!state.folded));
        more.hidden = Boolean(state.filter);
      }
    }

    const value = { name: (f) => f[0], share: (f) => f[5], last: (f) => f[3] };
    for (const button of all(table, "[data-sort]")) {
      button.addEventListener("click", () => {
        const header = button.parentElement;
        const key = button.dataset.sort;
        const natural = key === "share" ? "descending" : "ascending";
        const other = natural === "ascending" ? "descending" : "ascending";
        const order = header.getAttribute("aria-sort") === natural ? other : natural;
        for (const one of all(table, "[aria-sort]")) one.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const of = (row) => value[key](facts[Number(row.dataset.row)]);
        const compare = (a, b) => (key === "name" ? of(a).localeCompare(of(b)) : of(a) - of(b));
        body.append(...all(body, "tr").sort((a, b) => sign * compare(a, b)));
        refresh();
      });
    }
    section.find.push((text) => { state.filter = text; refresh(); });
    if (more) more.addEventListener("click", () => { state.folded = !state.folded; refresh(); });
    for (const row of rows) prepareTip(section, detail, row, facts[Number(row.dataset.row)]);
    refresh();
  }

  // The words of `text()` beside the pointer, or beside what has the focus; Escape hides them.
  function addTip(node, text) {
    const show = (x, y) => {
      tip.textContent = text();
      tip.hidden = false;
      const box = tip.getBoundingClientRect();
      tip.style.left = `${Math.max(8, Math.min(x + 14, window.innerWidth - box.width - 8))}px`;
      tip.style.top = `${y + 18 + box.height > window.innerHeight ? y - box.height - 12 : y + 18}px`;
    };
    const hide = () => { tip.hidden = true; };
    node.addEventListener("mousemove", (event) => show(event.clientX, event.clientY));
    node.addEventListener("mouseleave", hide);
    node.addEventListener("focusin", () => {
      const box = node.getBoundingClientRect();
      if (node.matches(":focus-visible") || node.querySelector(":focus-visible")) show(box.left + 40, box.bottom - 12);
    });
    node.addEventListener("focusout", hide);
    node.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  }

  function prepareTip(section, detail, row, fact) {
    const [name, exact, last, , adjusted] = fact;
    const label = detail.querySelector("[data-sort=last]").textContent.toLowerCase();
    const text = () => {
      const now = section.payload.levels[section.level];
      const [, , interval, , ranks] = now.lines[detail.dataset.detail][Number(row.dataset.row)];
      const lines = [name, exact, `${now.name} interval ${interval}`, `${label} ${last}`];
      if (adjusted) lines.push(`adjusted for all variables ${adjusted}`);
      if (ranks) lines.push(`rank ${ranks}`);
      return lines.join("\n");
    };
    addTip(row, text);
  }

  // -- copy -------------------------------------------------------------------------------------

  const clean = (node) => node.textContent.trim().replace(/\s+/g, " ").replace(/\u2212/g, "-");

  // What a cell says, without the buttons and tags beside a name.
  function cellText(cell) {
    const parts = all(cell, "bdi, small");
    return (parts.length && cell.tagName === "TH" ? parts : [cell]).map(clean).join(", ");
  }

  function tableText(table, kind) {
    const shown = all(table, "tr").filter((row) => !row.hidden);
    const rows = shown.map((row) => all(row, "th, td").filter((cell) => !cell.hasAttribute("aria-hidden")).map(cellText));
    if (kind === "tsv") return rows.map((row) => row.join("\t")).join("\n");
    const escape = (text) => text.replace(/([\\|*_`<>])/g, "\\$1");
    const lines = rows.map((row) => `| ${[...row.map(escape), ...Array(4 - row.length).fill("")].join(" | ")} |`);
    lines.splice(1, 0, "|:---|---:|---:|---:|");
    return lines.join("\n");
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  const COPIED = { true: "Copied.", false: "The browser refused; select the table instead." };

  // A button that copies the nearest table; what became of it is said beside the button.
  function prepareCopies(root) {
    for (const button of all(root, "[data-copy], [data-copy-table]")) {
      const holder = button.closest(".box, section");
      button.addEventListener("click", async () => {
        const done = await copy(tableText(holder.querySelector("table"), button.dataset.copy || "tsv"));
        button.parentElement.querySelector("[data-copied]").textContent = COPIED[done];
      });
    }
  }

  // -- download ---------------------------------------------------------------------------------

  function numbersText(sections, kind) {
    const several = sections.length > 1;
    const columns = [...(several ? ["target"] : []), ...sections[0].payload.data.columns];
    const rows = sections.flatMap(({ root, payload }) => payload.data.rows.map((row) => (several ? [root.dataset.target, ...row] : row)));
    if (kind === "json") {
      return JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((name, k) => [name, row[k] === "" ? null : row[k]]))), null, 1);
    }
    const quoted = (cell) => (/[",\n]/.test(cell) ? `"${String(cell).replace(/"/g, '""')}"` : cell);
    return [columns, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  }

  function prepareDownloads(root, sections) {
    for (const button of all(root, "[data-download]")) {
      const kind = button.dataset.download;
      button.addEventListener("click", () => {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([numbersText(sections, kind)], { type: kind === "csv" ? "text/csv" : "application/json" }));
        link.download = `whygap.${kind}`;
        link.click();
        URL.revokeObjectURL(link.href);
      });
    }
  }

  // -- find a variable --------------------------------------------------------------------------

  function prepareFind(section) {
    const field = section.root.querySelector("[data-find]");
    const found = section.root.querySelector("[data-found]");
    const opened = new Set();
    const numbers = all(section.root, "[data-table] tbody tr:not(.head)");
    section.find.push((text) => {
      for (const row of numbers) row.hidden = !row.cells[0].textContent.toLocaleLowerCase().includes(text);
    });
    field.addEventListener("input", () => {
      const text = field.value.trim().toLocaleLowerCase();
      for (const show of section.find) show(text);
      const rows = all(section.root, "[data-row]").filter((row) => !row.hidden);
      for (const one of all(section.root, "details.opened")) {
        const holds = text && rows.some((row) => one.contains(row));
        if (holds && !one.open) opened.add(one);
        if (opened.has(one)) one.open = Boolean(holds);
      }
      found.textContent = text ? `${rows.length} lines in the charts below` : "";
    });
  }

  // -- begin ------------------------------------------------------------------------------------

  const sections = all(document, "[data-target]").map((root) => {
    const payload = JSON.parse(root.querySelector("[data-payload]").textContent);
    return { root, payload, level: payload.first, variable: null, find: [] };
  });
  sections.forEach((section) => {
    for (const detail of all(section.root, "[data-detail]")) prepareShares(section, detail);
    const select = section.root.querySelector("[data-variable]");
    const pick = (name) => { section.variable = name; select.value = name; drawProfile(section, name); };
    if (select) {
      select.addEventListener("change", () => pick(select.value));
      pick(select.value);
    }
    for (const button of all(section.root, "[data-open]")) {
      button.addEventListener("click", () => {
        pick(button.dataset.open);
        section.root.querySelector("[data-closer]").scrollIntoView();
        select.focus({ preventScroll: true });
      });
    }
    prepareCopies(section.root);
    prepareDownloads(section.root, [section]);
    prepareFind(section);
    all(section.root, "[data-column]").forEach((group, k) => {
      addTip(group.closest("a") || group, () => section.payload.levels[section.level].walk[k][5]);
    });
    for (const link of all(section.root, "[data-opens]")) {
      link.addEventListener("click", () => {
        const part = document.getElementById(link.dataset.opens);
        if (part.tagName === "DETAILS") part.open = true;
      });
    }
  });
  const redraw = () => {
    for (const section of sections) if (section.variable) drawProfile(section, section.variable);
  };
  window.addEventListener("resize", redraw);
  let folded = [];
  window.addEventListener("beforeprint", () => {
    redraw();
    folded = all(document, "details.opened:not([open])");
    for (const one of folded) one.open = true;
  });
  window.addEventListener("afterprint", () => { for (const one of folded) one.open = false; });

  // -- several targets --------------------------------------------------------------------------

  const overview = document.querySelector("[data-several]");
  const together = overview ? JSON.parse(overview.textContent) : null;
  let shownLevel = sections[0].level;

  function showAllTargets(level) {
    const now = together[level];
    shownLevel = level;
    setList(document.querySelector("[data-many-answers]"), now.answers);
    for (const node of all(document, "[data-many-name]")) node.textContent = sections[0].payload.levels[level].name;
    all(document, "[data-many-span]").forEach((cell, k) => { cell.textContent = now.spans[k]; });
    all(document, "[data-differs]").forEach((tag, k) => { tag.textContent = now.differs[k]; tag.hidden = !now.differs[k]; });
    all(document, "[data-mark]").forEach((mark, k) => {
      const [top, bottom, text, clear] = now.marks[k];
      const whisker = mark.querySelector(".whisker");
      whisker.setAttribute("y1", top);
      whisker.setAttribute("y2", bottom);
      mark.classList.toggle("clear", clear);
      if (mark.parentElement.tagName === "a") mark.parentElement.setAttribute("aria-label", text);
    });
  }
  if (together) {
    prepareCopies(document.getElementById("all"));
    prepareDownloads(document.getElementById("all"), sections);
  }
  for (const mark of all(document, "[data-mark]")) {
    const text = () => together[shownLevel].marks[Number(mark.dataset.mark)][2];
    addTip(mark.parentElement.tagName === "a" ? mark.parentElement : mark, text);
  }

  for (const input of all(document, "input[name=level]")) {
    input.addEventListener("change", () => {
      for (const section of sections) showLevel(section, input.value);
      if (together) showAllTargets(input.value);
    });
  }
})();
