// Choosing incidents of the list: all at once, and how many there are.

const ONE = 'input[type=checkbox][name="incident"]';

function showChosen() {
  const all = document.querySelector("[data-choose-all]");
  if (!all) return;
  const boxes = [...document.querySelectorAll(ONE)];
  const chosen = boxes.filter((box) => box.checked).length;
  all.hidden = false;
  all.checked = chosen === boxes.length;
  all.indeterminate = 0 < chosen && chosen < boxes.length;
  document.querySelector("[data-chosen-count]").textContent = `${chosen} chosen incident${chosen === 1 ? "" : "s"}`;
}

document.addEventListener("change", (event) => {
  if ("chooseAll" in event.target.dataset) {
    for (const box of document.querySelectorAll(ONE)) box.checked = event.target.checked;
  }
  if (event.target.matches(`${ONE}, [data-choose-all]`)) showChosen();
});
document.addEventListener("htmx:afterSettle", showChosen);
// A browser that comes back to the page restores what was chosen.
addEventListener("pageshow", showChosen);
showChosen();
