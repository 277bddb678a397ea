/** How a program and its deliveries enter a child. */

import type { SandboxJob } from "../sandbox.ts";
import type { SandboxChild } from "../start-child.ts";
import type { Delivery, TapeStart } from "../tape.ts";
import { TO_GUEST } from "../wire.ts";
import type { StartMessage } from "../wire.ts";
import { mostValueBytes } from "./overruns.ts";

const FRAMES: Readonly<Record<Delivery["kind"], number>> = {
  reply: TO_GUEST.REPLY,
  failure: TO_GUEST.FAILURE,
  tick: TO_GUEST.TICK,
};

export function sendDelivery(child: SandboxChild, { kind, id, atMs, text }: Delivery): void {
  child.send(FRAMES[kind], id, text, atMs);
}

export function sendStart(
  child: SandboxChild,
  job: SandboxJob,
  { atMs, ...more }: TapeStart & Pick<StartMessage, "switching"> & { readonly wallMs: number },
): void {
  child.send(TO_GUEST.START, 0, JSON.stringify(createStart(job, more)), atMs);
}

/** Includes only the limits that the child enforces; the others are enforced outside. */
function createStart(
  job: SandboxJob,
  { wallMs, ...more }: Pick<StartMessage, "seed" | "switching"> & { readonly wallMs: number },
): StartMessage {
  const { limits, program, namespaces, input, network, secrets } = job;
  const { memoryBytes, outputBytes, argumentBytes, depth } = limits;
  return {
    javascript: program.javascript,
    namespaces: Object.fromEntries(namespaces.map(({ name, tools }) => [name, tools.join(",")])),
    input: input === undefined ? null : JSON.stringify(input),
    ...more,
    network,
    secrets,
    limits: { wallMs, memoryBytes, outputBytes, valueBytes: mostValueBytes(limits), argumentBytes, depth },
  };
}
