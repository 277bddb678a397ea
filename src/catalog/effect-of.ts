/** The effect of a tool, from its server's annotations. A server can lie, so policy treats it as a hint. */

import type { RemoteTool } from "../connectors/index.ts";
import type { Effect, Tool } from "../domain/index.ts";

/** `readOnly` wins, because in MCP `destructive` applies only to other tools. Neither: unknown, never harmless. */
export function effectOf({ readOnly, destructive }: RemoteTool["annotations"]): Effect {
  if (readOnly === true) return "read";
  if (destructive === true) return "destroy";
  return readOnly === false || destructive === false ? "write" : "unknown";
}

/** Applies a reviewed effect, which the operator's configuration selects and not the server. */
export function applyReview<Offered extends Pick<Tool, "effect" | "effectSource">>(
  offered: Offered,
  reviewed: Effect | undefined,
): Offered {
  if (reviewed === undefined || (reviewed === offered.effect && offered.effectSource === undefined)) return offered;
  return { ...offered, effect: reviewed, effectSource: "reviewed" };
}

const READS = wordSet("check count describe fetch find get has is list lookup peek query read search show status view");
const DESTROYS = wordSet(
  "clear delete destroy drop erase expunge kill nuke purge remove revoke rm terminate truncate uninstall unpublish wipe",
);
const WRITES = wordSet(
  "add append apply archive assign cancel close commit create edit execute insert invite merge modify move patch pay " +
    "post publish push put rename replace run save send set store submit update upload upsert write",
);

/** For a tool without annotations. `read` is never guessed, because a harmless name proves nothing. */
export function guessEffect(name: string): Exclude<Effect, "read"> {
  const words = splitWords(name);
  const [first = ""] = words;
  if (READS.has(first)) return "unknown";
  if (words.some((word) => DESTROYS.has(word))) return "destroy";
  return words.some((word) => WRITES.has(word)) ? "write" : "unknown";
}

/** Splits names of all styles: `deleteIssue`, `delete_issue` and `issues/delete` have the same words. */
function splitWords(name: string): readonly string[] {
  const spaced = name.slice(0, MAX_NAME).replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2");
  return spaced
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

const MAX_NAME = 256;

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
