/** The part of the schema about how programs run, and what each may use. */

import { z } from "zod";

import { DEFAULT_LIMITS, GloveboxError } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { networkPolicySchema } from "./network-schema.ts";
import { secretGrantsSchema } from "./secrets-schema.ts";
import { whole } from "./fields.ts";

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;
const MAX_PAYLOAD_BYTES = 64 * MIB;

/** The ranges of all limits, also of those that come from the command line. */
export const limitsSchema = z
  .strictObject({
    wallMs: whole(
      { min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.wallMs },
      "Time of a program from its start to its end, waiting included; each time that it goes on, anew.",
    ),
    cpuMs: whole({ min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.cpuMs }, "Processor time of one program."),
    memoryBytes: whole(
      { min: 8 * MIB, max: 4096 * MIB, usual: DEFAULT_LIMITS.memoryBytes },
      "What one program may hold, on and off the heap.",
    ),
    calls: whole({ min: 1, max: 100_000, usual: DEFAULT_LIMITS.calls }, "Attempts to call a tool, refused ones too."),
    concurrentCalls: whole({ min: 1, max: 1000, usual: DEFAULT_LIMITS.concurrentCalls }, "Calls under way at once."),
    callMs: whole({ min: 1, max: HOUR_MS, usual: DEFAULT_LIMITS.callMs }, "Time that one call may take."),
    sourceBytes: whole({ min: 1, max: MIB, usual: DEFAULT_LIMITS.sourceBytes }, "Size of a program's source."),
    outputBytes: whole(
      { min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.outputBytes },
      "Result and logs of one program together.",
    ),
    argumentBytes: whole(
      { min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.argumentBytes },
      "Arguments of one call.",
    ),
    resultBytes: whole({ min: 1, max: MAX_PAYLOAD_BYTES, usual: DEFAULT_LIMITS.resultBytes }, "Result of one call."),
    depth: whole({ min: 1, max: 512, usual: DEFAULT_LIMITS.depth }, "Nesting of arguments and results."),
  })
  .prefault({})
  .meta({ description: "What one execution may use. A request can ask for less, never for more." });

/** How many run at once, in what, and within which limits. */
export const sandboxSchema = z
  .strictObject({
    engine: z.enum(["isolate", "quickjs", "workerd"]).default("isolate").meta({
      description:
        "What runs programs: a V8 isolate; QuickJS in WebAssembly where the native module cannot load; or a Dynamic Worker of workerd, a package of its own.",
    }),
    isolation: z.enum(["auto", "strict", "process"]).default("auto").meta({
      description: "auto takes the best level of this machine, strict refuses to run with less than the full one.",
    }),
    concurrency: whole({ min: 1, max: 256, usual: 5 }, "Executions that run at once."),
    queue: whole({ min: 0, max: 10_000, usual: 100 }, "Executions that may wait; further ones are refused as busy."),
    limits: limitsSchema,
    networkPolicy: networkPolicySchema,
    secrets: secretGrantsSchema,
  })
  .prefault({})
  .meta({ description: "How programs run." });

/** The limits unchanged, or REQUEST_INVALID for the first that is out of its range. */
export function parseLimits(limits: Limits): Limits {
  const parsed = limitsSchema.safeParse(limits);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new GloveboxError(
    "REQUEST_INVALID",
    `The limit ${issue?.path.join(".")} is out of its range: ${issue?.message}`,
    {
      hint: "docs/reference/configuration.md has the range of each limit",
    },
  );
}
