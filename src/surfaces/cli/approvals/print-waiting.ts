/** Tells the person at the terminal that a call waits, in one line. */

import type { Writable } from "node:stream";

import { isInputRequest } from "../../../domain/index.ts";
import type { RequestedApproval } from "../../gateway.ts";
import type { PeopleGuide } from "../../reach-people.ts";
import { printLine } from "../print.ts";

/** The link is looked up first, so the line is printed a little later. */
export function printWaiting(
  stderr: Writable,
  { id, tool, effect }: Pick<RequestedApproval, "id" | "tool" | "effect">,
  people: Pick<PeopleGuide, "commands" | "link">,
): void {
  const { show } = people.commands(id);
  void people.link(id).then((link = "") => {
    const where = link === "" ? "" : ` or ${link}`;
    const what = isInputRequest(id) ? "input request" : "approval";
    printLine(stderr, `${what} ${id}: ${tool} (${effect}) waits for a person: ${show}${where}`);
  });
}
