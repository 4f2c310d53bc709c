// Runs before the first paint, so that neither a chosen theme nor a closed notice flashes.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    // Whoever closed the notice of a project knows it, until it says something else.
    const { notice } = root.dataset;
    if (notice && localStorage.getItem("closed-notices")?.split(" ").includes(notice)) root.classList.add("notice-closed");
  } catch {
    // Storage may be switched off; then the system's theme it is.
  }
})();
