// Swagger UI has colours of its own for the dark; it takes them from a class.

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function followTheme() {
  const { theme } = document.documentElement.dataset;
  document.documentElement.classList.toggle("dark-mode", theme ? theme === "dark" : systemIsDark.matches);
}

followTheme();
systemIsDark.addEventListener("change", followTheme);
document.addEventListener("themechange", followTheme);
