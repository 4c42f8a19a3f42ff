"use strict";

// Draws every chart from the specification inside it. `drawn` on the body: all charts are there.
const views = [];

function draw(place) {
  // The width of the page, because folded parts have none.
  const width = document.querySelector("main").clientWidth;
  const specification = JSON.parse(place.querySelector("script").textContent,
    (key, value) => (key === "columns" ? Math.max(1, Math.floor(width / value)) : value));
  return vegaEmbed(place, specification, { actions: false, renderer: "svg" }).then(
    (result) => views.push(result.view));
}

function showRounds(shown) {
  for (const view of views) {
    if (view.getState().signals && "rounds" in view.getState().signals) {
      view.signal("rounds", shown).runAsync();
    }
  }
}

// In browsers other than Chromium, charts in folded parts have no width until they are opened.
function watchFolds() {
  for (const fold of document.querySelectorAll("details")) {
    fold.addEventListener("toggle", () => window.dispatchEvent(new Event("resize")));
  }
}

// Sorts by the column whose heading was pressed. A second press reverses the order.
function sortTable(table, column, ascending) {
  const key = (row) => {
    const cell = row.cells[column];
    const text = cell.dataset.key ?? cell.textContent;
    return text !== "" && isFinite(text) ? Number(text) : text;
  };
  const order = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => order(key(a), key(b)) * (ascending ? 1 : -1));
  body.append(...rows);
}

function makeSortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const ascending = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sortTable(table, column, ascending);
    });
  });
}

// Opens all folded parts for a print, and closes them afterwards.
function openForPrint() {
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((fold) => (fold.open = true));
  });
  window.addEventListener("afterprint", () => closed.forEach((fold) => (fold.open = false)));
}

document.querySelectorAll("table.sorts").forEach(makeSortable);
document.getElementById("rounds")?.addEventListener("change", (event) => showRounds(event.target.checked));
watchFolds();
openForPrint();
Promise.all([...document.querySelectorAll(".chart")].map(draw)).then(
  () => (document.body.dataset.drawn = views.length));
