/** The latest executions, newest first. */

import type { ExecutionsAnswer } from "../../src/surfaces/admin/contract.ts";
import { element } from "../element.ts";

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

/** How long ago, in the largest unit that fits. */
function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** A duration with three digits at most. */
function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
