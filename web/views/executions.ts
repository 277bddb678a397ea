/** The latest executions, newest first. */

import type { ExecutionsAnswer } from "../../src/surfaces/admin/contract.ts";
import { element } from "../element.ts";
import { formatAge, formatDuration } from "../format.ts";

type ListedExecution = ExecutionsAnswer["executions"][number];

const TONES: Readonly<Record<ListedExecution["state"], string>> = {
  completed: "good",
  failed: "bad",
  running: "info",
  paused: "warn",
  cancelled: "quiet",
};

/** `now` in epoch milliseconds, for the ages. */
export function renderExecutions(executions: readonly ListedExecution[], now: number): HTMLElement {
  if (executions.length === 0) {
    return element("p", { class: "empty" }, "Nothing has run yet. Ask your agent for something that needs a tool.");
  }
  const titles = ["State", "Started", "Took", "Error", "Execution"].map((title) => element("th", {}, title));
  const rows = executions.map((execution) => renderRow(execution, now));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...rows));
  return element("div", { class: "scroll" }, table);
}

function renderRow({ id, state, errorCode, startedAt, endedAt }: ListedExecution, now: number): HTMLElement {
  const started = element("time", { title: new Date(startedAt).toLocaleString() }, formatAge(now - startedAt));
  started.dateTime = new Date(startedAt).toISOString();
  return element(
    "tr",
    {},
    element("td", {}, element("span", { class: `badge ${TONES[state]}` }, state)),
    element("td", { class: "number" }, started),
    element("td", { class: "number" }, endedAt === null ? "…" : formatDuration(endedAt - startedAt)),
    element("td", {}, errorCode === null ? "" : element("code", {}, errorCode)),
    element("td", {}, element("code", { class: "muted" }, id)),
  );
}
