// The matrix by the keyboard: one stop for all of its cells, arrows between them, and beside the focused one what
// its title says to the mouse.

const CELL = ".matrix td a[href]";

// --- what a cell means ---

let tip = null;

function hide() {
  tip?.remove();
  tip = null;
}

function place(cell) {
  const { left, bottom } = cell.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.min(bottom + 4, innerHeight - tip.offsetHeight - 8)}px`;
}

function show(link) {
  hide();
  const cell = link.closest("td");
  const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
  tip = document.createElement("div");
  tip.className = "matrix-tip";
  tip.textContent = `${head.textContent.trim().replace(/\s+/g, " ")}: ${link.title}`;
  document.body.append(tip);
  place(cell);
}

// --- arrows ---

function linkIn(row, column) {
  return row?.cells[column]?.querySelector("a[href]");
}

function within(link, step) {
  const cell = link.closest("td");
  for (let one = cell; (one = step > 0 ? one.nextElementSibling : one.previousElementSibling); ) {
    if (one.matches("td") && one.querySelector("a[href]")) return one.querySelector("a[href]");
  }
  return null;
}

function across(link, step) {
  const cell = link.closest("td");
  const rows = cell.closest("table").rows;
  for (let at = cell.parentElement.rowIndex + step; at > 0 && at < rows.length; at += step) {
    const found = linkIn(rows[at], cell.cellIndex);
    if (found) return found;
  }
  return null;
}

const MOVES = {
  ArrowRight: (link) => within(link, 1),
  ArrowLeft: (link) => within(link, -1),
  ArrowDown: (link) => across(link, 1),
  ArrowUp: (link) => across(link, -1),
  Home: (link) => link.closest("tr").querySelector("td a[href]"),
  End: (link) => [...link.closest("tr").querySelectorAll("td a[href]")].at(-1),
};

function stopAt(link) {
  for (const one of link.closest("table").querySelectorAll("td a[href]:not([tabindex])")) one.tabIndex = -1;
  for (const one of link.closest("table").querySelectorAll("td a[tabindex='0']")) one.tabIndex = -1;
  link.tabIndex = 0;
}

function onKey(event) {
  const link = event.target.closest?.(CELL);
  const move = link && !event.ctrlKey && !event.metaKey && !event.altKey && MOVES[event.key];
  if (!move) return;
  event.preventDefault();
  const next = move(link);
  if (!next) return;
  stopAt(next);
  next.focus();
}

// --- a new table ---

function prepare() {
  for (const table of document.querySelectorAll("table.matrix")) {
    const first = table.querySelector("td a[href]");
    if (first && !table.querySelector("td a[tabindex]")) stopAt(first);
  }
}

document.addEventListener("keydown", onKey);
document.addEventListener("focusin", (event) => {
  const link = event.target.closest?.(`${CELL}[title]`);
  if (link?.matches(":focus-visible")) show(link);
  else hide();
});
document.addEventListener("focusout", hide);
document.addEventListener(
  "scroll",
  () => {
    const cell = document.activeElement?.closest(".matrix td");
    if (tip && cell) place(cell);
  },
  true,
);
document.addEventListener("htmx:afterSettle", prepare);
prepare();
