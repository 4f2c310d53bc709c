// Says what a cell of the matrix means to who comes to it by the keyboard, as its title does to the mouse.

let tip = null;

function hide() {
  tip?.remove();
  tip = null;
}

function show(link) {
  hide();
  const cell = link.closest("td");
  const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
  tip = document.createElement("div");
  tip.className = "matrix-tip";
  tip.textContent = `${head.textContent.trim().replace(/\s+/g, " ")}: ${link.title}`;
  document.body.append(tip);
  const { left, bottom } = cell.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.min(bottom + 4, innerHeight - tip.offsetHeight - 8)}px`;
}

document.addEventListener("focusin", (event) => {
  const link = event.target.closest?.(".matrix td a[title]");
  if (link?.matches(":focus-visible")) show(link);
  else hide();
});
document.addEventListener("focusout", hide);
document.addEventListener("scroll", hide, true);
