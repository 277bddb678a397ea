/** The corpora of programs for the type check, and a product with real servers to run them in. */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { createGlovebox } from "../../src/main.ts";
import type { ExecutionResult, Glovebox, GloveboxConfig } from "../../src/main.ts";

export interface Sample {
  /** The file, then the words after its mark. */
  readonly name: string;
  readonly code: string;
}

/** A sample that does not match the API, the line of its first finding and the words of the expected message. */
export interface Mistaken extends Sample {
  readonly line: number;
  readonly expected: RegExp;
}

const MAX_TRIES = 4;
const FOLDER = import.meta.dirname;
const MARK = /^\/\/# (.*)$/m;

export const HONEST_FILES = [
  "honest-javascript.txt",
  "honest-typescript.txt",
  "honest-servers.txt",
  "honest-models.txt",
] as const;

/** A program starts after a line `//# words`. */
export function readHonest(): readonly Sample[] {
  return HONEST_FILES.flatMap((file) => readSamples(file));
}

/** The words are `LINE | PATTERN` here. */
export function readMistaken(): readonly Mistaken[] {
  return readSamples("mistaken.txt").map((sample) => {
    const [line = "", expected = ""] = sample.name.slice(sample.name.indexOf(" ") + 1).split(" | ");
    return { ...sample, line: Number(line), expected: new RegExp(expected, "su") };
  });
}

export function readSamples(file: string, folder = FOLDER): readonly Sample[] {
  const [, ...parts] = readFileSync(join(folder, file), "utf8").split(MARK);
  return parts.flatMap((words, at) =>
    at % 2 === 0 ? [{ name: `${file}: ${words}`, code: (parts[at + 1] ?? "").trim() }] : [],
  );
}

/** The demo shop and the reference servers; `folder` is the only one that the file server may access. */
export function openReal(folder: string, change: Partial<GloveboxConfig> = {}): Promise<Glovebox> {
  const server = (script: string, ...args: readonly string[]) => ({
    command: process.execPath,
    args: [resolve(script), ...args],
  });
  const reference = (name: string): string => `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  return createGlovebox({
    mcpServers: {
      inventory: server("dist/surfaces/demo/inventory.js"),
      everything: server(reference("everything"), "stdio"),
      filesystem: server(reference("filesystem"), folder),
      memory: { ...server(reference("memory")), env: { MEMORY_FILE_PATH: join(folder, "memory.json") } },
    },
    policy: { rules: [{ decision: "allow", tools: ["*"] }] },
    analysis: { typeCheck: "before" }, // a mistaken program must not have called anything
    quotas: { executionsPerMinute: 0, executionMsPerHour: 0 },
    store: { url: "sqlite::memory:" },
    ...change,
  });
}

/**
 * Runs one sample. On a very busy machine the check may be too slow and then lets the program through; that proves
 * nothing, so it is tried again with a different source.
 */
export async function runSample(glovebox: Glovebox, { code }: Sample, folder: string): Promise<ExecutionResult> {
  for (let tries = 0; ; tries += 1) {
    const result = await glovebox.execute({ code: `${code}${"\n".repeat(tries)}`, input: { folder } });
    const isChecked = !result.findings.some(({ message }) => message.includes("not checked"));
    if (isChecked || tries === MAX_TRIES) return result;
    await wait(1_000 * 2 ** tries);
  }
}

/** Message, hint and the text of every finding: what an author sees. */
export function wordsOf({ error, findings }: ExecutionResult): string {
  return [error?.message, error?.hint, ...findings.map(({ message }) => message)].join("\n");
}
