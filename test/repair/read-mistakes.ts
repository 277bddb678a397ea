/** The corpora of mistakes, and how the words of an answer become the next program. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Json } from "../../src/domain/index.ts";
import type { ExecutionResult, Glovebox } from "../../src/main.ts";

export interface RepairCase {
  readonly name: string;
  readonly code: string;
  /** The words of the answer that repair the program. */
  readonly words: RegExp;
  /** The next program; `$<name>` is what the words captured. */
  readonly next: string;
  readonly value: unknown;
}

const PART = /^\/\/# (?<name>.*)\n(?<code>[^]*?)\n\/\/\? (?<words>.*)\n\/\/> (?<next>[^]*?)\n\/\/= (?<value>.*)$/gm;

export function readMistakes(file: "mistakes.txt" | "held-back.txt"): readonly RepairCase[] {
  const text = readFileSync(join(import.meta.dirname, file), "utf8");
  return Array.from(text.matchAll(PART), ({ groups = {} }) => {
    const { name = "", code = "", words = "", next = "", value = "" } = groups;
    return { name, code, words: new RegExp(words, "mu"), next, value: JSON.parse(value) as unknown };
  });
}

/** Everything that a model reads of a result, except its value. */
export function answerOf({ error, findings }: ExecutionResult): string {
  const lines = findings.map(({ message }) => message);
  return [error && `error ${error.code}: ${error.message}`, error?.hint, error?.frame, ...lines].join("\n");
}

/** Runs the program and, unless it is right already, the one that its answer leads to. Returns what went wrong. */
export async function repair(glovebox: Glovebox, one: RepairCase, input: Json): Promise<string | undefined> {
  const run = (code: string): Promise<ExecutionResult> => glovebox.execute({ code, input });
  const expected = JSON.stringify(one.value);
  const first = await run(one.code);
  if (first.state === "completed") {
    const value = JSON.stringify(first.value);
    return value === expected ? undefined : `a silent wrong answer: ${value}`;
  }
  const answer = answerOf(first);
  const found = one.words.exec(answer);
  if (!found) return `no words of repair in: ${answer}`;
  const code = one.next.replaceAll(/\$<(\w+)>/g, (_, name: string) => found.groups?.[name] ?? "");
  const second = await run(code);
  const value = JSON.stringify(second.value);
  return value === expected ? undefined : `${code}\ngave ${value ?? answerOf(second)} after: ${answer}`;
}
