/** Name, version, engine and isolation level; or how to get in. */

import type { StatusAnswer } from "../../src/surfaces/admin/contract.ts";
import { element } from "../element.ts";

/** What each level means, in one sentence. */
const LEVELS: Readonly<Record<StatusAnswer["isolation"], string>> = {
  strict: "Programs run in a V8 isolate inside a process with every layer of confinement.",
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

/** Shown without a valid token. `reason` explains why it is missing. */
export function renderEntrance(reason: string): HTMLElement {
  return element(
    "section",
    { class: "card entrance" },
    element("h2", {}, "This page needs its token"),
    element("p", {}, reason),
    element(
      "p",
      {},
      "Open the full URL that ",
      element("code", {}, "glovebox serve"),
      " prints at its start; it ends with ",
      element("code", {}, "#token=…"),
      ". The token is new at every start.",
    ),
  );
}
