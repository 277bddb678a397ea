/** The calls that a dry run skips: which they are, what the program gets instead, and how they are listed. */

import { GloveboxError, defined, mapTexts, parseToolAddress } from "../domain/index.ts";
import type { CallRecord, Decision, DryRun, ExecutionEvent, Json, JsonObject, Tool } from "../domain/index.ts";

import type { CallTarget, ParsedCall } from "./builtin.ts";
import { createSample } from "./create-sample.ts";

export type DryRunSession = ReturnType<typeof createDryRun>;

/** Of one string in the arguments. */
const MOST_TEXT_CHARS = 500;
/** Of the arguments of one call, as JSON. */
const MOST_CALL_CHARS = 4_000;
/** Of all calls together: the list is part of a result that a model may read. */
const MOST_CHARS = 64_000;

/** The calls of one dry run. `hide` removes known secrets from a string. It gets whole strings, before they are cut. */
export function createDryRun(
  { hide }: { readonly hide: (text: string) => string },
  emit: (event: ExecutionEvent) => void,
) {
  const writes: DryRun["writes"][number][] = [];
  let left = MOST_CHARS;
  return {
    /** True for a call that may change something, and for a read that needs approval. */
    skips: ({ effect }: Tool, { kind }: Decision): boolean => kind !== "deny" && (effect !== "read" || kind === "ask"),
    /** Lists a call and returns what its tool might answer. Throws where the tool itself would refuse the call. */
    answer({ seq, args }: ParsedCall, { kind }: Decision, { tool, judge, answerDryRun }: CallTarget): Json {
      emit({ kind: "called", seq, tool: tool.address });
      const answered = answerDryRun?.(args); // first: a refused call is not listed
      const shown = toShown(args, hide);
      const size = JSON.stringify(shown).length;
      const isShown = size <= Math.min(MOST_CALL_CHARS, left);
      if (isShown) left -= size;
      const { effect } = judge?.(args) ?? tool;
      const decision = kind === "ask" ? "ask" : "allow";
      writes.push({ seq, tool: tool.address, effect, decision, ...defined({ args: isShown ? shown : undefined }) });
      return answered ?? sampleOf(tool);
    },
    /** Includes calls that an earlier run of the program skipped, without their arguments. */
    listed(records: readonly CallRecord[]): DryRun {
      const earlier = records.flatMap((record) =>
        writes.some(({ seq }) => seq === record.seq) ? [] : toSkipped(record),
      );
      return { writes: [...writes, ...earlier].toSorted((a, b) => a.seq - b.seq) };
    },
  };
}

function toSkipped({ seq, tool, effect, decision, outcome, dryRun }: CallRecord): readonly DryRun["writes"][number][] {
  const address = parseToolAddress(tool);
  return dryRun && outcome === "ok" && address
    ? [{ seq, tool: address, effect, decision: decision === "ask" ? "ask" : "allow" }]
    : [];
}

/**
 * Fits the declared output schema, or else the learned shape. A server that declares nothing usually answers with a
 * string, so the default is a string.
 */
function sampleOf({ address, output, learned }: Tool): Json {
  if (!output) return (learned && createSample(learned)) ?? `dry run: ${address} was not called`;
  const value = createSample(output);
  if (value !== undefined) return value;
  throw new GloveboxError("UPSTREAM_RESULT_INVALID", `Cannot make a value that fits the output schema of ${address}`, {
    hint: "Leave this call out of the dry run, or catch the error",
  });
}

function toShown(args: JsonObject, hide: (text: string) => string): Json {
  return mapTexts(args, (text) => {
    const hidden = hide(text);
    return hidden.length <= MOST_TEXT_CHARS ? hidden : `${hidden.slice(0, MOST_TEXT_CHARS).toWellFormed()}…`;
  });
}
