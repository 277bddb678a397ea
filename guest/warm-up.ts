/**
 * Runs once while the snapshot is made, in a context that is thrown away: what it calls is kept compiled, so that no
 * isolate has to compile the guest's own code again. It leaves nothing else behind.
 */

import { TO_GUEST } from "../src/sandbox/wire.ts";
import type { StartMessage } from "../src/sandbox/wire.ts";
import type { Guest } from "./world.ts";

declare const __boot: (send: () => void, parseUrl: () => undefined, setUrlPart: () => string) => Guest;
declare const tools: { echo(args: unknown): Promise<unknown>; fail(): Promise<unknown> };
declare const console: { log(...args: unknown[]): void };

const START: StartMessage = {
  javascript: "",
  namespaces: { tools: "echo,fail" },
  input: "{}",
  seed: [1, 2, 3, 4],
  limits: {
    wallMs: 1_000,
    memoryBytes: 1_000_000,
    outputBytes: 10_000,
    valueBytes: 10_000,
    argumentBytes: 10_000,
    depth: 64,
  },
};

/** The calls that nearly every program makes. */
async function program(): Promise<unknown> {
  console.log("text", { list: [1, true, null] });
  const echoed = await tools.echo({ text: "x", nested: { list: [1, 2] } });
  await tools.fail().catch(() => undefined);
  return { echoed, at: new Date(), random: Math.random(), map: new Map([["key", 1]]), set: new Set([1]) };
}

const guest = __boot(
  () => undefined,
  () => undefined,
  () => "",
);
guest.start(program, JSON.stringify(START), 1);
guest.deliver(TO_GUEST.REPLY, 1, '{"text":"x"}', 2);
guest.deliver(TO_GUEST.FAILURE, 2, '{"code":"UPSTREAM_FAILED","message":"x","retry":false}', 3);
