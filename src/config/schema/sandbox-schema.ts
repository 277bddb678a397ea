/** Schema of `sandbox`: how programs run, what each may use, and which secrets programs are granted. */

import { z } from "zod";

import { HOUR_MS } from "../../timing/index.ts";
import { DEFAULT_LIMITS, GloveboxError, parseSecretName } from "../../domain/index.ts";
import type { Limits } from "../../domain/index.ts";
import { choice, integer, optional, readable } from "./fields.ts";
import { networkPolicySchema } from "./network-schema.ts";
import { readSecretHost } from "./values/host-pattern.ts";

const MIB = 1024 * 1024;
const PAYLOAD = [1, 64 * MIB] as const;
const MAX_HOSTS = 100;

const limit = (name: keyof Limits, range: readonly [number, number], description: string) =>
  integer(range, DEFAULT_LIMITS[name], description);

/** The ranges of all limits, also for limits from the command line. */
const limitsSchema = z
  .strictObject({
    wallMs: limit(
      "wallMs",
      [1, HOUR_MS],
      "Wall-clock time of a program, waiting included; starts again each time the program is resumed.",
    ),
    cpuMs: limit("cpuMs", [1, HOUR_MS], "Processor time of one program."),
    hostMs: limit("hostMs", [1, HOUR_MS], "Time of the gateway's thread for the calls of one program."),
    memoryBytes: limit("memoryBytes", [8 * MIB, 4096 * MIB], "Memory of one program, on and off the heap."),
    calls: limit("calls", [1, 100_000], "Attempts to call a tool, including refused ones."),
    concurrentCalls: limit("concurrentCalls", [1, 1000], "Calls in flight at the same time."),
    callMs: limit("callMs", [1, HOUR_MS], "Time of one call."),
    sourceBytes: limit("sourceBytes", [1, MIB], "Size of a program's source."),
    outputBytes: limit("outputBytes", PAYLOAD, "Size of the result and logs of one program together."),
    argumentBytes: limit("argumentBytes", PAYLOAD, "Size of the arguments of one call."),
    resultBytes: limit("resultBytes", PAYLOAD, "Size of the result of one call."),
    depth: limit("depth", [1, 512], "Nesting depth of arguments and results."),
  })
  .prefault({})
  .describe("Limits of one execution. A request can lower them, never raise them.");

const grantSchema = z
  .strictObject({
    hosts: z
      .array(readable(readSecretHost))
      .min(1)
      .max(MAX_HOSTS)
      .describe(
        'Where the secret may be sent, over https: "host", "host:port" or "*.domain"; a local name or an address needs a port. The prefix "http://" allows it to be sent unencrypted.',
      ),
    in: z
      .array(z.enum(["header", "body"]))
      .min(1)
      .default(["header"])
      .describe("The parts of a request that may contain the secret: header, body or both."),
    principals: optional(
      z.array(z.string().min(1).max(256)).min(1).max(1000),
      "Principals whose programs may use the secret, by name. Default: all.",
    ),
  })
  .describe("The grant of one secret.");

export const sandboxSchema = z
  .strictObject({
    engine: choice(
      ["auto", "isolate", "quickjs", "workerd"],
      "What runs programs: isolate is a V8 isolate, quickjs is QuickJS in WebAssembly for machines without the native module, workerd is a Dynamic Worker of workerd, a separate package, auto starts programs in QuickJS and moves those that compute to a V8 isolate.",
    ),
    isolation: choice(
      ["auto", "strict", "process"],
      "auto uses the best level of this machine, strict refuses to run below the highest level.",
    ),
    concurrency: integer([1, 256], 5, "Executions that run at the same time."),
    queue: integer([0, 10_000], 100, "Executions that may wait; further ones are refused with LIMIT_BUSY."),
    limits: limitsSchema,
    networkPolicy: networkPolicySchema,
    secrets: z
      .record(z.string(), grantSchema)
      .default({})
      .describe("Secrets of the vault that programs may use as secrets.NAME without reading them."),
  })
  .prefault({})
  .describe("How programs run.");

/** Properties of every object, and methods that the language calls: `secrets.then` must not be a secret. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ..."applySync copyInto derefInto then toJSON".split(" "),
]);

/** True if a secret of this name can be a property of `secrets` in a program. */
export function isGrantable(name: string): boolean {
  return parseSecretName(name) !== undefined && !TAKEN.has(name);
}

/** Returns the limits unchanged, or throws REQUEST_INVALID for the first that is out of range. */
export function parseLimits(limits: Limits): Limits {
  const checked = limitsSchema.safeParse(limits);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new GloveboxError("REQUEST_INVALID", `The limit ${issue?.path.join(".")} is out of range: ${issue?.message}`, {
    hint: "docs/reference/configuration.md lists the range of each limit",
  });
}
