/** Sets the theme before the first paint. Runs as a script of its own, so that the page never flashes. */

try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch {
  // Without storage the theme of the system is used.
}
