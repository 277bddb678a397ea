/** What a child is told about the program that it is to run, and nothing else. */

import { mostValueBytes } from "./overruns.ts";
import type { SandboxJob } from "../sandbox.ts";
import type { StartMessage } from "../wire.ts";

/** Of the limits only those that the child keeps itself; the others are enforced where no guest can see them. */
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
