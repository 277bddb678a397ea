/** Defines commands, and what they share: the invocation, parsers of options, and files as input and output. */

import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { InvalidArgumentError } from "commander";
import type { Command } from "commander";

import { GloveboxError } from "../../domain/index.ts";
import type { Instant, Principal } from "../../domain/index.ts";
import type { Settings } from "../../config/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../timing/index.ts";
import { createNearGateway, findNearPlace } from "../near-gateway.ts";
import { reachNear } from "../reach-near.ts";
import { createConfirm } from "./confirm-config.ts";
import type { CliPowers, CommandContext, Terminal } from "./powers.ts";
import { printJson, printLine } from "./print.ts";

/** One run of a command with its options; `Own` are those that not every command has. */
export type Invocation<Own = object> = ReturnType<typeof createInvocation<Own>>;

export type Commands = ReturnType<typeof createCommands>;

/** As commander parsed it: a string, an array of strings or undefined. */
type Argument = Command["processedArgs"][number];

type CommandAction<Own> = (invocation: Invocation<Own>, first: Argument, second: Argument) => Promise<number | void>;

type GatewayFlags = Parameters<CliPowers["openGateway"]>[1];

interface SharedFlags {
  readonly config?: string;
  readonly json?: boolean;
}

function createInvocation<Own>(context: CommandContext, flags: SharedFlags & Own) {
  const { powers } = context;
  // A command reads it once.
  let loaded: ReturnType<typeof powers.loadSettings> | undefined;
  let read: typeof loaded;
  const loadSettings = () => (loaded ??= powers.loadSettings(flags.config, createConfirm(powers.terminal)));
  const readSettings = () => loaded ?? (read ??= powers.readSettings(flags.config));
  return {
    ...context,
    flags,
    terminal: powers.terminal,
    /** For what starts an upstream or a program, or connects to an address of the configuration. */
    loadSettings,
    readSettings,
    /** For commands that run no program. */
    openGateway: async () => powers.openGateway(await loadSettings(), { runsPrograms: false }),
    /** The gateway that runs on the store with these settings, else a new one. Closed with the result. */
    openNear: async (settings: Settings, principal: Principal, flags: GatewayFlags = { runsPrograms: false }) => {
      await using opened = new AsyncDisposableStack();
      const running = await reachNear(findNearPlace(settings, powers.version));
      const near = running
        ? opened.use(running)
        : createNearGateway(opened.use(await powers.openGateway(settings, flags)), principal);
      const resources = opened.move();
      return { near, [Symbol.asyncDispose]: () => resources.disposeAsync() };
    },
    openRecords: async () => powers.openRecords(await readSettings()),
    readRecords: async () => powers.readRecords(await readSettings()),
    /** For commands that an operator needs most when the policy is invalid. */
    openWithoutPolicy: async () => powers.openRecords(await powers.readWithoutPolicy(flags.config)),
    readWithoutPolicy: async () => powers.readRecords(await powers.readWithoutPolicy(flags.config)),
    print: createPrint(powers.terminal, flags),
  };
}

/** Prints the value as one JSON object with `--json`, and the lines without it. */
export function createPrint({ stdout }: Pick<Terminal, "stdout">, { json }: SharedFlags) {
  return (value: unknown, lines: readonly string[]): void => {
    if (json) printJson(stdout, value);
    else for (const line of lines) printLine(stdout, line);
  };
}

/**
 * Adds commands with `--config`. Options may come before or after a subcommand, so each also accepts those of its
 * parent. A command that returns nothing ends with exit code 0.
 */
export function createCommands(context: CommandContext, end: (code: number) => void) {
  const jsonCommands: Command[] = [];
  function addCommand<Own>(parent: Command, words: string, description: string, run: CommandAction<Own>): Command {
    const command = parent
      .command(words)
      .description(description)
      .option("--config <path>", "a configuration file instead of the one that is found")
      .copyInheritedSettings(parent);
    return command.action(async () => {
      const [first, second] = command.processedArgs;
      const code = await run(createInvocation(context, command.optsWithGlobals()), first, second);
      if (typeof code === "number") end(code);
    });
  }
  function addJsonCommand<Own>(parent: Command, words: string, description: string, run: CommandAction<Own>): Command {
    const command = addCommand(parent, words, description, run);
    jsonCommands.push(command);
    return command;
  }
  /** `--json` is the last option in the help, so it is added when all others are. */
  function addJsonOptions(): void {
    for (const command of jsonCommands) command.option("--json", "print as one JSON object");
  }
  return { addCommand, addJsonCommand, addJsonOptions };
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Parses a date, or a duration before `now`. */
export function parseMoment(text: string, now: Instant): Instant {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(text)} is not a time`, {
    hint: "Write a date such as 2026-11-16T08:00Z, or a duration before now: 90s, 30m, 12h, 7d",
  });
}

/** Parses a date, or a duration after `now`. */
export function parseFuture(text: string, now: Instant): Instant {
  const at = parseMoment(text, now);
  return /^\d+[smhd]$/.test(text) ? 2 * now - at : at;
}

/** Parses an integer from 1 up. */
export function parseCount(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError("It must be an integer from 1 up.");
}

export function parsePort(text: string): number {
  const value = Number(text);
  if (text !== "" && Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError("It must be a port from 0 to 65535.");
}

export async function readText(file: string, { cwd }: Terminal, hint = "Check the path"): Promise<string> {
  return readFile(resolve(cwd, file), "utf8").catch((cause: unknown) => {
    throw new GloveboxError("REQUEST_INVALID", `${file} cannot be read`, { cause, hint });
  });
}

/** Writes lines to standard output, or to a new file that only its owner can read. */
export async function writeOutput(
  lines: Iterable<string> | AsyncIterable<string>,
  file: string | undefined,
  { cwd, stdout }: Terminal,
): Promise<void> {
  const isFile = file !== undefined;
  const target = isFile ? createWriteStream(resolve(cwd, file), { flags: "wx", mode: 0o600 }) : stdout;
  await pipeline(Readable.from(lines), endLines, target, { end: isFile }).catch((cause: unknown) => {
    throw new GloveboxError("REQUEST_INVALID", `${file ?? "standard output"} cannot be written`, {
      cause,
      hint: "Choose a new file in a folder that you may write to",
    });
  });
}

async function* endLines(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${line}\n`;
}
