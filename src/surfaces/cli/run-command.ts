/** `glovebox run`: one program, or a batch of them, through the whole pipeline. */

import { randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";

import { Option } from "commander";
import type { Command } from "commander";

import { parseLimits } from "../../config/index.ts";
import type { Settings } from "../../config/index.ts";
import { GloveboxError, defined, describeError, isJsonObject, parseJson } from "../../domain/index.ts";
import type { EngineName } from "../../domain/index.ts";
import type { NearGateway, NearProgram } from "../near-gateway.ts";
import { parseBatchLine } from "../parse-request.ts";
import { parseCount, readText } from "./add-command.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { EXIT, exitOf, watchInterrupt } from "./powers.ts";
import type { CliPowers, Terminal } from "./powers.ts";
import { printJson, printPlan, printResult } from "./print.ts";
import { UNRESTRICTED } from "./serve-commands.ts";

const MEGABYTE = 1024 * 1024;

interface RunFlags {
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

interface RunSession extends Invocation<RunFlags> {
  readonly near: NearGateway;
  readonly signal: AbortSignal;
}

export function addRun(program: Command, { addCommand }: Commands): void {
  addCommand(program, "run", "run one program through the whole pipeline", runCommand)
    .argument("[file]", "the program; - for standard input")
    .option("--json", "print the whole result as one JSON object")
    .option("--batch <file>", "one JSON object per line in, one result per line out")
    .option("--parallel <number>", "with --batch: how many at once", parseCount)
    .option("--wall-ms <ms>", "wall-clock limit", parseCount)
    .option("--cpu-ms <ms>", "CPU time limit", parseCount)
    .option("--memory-mb <mb>", "memory limit", parseCount)
    .option("--calls <number>", "limit on tool calls", parseCount)
    .addOption(new Option("--engine <name>", "the sandbox engine").choices(["isolate", "quickjs", "workerd", "auto"]))
    .option("--plan", "print which tools the program can call, without running it")
    .option("--dry-run", "make reads only and list the other calls")
    .option("--no-analysis", "skip the rules and the type check; the sandbox does not depend on them")
    .option("--no-types", "skip the type check; wrong arguments are reported at the call")
    .option(...UNRESTRICTED)
    .option("--no-network", "run without fetch, even if the network policy allows hosts");
}

async function runCommand(invocation: Invocation<RunFlags>, file: string | undefined): Promise<number> {
  const { flags, powers, terminal } = invocation;
  const principal = { ...invocation.principal, session: randomUUID() };
  if (flags.plan && flags.batch !== undefined) {
    throw new GloveboxError("REQUEST_INVALID", "--plan cannot be used with --batch", { hint: "Remove one of them" });
  }
  const source = flags.batch === undefined ? await readSource(file, powers, terminal) : "";
  const settings = withFlags(await invocation.loadSettings(), flags);
  using interrupt = watchInterrupt(terminal);
  await using opened = await invocation.openNear(settings, principal, flags);
  const session: RunSession = { ...invocation, near: opened.near, signal: interrupt.signal };
  if (flags.batch !== undefined) return await runBatch(flags.batch, session);
  return flags.plan ? await planOne(source, session) : await runOne(source, session);
}

/** The operator's flags replace configured limits; a program can never ask for more. */
function withFlags(settings: Settings, { wallMs, cpuMs, memoryMb, calls, engine }: RunFlags): Settings {
  const memoryBytes = memoryMb === undefined ? undefined : memoryMb * MEGABYTE;
  const limits = parseLimits({ ...settings.sandbox.limits, ...defined({ wallMs, cpuMs, memoryBytes, calls }) });
  return { ...settings, sandbox: { ...settings.sandbox, limits, ...defined({ engine }) } };
}

async function readSource(file: string | undefined, powers: CliPowers, terminal: Terminal): Promise<string> {
  if (file === "-" || (file === undefined && !terminal.stdin.isTTY)) return readAll(terminal.stdin);
  if (file !== undefined) return readText(toExample(file, powers, terminal) ?? file, terminal);
  throw new GloveboxError("REQUEST_INVALID", "No program was given", { hint: "Pass a file, or - for standard input" });
}

/** The examples of the package can be named from every folder; a file of the user comes first. */
function toExample(file: string, { packageFolder }: CliPowers, { cwd }: Terminal): string | undefined {
  if (!file.startsWith("examples/") || existsSync(resolve(cwd, file))) return undefined;
  const example = join(packageFolder, file);
  return existsSync(example) ? example : undefined;
}

async function runOne(source: string, session: RunSession): Promise<number> {
  const { terminal, flags, signal } = session;
  const result = await session.near.execute(toProgram({ source }, session), signal);
  if (flags.json) printJson(terminal.stdout, result);
  else printResult(result, terminal.stdout, terminal.stderr);
  return signal.aborted ? EXIT.interrupted : exitOf(result);
}

/** Prints what a program can call, without running it. */
async function planOne(source: string, session: RunSession): Promise<number> {
  const { terminal, flags } = session;
  const answer = await session.near.plan(toProgram({ source }, session), session.signal);
  if (flags.json) printJson(terminal.stdout, answer);
  else printPlan(answer, terminal.stdout, terminal.stderr);
  return answer.ok ? EXIT.done : EXIT.failed;
}

function toProgram(program: Pick<NearProgram, "source" | "limits">, { flags }: RunSession): NearProgram {
  const { analysis, types, network, dryRun = false } = flags;
  return { ...program, analysis, types, dryRun, network };
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
    const result = await session.near.execute(toProgram(parseBatchLine(raw), session), session.signal);
    printJson(session.terminal.stdout, { id, ...result });
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code === "STORE_UNAVAILABLE") throw thrown;
    printJson(session.terminal.stdout, { id, ...toRefused(thrown) });
  }
}

/** A result without an execution id, because no execution was opened. */
function toRefused(thrown: GloveboxError) {
  const stats = { queueMs: 0, wallMs: 0, cpuMs: 0, peakMemoryBytes: 0, calls: 0, outputBytes: 0 };
  return { execution: null, state: "failed", logs: [], calls: [], error: describeError(thrown), findings: [], stats };
}
