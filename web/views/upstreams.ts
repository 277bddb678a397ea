/** The upstreams: their state, and for a failed one the cause and the remedy. */

import type { UpstreamAnswer } from "../../src/surfaces/admin/contract.ts";
import { element } from "../element.ts";

const TONES: Readonly<Record<UpstreamAnswer["state"], string>> = {
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
      element("span", { class: `dot ${TONES[state]}` }),
      element("strong", { class: "grow" }, name),
      element("span", { class: "muted" }, `${tools} ${tools === 1 ? "tool" : "tools"} · ${transport}`),
      element("span", { class: `badge ${TONES[state]}` }, state),
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
