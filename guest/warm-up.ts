/**
 * Runs once while the snapshot is created, in a context that is dropped: the functions that it calls stay compiled, so
 * that no isolate has to compile them again. It leaves nothing else behind.
 */

import { REHEARSAL, TO_GUEST } from "../src/sandbox/wire.ts";
import type { Guest } from "./world.ts";

declare const __boot: (send: () => void, parseUrl: () => undefined, setUrlPart: () => string) => Guest;
declare const tools: { echo(args: unknown): Promise<unknown>; fail(): Promise<unknown> };
declare const console: { log(...args: unknown[]): void };

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
guest.start(program, JSON.stringify({ ...REHEARSAL, namespaces: { tools: "echo,fail" }, input: "{}" }), 1);
guest.deliver(TO_GUEST.REPLY, 1, '{"text":"x"}', 2);
guest.deliver(TO_GUEST.FAILURE, 2, '{"code":"UPSTREAM_FAILED","message":"x","retry":false}', 3);
