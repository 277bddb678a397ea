/** Schema of `sandbox`: how programs run, and what each may use. */

import { z } from "zod";

import { HOUR_MS } from "../../timing/index.ts";
import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { networkPolicySchema } from "./network-schema.ts";
import { secretGrantsSchema } from "./secrets-schema.ts";
import { integer } from "./fields.ts";

const MIB = 1024 * 1024;
const MAX_PAYLOAD_BYTES = 64 * MIB;

/** The ranges of all limits, also for limits from the command line. */
export const limitsSchema = z
  .strictObject({
    wallMs: integer(
      { min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.wallMs },
      "Wall-clock time of a program, waiting included; starts again each time the program is resumed.",
    ),
    cpuMs: integer({ min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.cpuMs }, "Processor time of one program."),
    memoryBytes: integer(
      { min: 8 * MIB, max: 4096 * MIB, usual: DEFAULT_LIMITS.memoryBytes },
      "Memory of one program, on and off the heap.",
    ),
    calls: integer(
      { min: 1, max: 100_000, usual: DEFAULT_LIMITS.calls },
      "Attempts to call a tool, including refused ones.",
    ),
    concurrentCalls: integer(
      { min: 1, max: 1000, usual: DEFAULT_LIMITS.concurrentCalls },
      "Calls in flight at the same time.",
    ),
    callMs: integer({ min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.callMs }, "Time of one call."),
    sourceBytes: integer({ min: 1, max: MIB, usual: DEFAULT_LIMITS.sourceBytes }, "Size of a program's source."),
    outputBytes: integer(
      { min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.outputBytes },
      "Size of the result and logs of one program together.",
    ),
    argumentBytes: integer(
      { min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.argumentBytes },
      "Size of the arguments of one call.",
    ),
    resultBytes: integer(
      { min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.resultBytes },
      "Size of the result of one call.",
    ),
    depth: integer({ min: 1, max: 512, usual: DEFAULT_LIMITS.depth }, "Nesting depth of arguments and results."),
  })
  .prefault({})
  .meta({ description: "Limits of one execution. A request can lower them, never raise them." });

/** The engine, the number of executions, and their limits. */
export const sandboxSchema = z
  .strictObject({
    engine: z.enum(["isolate", "quickjs", "workerd"]).default("isolate").meta({
      description:
        "What runs programs: isolate is a V8 isolate, quickjs is QuickJS in WebAssembly for machines without the native module, workerd is a Dynamic Worker of workerd, a separate package.",
    }),
    isolation: z.enum(["auto", "strict", "process"]).default("auto").meta({
      description: "auto uses the best level of this machine, strict refuses to run below the highest level.",
    }),
    concurrency: integer({ min: 1, max: 256, usual: 5 }, "Executions that run at the same time."),
    queue: integer(
      { min: 0, max: 10_000, usual: 100 },
      "Executions that may wait; further ones are refused with LIMIT_BUSY.",
    ),
    limits: limitsSchema,
    networkPolicy: networkPolicySchema,
    secrets: secretGrantsSchema,
  })
  .prefault({})
  .meta({ description: "How programs run." });

/** Returns the limits unchanged, or throws REQUEST_INVALID for the first that is out of range. */
export function parseLimits(limits: Limits): Limits {
  const parsed = limitsSchema.safeParse(limits);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GloveboxError("REQUEST_INVALID", `The limit ${issue?.path.join(".")} is out of range: ${issue?.message}`, {
    hint: "docs/reference/configuration.md lists the range of each limit",
  });
}
