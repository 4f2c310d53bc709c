// What every page can do: theme, keys, menus, filters, confirmation, copying, tables as CSV and JSON.

const THEMES = ["", "light", "dark"];
const THEME_NAMES = { "": "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };

function showTheme(theme) {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.title = THEME_NAMES[theme];
    button.querySelector("[data-theme-name]").textContent = THEME_NAMES[theme];
  }
}

function nextTheme() {
  const root = document.documentElement;
  const theme = THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % THEMES.length];
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  try {
    if (theme) localStorage.setItem("theme", theme);
    else localStorage.removeItem("theme");
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  showTheme(theme);
  document.dispatchEvent(new CustomEvent("themechange"));
}

function closeNotice() {
  const root = document.documentElement;
  root.classList.add("notice-closed");
  try {
    const closed = localStorage.getItem("closed-notices")?.split(" ") ?? [];
    localStorage.setItem("closed-notices", [...new Set([...closed, root.dataset.notice])].join(" "));
  } catch {
    // Without storage it is closed as long as the page.
  }
  document.getElementById("content").focus({ preventScroll: true });
}

function isTyping(target) {
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

const OPEN_MENUS = "details[open].menu, details[open].chip";

function onKey(event) {
  if (event.key === "Escape") {
    // The answer to a choice may just have replaced the page, and the focus with it.
    const open = event.target.closest?.(OPEN_MENUS) ?? document.querySelector(OPEN_MENUS);
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const target = document.querySelector(`[data-shortcut="${CSS.escape(event.key)}"]`);
  if (target) {
    event.preventDefault();
    target.focus();
    target.select?.();
  }
}

function closeMenusOutside(target) {
  for (const open of document.querySelectorAll(OPEN_MENUS)) {
    if (!open.contains(target)) open.open = false;
  }
}

function onClick(event) {
  closeMenusOutside(event.target);
  const chosen = event.target.closest(".chart-tools .menu-list :is(a, button)");
  // A link that was copied says so there.
  if (chosen && !("copyLink" in chosen.dataset)) chosen.closest("details").open = false;
  const button = event.target.closest("button");
  if (!button) return;
  if ("themeToggle" in button.dataset) nextTheme();
  if ("closeNotice" in button.dataset) closeNotice();
  if ("copy" in button.dataset) copy(button.dataset.copy, button);
  if ("copyLink" in button.dataset) copy(new URL(`#${button.dataset.copyLink}`, location).href, button);
  if ("csvOf" in button.dataset) saveCsv(tablesOf(button.dataset.csvOf));
  if ("jsonOf" in button.dataset) saveJson(tablesOf(button.dataset.jsonOf));
  if ("unfold" in button.dataset) {
    const open = document.getElementById(button.dataset.unfold).classList.toggle("is-unfolded");
    button.setAttribute("aria-expanded", String(open));
  }
}

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = label), 1500);
}

// --- filters: the whole choice in the address, and nothing empty in it ---

// A new page takes the place of the old one as it is. By itself htmx would look for each element with an id in the
// old one, and take leave of each old one with an event: half a second on a slow machine.
htmx.defineExtension("whole", {
  handleSwap(style, target, fragment, settled) {
    if (style !== "whole") return false;
    const added = [...fragment.children];
    target.replaceWith(fragment);
    settled.elts.push(...added);
    return added;
  },
});

function tidyParameters(event) {
  const form = event.detail.elt;
  if (form.id !== "filters") return;
  const parameters = event.detail.parameters;
  const own = new Set([...form.elements].map((element) => element.name));
  for (const name of new Set(own)) {
    if (name && [...parameters.getAll(name)].every((value) => value === "")) parameters.delete(name);
  }
  // What a chart keeps in the address stays; a page number belongs to the old choice.
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (!own.has(name) && name !== "page") parameters.append(name, value);
  }
}

function narrow(input) {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const label of input.closest(".chip-menu").querySelectorAll("label")) {
    const text = label.textContent.toLowerCase();
    label.hidden = !words.every((word) => text.includes(word));
  }
}

document.addEventListener("input", (event) => {
  if ("narrow" in event.target.dataset) narrow(event.target);
});
document.addEventListener(
  "change",
  (event) => {
    if ("narrow" in event.target.dataset) event.stopPropagation();
    else if (event.target.type === "radio" && !event.target.matches(":focus-visible")) {
      // Arrow keys pass over choices on their way to the one that is meant: their menu stays open.
      const chip = event.target.closest(".chip");
      chip?.querySelector("summary").focus();
      if (chip) chip.open = false;
    }
  },
  true,
);
document.addEventListener("htmx:configRequest", tidyParameters);

// --- a new page in the place of the old one: what was open stays open, and the focus where it was ---

const FOCUSABLE = "a[href], button, input:not([type=hidden]), select, summary, [tabindex]";

let left = null;

function withIds(element) {
  const found = [];
  for (let one = element; one; one = one.parentElement) if (one.id) found.push(one.id);
  return found;
}

