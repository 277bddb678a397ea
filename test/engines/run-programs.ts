/** Runs programs of the corpus on an engine, and writes what happened as text that can be compared byte for byte. */

import assert from "node:assert/strict";

import { DEFAULT_LIMITS, defined, parsePrincipalId } from "../../src/domain/index.ts";
import type { EngineName, Limits, Namespace, Program, Reply } from "../../src/domain/index.ts";
import { NAMESPACES, openTestSandbox, programOf } from "../../src/sandbox/fixtures/test-sandbox.ts";
import type { ProgramEnding } from "../../src/sandbox/index.ts";
import type { CorpusProgram } from "./corpus.ts";

/** What can be seen of a program from outside. */
export interface Outcome {
  /** The value as JSON, or the name and the message of the error. */
  readonly ending: string;
  /** Address and arguments of every call, in order. */
  readonly calls: readonly string[];
  readonly logs: readonly string[];
}

export interface Runner extends AsyncDisposable {
  /** `route` is what analysis finds in the text. */
  run(program: CorpusProgram, route?: Program["route"]): Promise<Outcome>;
}

export const NOW_MS = 1_763_300_000_000;
export const SEED = [1, 2, 3, 4];
/** Programs take less; on a busy machine they must not meet a limit. */
export const LIMITS: Limits = { ...DEFAULT_LIMITS, wallMs: 120_000, cpuMs: 60_000, calls: 1_000 };

/** A tool `fail` fails; every other tool returns its arguments. */
export function replyTo(address: string, args: string): Reply {
  if (!address.endsWith(".fail")) return { ok: true, json: args };
  return { ok: false, error: { code: "UPSTREAM_FAILED", message: `failed with ${args}`, retry: false } };
}

function namespacesOf({ namespaces }: CorpusProgram): readonly Namespace[] {
  return namespaces.flatMap((name) => NAMESPACES.slice(0, 1).map((one) => ({ ...one, name, tools: ["echo", "fail"] })));
}

/** The sandbox of the product, with real children. With `switchAtStep`, programs change their engine there. */
export async function openRunner(engine: EngineName, switchAtStep?: number): Promise<Runner> {
  const forced = switchAtStep === undefined ? {} : { switchAtStep: () => switchAtStep };
  const options = { concurrency: 1, now: () => NOW_MS, seed: () => SEED, ...forced };
  const { sandbox } = await openTestSandbox(options, engine);
  const principal = parsePrincipalId("agent");
  assert.ok(principal);
  const { signal } = new AbortController();
  return {
    async run(program, route) {
      const calls: string[] = [];
      const call = (address: unknown, args: unknown): Promise<Reply> => {
        calls.push(`${String(address)} ${String(args)}`);
        return Promise.resolve(replyTo(String(address), String(args)));
      };
      const routed = { ...programOf(program.code), ...defined({ route }) };
      const job = { program: routed, namespaces: namespacesOf(program), limits: LIMITS };
      const { ending, logs } = await sandbox.run({ ...job, host: { call }, principal, signal });
      return { ending: describeEnding(ending), calls, logs: logs.map(({ level, text }) => `${level} ${text}`) };
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

function describeEnding(ending: ProgramEnding): string {
  if (ending.kind === "returned") return `returned ${JSON.stringify(ending.value)}`;
  if (ending.kind === "threw") return describeThrown(ending.thrown);
  return ending.kind === "failed" ? `failed ${ending.error.code}` : ending.kind;
}

export function describeThrown({ kind, name, message }: Readonly<Record<"kind" | "name" | "message", string>>): string {
  return `${kind} ${name}: ${message}`;
}
