/** Searches all tools, as agents do. */

import type { ToolsAnswer } from "../src/surfaces/admin/contract.ts";
import { element, show } from "./element.ts";

type FoundTool = ToolsAnswer["tools"][number];

const TONES: Readonly<Record<FoundTool["effect"], string>> = {
  read: "good",
  write: "warn",
  destroy: "bad",
  unknown: "quiet",
};

/** Delay between the last key stroke and the search. */
const PAUSE_MS = 150;

/** Searches while the user types; never shows the answer to an older query. */
export function createToolSearch(find: (query: string, signal: AbortSignal) => Promise<ToolsAnswer>): HTMLElement {
  const box = element("input", { id: "query", "aria-label": "Search tools" });
  box.type = "search";
  box.placeholder = "Search all tools, e.g. list issues";
  box.autocomplete = "off";
  box.spellcheck = false;
  const results = element("div", { class: "results", "aria-live": "polite" });
  let latest = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const search = async (): Promise<void> => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    try {
      const found = await find(box.value.trim(), signal);
      if (!signal.aborted) show(results, renderTools(found));
    } catch (error) {
      if (!signal.aborted) show(results, renderTrouble(error));
    }
  };
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void search(), PAUSE_MS);
  });
  void search();
  return element("div", {}, box, results);
}

function renderTools({ tools, cursor }: ToolsAnswer): HTMLElement {
  if (tools.length === 0) return element("p", { class: "empty" }, "No tool matches.");
  const list = element("ul", { class: "rows" }, ...tools.map(renderTool));
  if (cursor !== undefined) list.append(element("li", { class: "muted" }, "There are more; search to narrow it down."));
  return list;
}

function renderTool({ name, effect, summary }: FoundTool): HTMLElement {
  return element(
    "li",
    {},
    element(
      "div",
      { class: "row" },
      element("code", { class: "name grow" }, name),
      element("span", { class: `badge ${TONES[effect]}` }, effect),
    ),
    element("p", { class: "muted" }, summary),
  );
}

function renderTrouble(error: unknown): HTMLElement {
  return element("p", { class: "cause" }, error instanceof Error ? error.message : "The search failed.");
}
