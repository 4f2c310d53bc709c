// The name of a project in addresses is proposed from its name, until somebody types another.

const MAX_LENGTH = 50;

function slugOf(name) {
  const letters = name.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const words = letters.toLowerCase().replace(/[^a-z0-9_\s-]/g, "");
  return words.trim().replace(/[\s-]+/g, "-").slice(0, MAX_LENGTH).replace(/^[-_]+|[-_]+$/g, "");
}

for (const slug of document.querySelectorAll("[data-proposed-from]")) {
  const name = document.getElementById(slug.dataset.proposedFrom);
  name.addEventListener("input", () => {
    if (!("isChosen" in slug.dataset)) slug.value = slugOf(name.value);
  });
  slug.addEventListener("input", () => {
    if (slug.value) slug.dataset.isChosen = "";
    else delete slug.dataset.isChosen;
  });
}
