// Runs before the first paint, so that a chosen theme does not flash. The choice is "light", "dark" or none.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage may be switched off; then the system's theme it is.
  }
})();
