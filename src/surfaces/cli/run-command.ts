/** `glovebox run`: one program, or a batch of them, through the whole pipeline. */

import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";

import { parseLimits } from "../../config/index.ts";
import type { Settings } from "../../config/index.ts";
import { GloveboxError, describeError, isJsonObject } from "../../domain/index.ts";
import type { EngineName, ExecutionResult, Principal } from "../../domain/index.ts";
import type { ExecuteInput } from "../../execution/index.ts";
import { parseBatchLine } from "../parse-request.ts";
import type { Gateway } from "../gateway.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers, Terminal } from "./powers.ts";
import { printPlan } from "./print-plan.ts";
import { printJson, printResult } from "./print.ts";

const MEGABYTE = 1024 * 1024;

export interface RunFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly batch?: string;
  readonly parallel?: number;
  readonly wallMs?: number;
  readonly cpuMs?: number;
  readonly memoryMb?: number;
  readonly calls?: number;
  readonly engine?: EngineName;
  readonly analysis: boolean;
  readonly plan?: boolean;
  readonly dryRun?: boolean;
  readonly types: boolean;
  readonly network: boolean;
  readonly unrestrictedNetwork?: boolean;
}

interface RunSession {
  readonly gateway: Gateway;
  readonly terminal: Terminal;
  readonly principal: Principal;
  readonly flags: RunFlags;
  readonly signal: AbortSignal;
}

export async function runCommand(
  file: string | undefined,
  flags: RunFlags,
  { powers, principal: operator }: { powers: CliPowers; principal: Principal },
): Promise<number> {
  const { terminal } = powers;
  const principal = { ...operator, session: randomUUID() };
  if (flags.plan && flags.batch !== undefined) {
    throw new GloveboxError("REQUEST_INVALID", "--plan cannot be used with --batch", { hint: "Remove one of them" });
  }
  const source = flags.batch === undefined ? await readSource(file, terminal) : "";
  const settings = withFlags(await powers.loadSettings(flags.config), flags);
  const abort = new AbortController();
  const forget = terminal.onInterrupt(() => abort.abort());
  try {
    await using gateway = await powers.openGateway(settings, flags);
    const session: RunSession = { gateway, terminal, principal, flags, signal: abort.signal };
    if (flags.batch !== undefined) return await runBatch(flags.batch, session);
    return flags.plan ? await planOne(source, session) : await runOne(source, session);
  } finally {
    forget();
  }
}

/** The operator's flags replace configured limits; a program can never ask for more. */
function withFlags(settings: Settings, { wallMs, cpuMs, memoryMb, calls, engine }: RunFlags): Settings {
  const limits = parseLimits({
    ...settings.sandbox.limits,
    ...(wallMs !== undefined && { wallMs }),
    ...(cpuMs !== undefined && { cpuMs }),
    ...(memoryMb !== undefined && { memoryBytes: memoryMb * MEGABYTE }),
    ...(calls !== undefined && { calls }),
  });
  return { ...settings, sandbox: { ...settings.sandbox, limits, ...(engine && { engine }) } };
}

async function readSource(file: string | undefined, terminal: Terminal): Promise<string> {
  if (file === "-" || (file === undefined && !terminal.stdin.isTTY)) return readAll(terminal.stdin);
  if (file === undefined) {
    throw new GloveboxError("REQUEST_INVALID", "No program was given", {
      hint: "Pass a file, or - for standard input",
    });
  }
  try {
    return await readFile(resolve(terminal.cwd, file), "utf8");
  } catch (cause) {
    throw new GloveboxError("REQUEST_INVALID", `${file} cannot be read`, { cause, hint: "Check the path" });
  }
}

async function runOne(source: string, session: RunSession): Promise<number> {
  const { terminal, flags, signal } = session;
  const result = await session.gateway.execute(toInput({ source }, session));
  if (flags.json) printJson(terminal.stdout, result);
  else printResult(result, terminal.stdout, terminal.stderr);
  return signal.aborted ? EXIT.interrupted : exitOf(result);
}

/** Prints what a program can call, without running it. */
async function planOne(source: string, session: RunSession): Promise<number> {
  const { terminal, flags } = session;
  const answer = await session.gateway.plan(toInput({ source }, session));
  if (flags.json) printJson(terminal.stdout, answer);
  else printPlan(answer, terminal.stdout, terminal.stderr);
  return answer.ok ? EXIT.done : EXIT.failed;
}

function toInput(
  { source, limits }: Pick<ExecuteInput, "source" | "limits">,
  { principal, signal, flags }: RunSession,
): ExecuteInput {
  const { analysis, types, network, dryRun = false } = flags;
  const narrowed = network ? {} : { networkPolicy: { mode: "blocked" } as const };
  return { source, principal, signal, analysis, types, dryRun, ...narrowed, ...(limits && { limits }) };
}

/** The exit code after one program. */
export function exitOf({ state, error }: ExecutionResult): number {
  if (state === "completed") return EXIT.done;
  if (state === "paused") return EXIT.paused;
  return error && (error.code.startsWith("POLICY_") || error.code === "EGRESS_DENIED") ? EXIT.refused : EXIT.failed;
}

/** Each line gets a result line with its id, also an invalid one. Exit 0 if all lines were answered. */
async function runBatch(path: string, session: RunSession): Promise<number> {
  const { terminal, signal } = session;
  const input = path === "-" ? terminal.stdin : createReadStream(resolve(terminal.cwd, path));
  const underWay = new Set<Promise<void>>();
  const failed = Promise.withResolvers<never>();
  input.once("error", (cause: unknown) => {
    failed.reject(new GloveboxError("REQUEST_INVALID", `${path} cannot be read`, { cause, hint: "Check the path" }));
  });
  const answerAll = async (): Promise<void> => {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      if (line.trim() === "" || signal.aborted) continue;
      const answered: Promise<void> = answerLine(line, session).finally(() => underWay.delete(answered));
      underWay.add(answered);
      if (underWay.size >= (session.flags.parallel ?? 1)) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  };
  await Promise.race([answerAll(), failed.promise]);
  return signal.aborted ? EXIT.interrupted : EXIT.done;
}

async function answerLine(line: string, session: RunSession): Promise<void> {
  const raw = parseJson(line);
  const { id = null } = isJsonObject(raw) ? raw : {};
  try {
    const result = await session.gateway.execute(toInput(parseBatchLine(raw), session));
    printJson(session.terminal.stdout, { id, ...result });
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code === "STORE_UNAVAILABLE") throw thrown;
    printJson(session.terminal.stdout, { id, ...toRefused(thrown) });
  }
}

/** A result without an execution id, because no execution was opened. */
function toRefused(
  thrown: GloveboxError,
): Omit<ExecutionResult, "execution" | "engine" | "isolation"> & { execution: null } {
  const stats = { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 0, outputBytes: 0 };
  return { execution: null, state: "failed", logs: [], calls: [], error: describeError(thrown), findings: [], stats };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
