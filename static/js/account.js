// Offers the time zone of the browser where another one is chosen.

for (const offer of document.querySelectorAll("[data-browser-zone]")) {
  const select = document.getElementById(offer.dataset.browserZone);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const isKnown = [...select.options].some((option) => option.value === zone);
  const show = () => { offer.hidden = !isKnown || select.value === zone; };
  offer.querySelector("b").textContent = zone.replaceAll("_", " ");
  offer.querySelector("button").addEventListener("click", () => {
    select.value = zone;
    show();
  });
  select.addEventListener("change", show);
  show();
}
