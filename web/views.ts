/** The parts of the page: header, isolation, upstreams, executions, and the card for visitors without a session. */

import type { ExecutionsAnswer, StatusAnswer, UpstreamAnswer } from "../src/surfaces/admin/contract.ts";
import { element } from "./element.ts";

type ListedExecution = ExecutionsAnswer["executions"][number];

/** What each level means, in one sentence. */
const LEVELS: Readonly<Record<StatusAnswer["isolation"], string>> = {
  strict: "Programs run in a fresh VM inside a process that reaches no file, socket or other process.",
  confined: "Programs run in a V8 isolate inside a process with some layers of confinement.",
  process:
    "Programs run in a V8 isolate in a separate process, but the operating system does not confine it: a flaw in V8 would expose everything that your user can access.",
};

/** Shows only the name before the first answer. */
export function renderHeader(status: StatusAnswer | undefined): readonly HTMLElement[] {
  const name = element("h1", {}, "Glovebox");
  if (!status) return [name];
  const { version, engine, isolation } = status;
  const tone = isolation === "process" ? "warn" : "good";
  return [
    name,
    element("span", { class: "version" }, `v${version}`),
    element("span", { class: `badge ${tone}`, title: LEVELS[isolation] }, `isolation: ${isolation}`),
    element("span", { class: "badge quiet" }, `engine: ${engine}`),
  ];
}

/** A warning for the lowest level, with the missing layers; nothing for the others. */
export function renderIsolation({ isolation, layers }: StatusAnswer): readonly HTMLElement[] {
  if (isolation !== "process") return [];
  const missing = layers
    .filter(({ present }) => !present)
    .map(({ name, message, hint = "" }) => element("li", {}, `No ${name}: ${message}. ${hint}`.trim()));
  const text = element("p", {}, element("strong", {}, "Reduced isolation. "), LEVELS.process);
  return [element("div", { class: "card warning", role: "note" }, text, element("ul", {}, ...missing))];
}

/** Shown without a session. `reason` explains why. */
export function renderEntrance(reason: string): HTMLElement {
  return element(
    "section",
    { class: "card entrance" },
    element("h2", {}, "This page needs a session"),
    element("p", {}, reason),
    element(
      "p",
      {},
      "Run ",
      element("code", {}, "glovebox open"),
      " on the machine of the gateway. Its link works once, for a minute.",
    ),
  );
}

const UPSTREAM_TONES: Readonly<Record<UpstreamAnswer["state"], string>> = {
  ready: "good",
  failed: "bad",
  "needs-login": "bad",
  suspended: "bad",
  connecting: "quiet",
  idle: "quiet",
  closed: "quiet",
};

/** In the order of the configuration. */
export function renderUpstreams(upstreams: readonly UpstreamAnswer[]): HTMLElement {
  if (upstreams.length === 0) {
    return element("p", { class: "empty" }, "No server is configured. Add one under mcpServers in the configuration.");
  }
  return element("ul", { class: "rows" }, ...upstreams.map(renderUpstream));
}

function renderUpstream({ name, state, transport, tools, cause, hint, stderr }: UpstreamAnswer): HTMLElement {
  const row = element(
    "li",
    {},
    element(
      "div",
      { class: "row" },
      element("span", { class: `dot ${UPSTREAM_TONES[state]}` }),
      element("strong", { class: "grow" }, name),
      element("span", { class: "muted" }, `${tools} ${tools === 1 ? "tool" : "tools"} · ${transport}`),
      element("span", { class: `badge ${UPSTREAM_TONES[state]}` }, state),
    ),
  );
  if (cause !== undefined) row.append(element("p", { class: "cause" }, cause));
  if (hint !== undefined) row.append(element("p", { class: "hint" }, hint));
  if (stderr !== undefined && stderr.length > 0) {
    const summary = element("summary", {}, "Last lines of its error output");
    row.append(element("details", {}, summary, element("pre", {}, stderr.join("\n"))));
  }
  return row;
}

const EXECUTION_TONES: Readonly<Record<ListedExecution["state"], string>> = {
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
    element("td", {}, element("span", { class: `badge ${EXECUTION_TONES[state]}` }, state)),
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
