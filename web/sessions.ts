/** The browsers that are logged in: one's own, for an operator all. */

import type { SessionsAnswer } from "../src/surfaces/admin/contract.ts";
import { toVisible } from "../src/text/escape-hidden.ts";
import type { Api } from "./api.ts";
import { element } from "./element.ts";

type SessionApi = Pick<Api, "endSession" | "logOutEverywhere">;

/** `onEnded` is called after each attempt, with the message of a refusal. */
export function renderSessions(
  { sessions, current }: SessionsAnswer,
  api: SessionApi,
  onEnded: (problem?: string) => void,
): readonly HTMLElement[] {
  const createButton = (text: string, label: string, end: () => Promise<unknown>): HTMLElement => {
    const button = element("button", { type: "button", "aria-label": label }, text);
    button.addEventListener("click", () => {
      button.disabled = true;
      end().then(
        () => onEnded(),
        (thrown: unknown) => onEnded(thrown instanceof Error ? thrown.message : "The session was not ended."),
      );
    });
    return button;
  };
  const rows = sessions.map(({ id, principal, origin, createdAt }) => {
    const opened = new Date(createdAt).toLocaleString();
    const own = id === current ? " (this browser)" : "";
    return element(
      "li",
      { class: "row", "aria-label": id },
      element("strong", { class: "grow" }, `${principal}${own}`),
      element("span", { class: "muted" }, `from ${toVisible(origin)}, opened ${opened}`),
      createButton("End", `End session ${id}`, () => api.endSession(id)),
    );
  });
  const everywhere = createButton("Log out everywhere", "Log out everywhere", () => api.logOutEverywhere());
  return [element("ul", { class: "rows" }, ...rows), element("p", {}, everywhere)];
}
