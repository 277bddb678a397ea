/** `glovebox demo`: a first program that needs no configuration, no network and no file outside of this package. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";

import type { Command } from "commander";

import { readText } from "./add-command.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { EXIT, exitOf, watchInterrupt } from "./powers.ts";
import { printJson, printLine, printResult } from "./print.ts";

const PROGRAM = "examples/demo.ts";
const SERVER = "dist/surfaces/demo/inventory.js";

export function addDemo(program: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(program, "demo", "run a first program against a demo server of this package", runDemo);
}

/** Uses no configuration of the user, and keeps nothing. */
async function runDemo({ powers, terminal, principal, flags }: Invocation): Promise<number> {
  const [command] = terminal.start;
  const inventory = { command, args: [join(powers.packageFolder, SERVER)] };
  const settings = powers.parseObject({ mcpServers: { inventory }, store: { url: "sqlite::memory:" } });
  const source = await readText(join(powers.packageFolder, PROGRAM), terminal, "Install Glovebox again");
  using interrupt = watchInterrupt(terminal);
  await using gateway = await powers.openGateway(settings);
  const { signal } = interrupt;
  const result = await gateway.execute({ principal: { ...principal, session: randomUUID() }, source, signal });
  if (flags.json) printJson(terminal.stdout, result);
  else {
    for (const line of source.trimEnd().split("\n")) printLine(terminal.stderr, `  ${line}`);
    printResult(result, terminal.stdout, terminal.stderr);
  }
  return signal.aborted ? EXIT.interrupted : exitOf(result);
}
