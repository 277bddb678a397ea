/** The theme of this browser: that of the system, light or dark. */

import { signal } from "@preact/signals";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "theme";

export const theme = signal<Theme>(THEMES.find((one) => one === document.documentElement.dataset["theme"]) ?? "system");

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A private window may refuse storage; the choice lasts until the next page.
  }
}
