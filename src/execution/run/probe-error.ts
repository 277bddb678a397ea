/**
 * Finds what value a program's TypeError met: runs a copy of the program with the same deliveries that returns the value.
 * The model is told keys and kinds, never contents. The copy cannot reach a tool, and costs a bounded time.
 */

import { createProbe } from "../../analysis/index.ts";
import type { ErrorProbe } from "../../analysis/index.ts";
import type { Json, Limits, Program } from "../../domain/index.ts";
import type { SandboxJob, SandboxResult } from "../../sandbox/index.ts";
import { outlineShape } from "../../typegen/index.ts";
import { MOST_BYTES } from "../record-deliveries.ts";
import type { DeliveryRecord } from "../record-deliveries.ts";
import { PROGRAM_FRAME } from "../settle.ts";

/** A program that has computed for longer is not run again. */
const MOST_CPU_MS = 500;
/** The copy, with the wait for its place. */
const PROBE_MS = 2_000;
const MAX_SHAPE_CHARS = 300;

interface ProbeDeps {
  run(job: SandboxJob): Promise<SandboxResult>;
}

/** The hint for the author, such as `rows is { id: number }[] (3); it has no rows`. Never rejects. */
export async function describeMet(
  ran: SandboxResult,
  { program, onLog: _, ...job }: Omit<SandboxJob, "tape" | "host" | "suspend" | "waits" | "onTimers">,
  { record, deps }: { readonly record: DeliveryRecord; readonly deps: ProbeDeps },
): Promise<string | undefined> {
  if (isParsedTwice(ran)) {
    return "The value is an object already: use it without JSON.parse, or parse the field that has the text";
  }
  const missing = findMissingName(ran);
  if (missing !== undefined) return explainName(missing, program);
  const probe = findProbe(ran, program);
  const taken = probe && record.taken();
  if (!probe || !taken || ran.usage.cpuMs > MOST_CPU_MS) return undefined;
  try {
    const { ending } = await deps.run({
      ...job,
      program: { ...program, javascript: probe.javascript },
      limits: boundLimits(job.limits),
      signal: AbortSignal.any([job.signal, AbortSignal.timeout(PROBE_MS)]),
      host: { call: () => new Promise(() => undefined) },
      tape: {
        ...taken,
        endsWithPast: true,
        began: () => undefined,
        repeat: () => undefined,
        keep: () => undefined,
      },
    });
    return ending.kind === "returned" ? toHint(probe, ending.value) : undefined;
  } catch {
    return undefined; // busy, or ended meanwhile: the error itself is complete
  }
}

/** Results of tools are values, and `JSON.parse` turns an object into this text first. */
function isParsedTwice({ ending }: SandboxResult): boolean {
  if (ending.kind !== "threw" || ending.thrown.name !== "SyntaxError") return false;
  return /^"\[object \w+\]" is not valid JSON/.test(ending.thrown.message);
}

function findMissingName({ ending }: SandboxResult): string | undefined {
  if (ending.kind !== "threw" || ending.thrown.name !== "ReferenceError") return undefined;
  return /^'?([A-Za-z_$][\w$]{0,60})'? is not defined$/.exec(ending.thrown.message)?.[1];
}

const BUILT_IN: ReadonlySet<string> = new Set(["search", "describe"]);
/** Names that other hosts give to what is sent with a program. */
const INPUTS: ReadonlySet<string> = new Set(["inputs", "args", "params", "parameters", "payload"]);
const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ["None", "null"],
  ["nil", "null"],
  ["True", "true"],
  ["False", "false"],
]);
const PRINTERS: ReadonlySet<string> = new Set(["print", "println", "printf", "puts", "echo", "log", "say"]);

function explainName(name: string, { source }: Pick<Program, "source">): string | undefined {
  if (PRINTERS.has(name)) return "Write console.log(…), or return the value";
  if (BUILT_IN.has(name)) return `In a program, write await glovebox.${name}(…)`;
  if (INPUTS.has(name)) return "The JSON that is sent with a program is `input`";
  if (CONSTANTS.has(name)) return `Write ${CONSTANTS.get(name)}`;
  const written = new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}\\s*=(?![=>])`);
  return written.test(source) ? `Declare it: const ${name} = …, or let ${name} = … if it changes` : undefined;
}

function findProbe({ ending }: SandboxResult, program: Program): ErrorProbe | undefined {
  if (ending.kind !== "threw" || ending.thrown.kind !== "thrown" || ending.thrown.name !== "TypeError")
    return undefined;
  const { message, stack } = ending.thrown;
  const [, line, column] = PROGRAM_FRAME.exec(stack) ?? [];
  return line === undefined ? undefined : createProbe(program, { message, line: Number(line), column: Number(column) });
}

/** The value is only outlined, so it may be larger than a result. */
function boundLimits(limits: Limits): Limits {
  return {
    ...limits,
    wallMs: Math.min(limits.wallMs, PROBE_MS),
    outputBytes: Math.max(limits.outputBytes, 2 * MOST_BYTES),
  };
}

function toHint({ met, owner, property }: ErrorProbe, value: Json | undefined): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const [metKind, metValue = null, ownerKind, ownerValue = null] = value;
  const isMissing = metKind === "undefined" || (metKind === "object" && metValue === null);
  if (!isMissing) return `${met} is ${outline(metKind, metValue)}`;
  if (owner === undefined || ownerKind === "undefined") return `${met} is ${outline(metKind, metValue)}`;
  const lacks = property === undefined || metKind === "object" ? "" : `; it has no ${property}`;
  return `${owner} is ${outline(ownerKind, ownerValue)}${lacks}`;
}

/** The copy is a program of a stranger, which may know that it is one: only these words are repeated. */
const KINDS = ["undefined", "boolean", "number", "bigint", "string", "symbol", "function"];

function outline(kind: Json | undefined, value: Json): string {
  return KINDS.find((known) => known === kind) ?? outlineShape(value, MAX_SHAPE_CHARS);
}