function leave() {
  const open = [...document.querySelectorAll("#page details[open][id]")];
  left = {
    focused: withIds(document.activeElement?.closest("#page") && document.activeElement),
    open: open.map(({ id }) => ({ id, scrolled: document.querySelector(`#${CSS.escape(id)} > .chip-menu`)?.scrollTop })),
    unfolded: document.getElementById("filters")?.classList.contains("is-unfolded"),
  };
}

function reopen({ open, unfolded }) {
  if (unfolded) document.querySelector("[data-unfold=filters]")?.click();
  for (const { id, scrolled } of open) {
    const details = document.getElementById(id);
    if (!details?.matches("details")) continue;
    details.open = true;
    const menu = details.querySelector(":scope > .chip-menu");
    if (menu && scrolled) menu.scrollTop = scrolled;
  }
}

// The control itself, or if it is gone or hidden, the nearest thing around it that can have the focus.
function focusOn(ids) {
  for (const id of ids) {
    const element = document.getElementById(id);
    const inside = () => [...element.querySelectorAll(FOCUSABLE)].find((one) => one.checkVisibility());
    const target = element && (element.matches(FOCUSABLE) ? element : inside());
    if (!target?.checkVisibility()) continue;
    target.focus({ preventScroll: true });
    return;
  }
}

// For who does not see the page: how much there is now.
function tell() {
  const found = document.querySelector("#page [data-told], #page .empty h2");
  document.getElementById("told").textContent = found?.textContent.trim().replace(/\s+/g, " ") ?? "";
}

document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id === "page") leave();
});
document.addEventListener("htmx:afterSwap", () => {
  if (!left) return;
  const before = left;
  left = null;
  reopen(before);
  focusOn(before.focused);
  tell();
});

function tellTrouble(text) {
  document.querySelector(".message-trouble")?.remove();
  const message = document.createElement("p");
  message.className = "message message-error message-trouble";
  message.setAttribute("role", "alert");
  message.textContent = text;
  document.getElementById("content").prepend(message);
}
document.addEventListener("htmx:responseError", (event) => {
  tellTrouble(`The server answered ${event.detail.xhr.status}; what is shown is as before. Load the page again.`);
});
document.addEventListener("htmx:sendError", () => {
  tellTrouble("The server was not reached; what is shown is as before. Try again when it is.");
});

// --- dangerous buttons ask ---

document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  const dialog = document.getElementById("confirm");
  if (!question || !dialog || "confirmed" in form.dataset) return;
  event.preventDefault();
  dialog.querySelector("p").textContent = question;
  dialog.querySelector("button[value=yes]").textContent = event.submitter?.textContent.trim() || "Yes";
  dialog.returnValue = "";
  dialog.addEventListener(
    "close",
    () => {
      if (dialog.returnValue !== "yes") return;
      form.dataset.confirmed = "";
      form.requestSubmit(event.submitter);
      delete form.dataset.confirmed;
    },
    { once: true },
  );
  dialog.showModal();
});

// --- tables as files: the exact value of a cell is in data-value, else its text ---

// What a spreadsheet would take for a formula; numbers and changes in per cent are none.
const FORMULA = /^[=@]|^[+-](?!\d[\d.,]*(e[+-]?\d+)?(\s?%)?$)/;

function plainCell(cell) {
  return cell.dataset.value ?? cell.textContent.trim().replace(/\s+/g, " ");
}

function csvCell(cell) {
  const plain = plainCell(cell);
  const text = FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Tables under each other are one: the first has the heads for all.
function tablesOf(ids) {
  return ids.trim().split(" ").map((id) => document.getElementById(id));
}

function rowsOf([first, ...others]) {
  return [...first.rows, ...others.flatMap((table) => [...table.tBodies].flatMap((body) => [...body.rows]))];
}

function tableCsv(tables) {
  const rows = rowsOf(tables).map((row) => [...row.cells].map(csvCell).join(","));
  return rows.join("\r\n") + "\r\n";
}

function jsonCell(cell) {
  const plain = plainCell(cell);
  return cell.dataset.value !== undefined && plain !== "" && isFinite(plain) ? Number(plain) : plain;
}

function tableJson(tables) {
  const [head, ...body] = rowsOf(tables).map((row) => [...row.cells].map(jsonCell));
  return JSON.stringify({ title: tables[0].caption?.textContent.trim() ?? "", columns: head, rows: body });
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function saveJson(tables) {
  save(new Blob([tableJson(tables)], { type: "application/json" }), `${tables[0].id || "table"}.json`);
}

function saveCsv(tables) {
  save(new Blob(["﻿", tableCsv(tables)], { type: "text/csv;charset=utf-8" }), `${tables[0].id || "table"}.csv`);
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", onClick);
showTheme(document.documentElement.dataset.theme ?? "");

// --- wide tables ---

// A table that scrolls can be scrolled with the keyboard, and others are no stop on the way.
function stopAtWideTables() {
  for (const box of document.querySelectorAll(".table-box:not([role])")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
stopAtWideTables();
window.addEventListener("resize", stopAtWideTables);
document.addEventListener("htmx:afterSettle", stopAtWideTables);
