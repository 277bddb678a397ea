/** Waits until a program of a client has called a tool: the proof that everything works. */

import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import type { Settings } from "../../../config/index.ts";
import type { Invocation } from "../add-command.ts";
import { watchInterrupt } from "../powers.ts";
import { printLine } from "../print.ts";

const LOOK_MS = 1000;

/** Ends at the first call, or at Ctrl-C. */
export async function waitForCall(
  { powers, terminal, agent }: Pick<Invocation, "powers" | "terminal" | "agent">,
  settings: Settings,
): Promise<void> {
  using interrupt = watchInterrupt(terminal);
  const since = powers.now();
  printLine(
    terminal.stderr,
    "Waiting for the first call of a client. Restart it and ask for something; Ctrl-C ends the wait.",
  );
  while (!interrupt.signal.aborted) {
    const tool = existsSync(settings.store.path) ? await findCall() : undefined;
    if (tool !== undefined) return printLine(terminal.stderr, `It works: a client has called ${tool}.`);
    await sleep(LOOK_MS, undefined, { signal: interrupt.signal }).catch(() => undefined);
  }

  async function findCall(): Promise<string | undefined> {
    await using records = await powers.readRecords(settings);
    const query = { since, principal: agent.id, action: "call.ended", limit: 1 };
    const [record] = await records.openReader().search(query);
    const subject = record?.["subject"];
    return typeof subject === "string" ? subject : undefined;
  }
}
