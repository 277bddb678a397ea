/** What a visitor without a valid token sees: how to get in. */

import { element } from "../element.ts";

/** `reason` says why the visitor stands here. */
export function renderEntrance(reason: string): HTMLElement {
  return element(
    "section",
    { class: "card entrance" },
    element("h2", {}, "This page needs its token"),
    element("p", {}, reason),
    element(
      "p",
      {},
      "Open the whole address that ",
      element("code", {}, "glovebox serve"),
      " prints when it starts; it ends with ",
      element("code", {}, "#token=…"),
      ". The token is new at every start.",
    ),
  );
}
