/** Programs as a model writes them: wrong ones that would give a wrong answer silently, and right ones that look alike. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { defineAdapter } from "../../src/main.ts";
import type { ExecutionResult, Glovebox } from "../../src/main.ts";
import { openReal, readSamples } from "../types/corpus.ts";
import type { Sample } from "../types/corpus.ts";

const FOLDER = import.meta.dirname;

/** The error code or `completed`, the line and the words that the answer to a wrong program must have. */
export interface Wrong extends Sample {
  readonly outcome: string;
  readonly line: number;
  readonly expected: RegExp;
}

/** Those of the `held-` files were not looked at while the checks were built. */
export const FILES = ["", "held-"] as const;

export function readWrong(prefix: string): readonly Wrong[] {
  return readSamples(`${prefix}wrong.txt`, FOLDER).map((sample) => {
    const [, head = ""] = sample.name.split(".txt: ");
    const [outcome = "", line = "", ...words] = head.split(" | ");
    return { ...sample, outcome, line: Number(line), expected: new RegExp(words.join(" | "), "su") };
  });
}

export function readRight(prefix: string): readonly Sample[] {
  return readSamples(`${prefix}right.txt`, FOLDER);
}

/** Tools without declared results. The ticket A-2 alone has a label. */
const TICKETS = [
  { key: "A-1", title: "Login fails", owner: { name: "Ada" }, open: true },
  { key: "A-2", title: "Slow login", owner: { name: "Bo" }, open: true, label: "slow" },
];
const object = (properties: Readonly<Record<string, { readonly type: string }>>) => ({ type: "object", properties });

const tickets = defineAdapter({
  name: "tickets",
  tools: {
    search: {
      description: "Searches tickets",
      input: object({ query: { type: "string" }, cursor: { type: "number" } }),
      effect: "read",
      run: () => ({ results: TICKETS, total: TICKETS.length }),
    },
    comment: {
      description: "Writes a comment to a ticket",
      input: object({ key: { type: "string" }, text: { type: "string" } }),
      effect: "write",
      run: () => ({ ok: true }),
    },
    close: {
      description: "Closes a ticket",
      input: object({ key: { type: "string" } }),
      effect: "destroy",
      run: () => ({ ok: true }),
    },
  },
});

/** Type checks run beside the program, as by default. */
export function openAnswers(folder: string): Promise<Glovebox> {
  writeFileSync(join(folder, "notes.txt"), "a note\nand another\n");
  writeFileSync(join(folder, "config.json"), JSON.stringify({ version: 3, plugins: [{ name: "one" }] }));
  return openReal(folder, { adapters: [tickets], analysis: {} });
}

/** The rules that say that an answer would be wrong. */
export const RULES: ReadonlySet<string> = new Set([
  "types",
  "no-infinite-loop",
  "no-unawaited-call",
  "no-unhandled-async",
  "undefined-result",
  "joined-object",
  "lost-entries",
]);

export interface Verdict {
  readonly outcome: string;
  readonly line: number | undefined;
  readonly words: string;
  readonly effects: readonly string[];
}

/** What an author sees of a result, and the calls that may have changed something. */
export function toVerdict({ state, error, findings, calls }: ExecutionResult): Verdict {
  const said = findings.filter(({ rule }) => RULES.has(rule));
  const messages = said.map(({ rule, message }) => `${rule}: ${message}`);
  return {
    outcome: error?.code ?? state,
    line: error?.line ?? said[0]?.line,
    words: [error?.message, error?.hint, ...messages].filter(Boolean).join("\n"),
    effects: calls.filter(({ effect, outcome }) => effect !== "read" && outcome !== "denied").map(({ tool }) => tool),
  };
}
