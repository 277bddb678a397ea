/** Shown without a valid token: explains how to get one. */

import { element } from "../element.ts";

/** `reason` explains why the token is missing. */
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
