/** Creates the START message of a program. */

import { mostValueBytes } from "./overruns.ts";
import type { SandboxJob } from "../sandbox.ts";
import type { StartMessage } from "../wire.ts";

/** Includes only the limits that the child enforces; the others are enforced outside. */
export function createStart(job: SandboxJob, seed: readonly number[]): StartMessage {
  const { limits, program, namespaces, input, network, secrets } = job;
  return {
    javascript: program.javascript,
    namespaces: Object.fromEntries(namespaces.map(({ name, tools }) => [name, tools.join(",")])),
    input: input === undefined ? null : JSON.stringify(input),
    seed,
    ...(network === true && { network }),
    ...(secrets && { secrets }),
    limits: {
      wallMs: limits.wallMs,
      memoryBytes: limits.memoryBytes,
      outputBytes: limits.outputBytes,
      valueBytes: mostValueBytes(limits),
      argumentBytes: limits.argumentBytes,
      depth: limits.depth,
    },
  };
}
