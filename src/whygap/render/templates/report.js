"use strict";
(() => {
  const all = (root, query) => Array.from(root.querySelectorAll(query));

  // -- theme ------------------------------------------------------------------------------------

  const theme = document.querySelector("[data-theme-button]");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";

  function labelTheme() {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", isDark() ? "Light: use light colours" : "Dark: use dark colours");
  }
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    labelTheme();
  });
  prefersDark.addEventListener("change", labelTheme);
  theme.hidden = false;
  labelTheme();

  // -- sections: links open what they lead to; print opens everything ------------------------------

  function reveal() {
    const goal = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!goal) return;
    for (let node = goal; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
    goal.scrollIntoView();
    const summary = goal.querySelector("summary");
    if (summary) summary.focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", reveal);
  for (const link of all(document, 'a[href^="#"]')) {
    link.addEventListener("click", () => { if (link.getAttribute("href") === location.hash) reveal(); });
  }
  reveal();

  for (const button of all(document, "[data-open-all]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const sections = all(button.closest("nav").parentElement, ":scope > details.section");
      const open = sections.some((section) => !section.open);
      for (const section of sections) section.open = open;
      button.textContent = open ? "Close all" : "Open all";
    });
  }

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = all(document, "details:not([open])");
    for (const section of closed) section.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const section of closed) section.open = false;
  });

  // -- the table of all numbers: search, sort, copy ------------------------------------------------

  const text = (row, column) => row.cells[column].textContent.trim();
  const number = (row, column) => {
    const value = parseFloat(text(row, column).replace("\u2212", "-").replace(/,/g, ""));
    return Number.isNaN(value) ? Infinity : value;
  };
  const lines = (body) => all(body, "tr:not(.head)");

  function sort(table, header) {
    const column = header.cellIndex;
    const order = header.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of all(table, "[aria-sort]")) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = (a, b) => (column === 0
      ? text(a, 0).localeCompare(text(b, 0))
      : number(a, column) - number(b, column) || 0);
    for (const body of table.tBodies) body.append(...lines(body).sort((a, b) => sign * compare(a, b)));
  }

  function search(table, words) {
    let count = 0;
    for (const body of table.tBodies) {
      const heading = body.rows[0].textContent.toLocaleLowerCase();
      let some = false;
      for (const row of lines(body)) {
        const fits = heading.includes(words) || row.textContent.toLocaleLowerCase().includes(words);
        row.hidden = !fits;
        some = some || fits;
        count += fits ? 1 : 0;
      }
      body.hidden = !some;
    }
    return count;
  }

  function copied(table) {
    const rows = all(table, "tr").filter((row) => !row.hidden && !row.parentElement.hidden);
    return rows.map((row) => all(row, "th, td").map((cell) => cell.textContent.trim()).join("\t")).join("\n");
  }

  async function copy(table, status) {
    try {
      await navigator.clipboard.writeText(copied(table));
      status.textContent = "Copied.";
    } catch {
      window.getSelection().selectAllChildren(table);
      status.textContent = "Selected: press Ctrl+C to copy.";
    }
  }

  for (const table of all(document, "[data-table]")) {
    const section = table.closest("details");
    const status = section.querySelector("[data-status]");
    for (const button of all(table, "[data-sort]")) {
      button.addEventListener("click", () => sort(table, button.parentElement));
    }
    section.querySelector("[data-search]").addEventListener("input", (event) => {
      const words = event.target.value.trim().toLocaleLowerCase();
      const count = search(table, words);
      status.textContent = words ? `${count} lines` : "";
    });
    section.querySelector("[data-copy]").addEventListener("click", () => copy(table, status));
  }
})();
