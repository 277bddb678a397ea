/** Calls that a dry run does not make: which they are, what the program gets instead, and how they are listed. */

import { GloveboxError, mapTexts, parseToolAddress } from "../domain/index.ts";
import type {
  CallRecord,
  Decision,
  DryRun,
  ExecutionEvent,
  Json,
  JsonObject,
  Tool,
  ToolCall,
} from "../domain/index.ts";

import type { Builtin } from "./builtin.ts";
import { createSample } from "./create-sample.ts";

/** The calls of one dry run. */
export interface DryRunSession {
  /** True for whatever may change something. A read that a person would have to allow is not made either: nobody did. */
  skips(tool: Tool, decision: Decision): boolean;
  /** Lists a call and answers it as its tool might. Throws where the tool itself would refuse it. */
  answer(call: ParsedCall, decision: Decision, target: Target): Json;
  /** With calls that an earlier run of the program spared; their arguments are not shown again. */
  listed(records: readonly CallRecord[]): DryRun;
}

type ParsedCall = ToolCall & { readonly args: JsonObject };
type Target = Pick<Builtin, "tool"> & Partial<Builtin>;

/** A reader wants to know what would have been written, not all of it. */
const MOST_TEXT_CHARS = 500;
/** Of the arguments of one call, as JSON. */
const MOST_CALL_CHARS = 4_000;
/** Of all of them: the list is part of a result that a model may read. */
const MOST_CHARS = 64_000;

/** `hide` takes known secrets out of a text; it sees whole texts, before they are cut. */
export function createDryRun(
  { hide }: { readonly hide: (text: string) => string },
  onEvent?: (event: ExecutionEvent) => void,
): DryRunSession {
  const writes: DryRun["writes"][number][] = [];
  let left = MOST_CHARS;
  return {
    skips: ({ effect }, { kind }) => kind !== "deny" && (effect !== "read" || kind === "ask"),
    answer({ seq, args }, { kind }, target) {
      const { tool, judge, answerDryRun } = target;
      onEvent?.({ kind: "called", seq, tool: tool.address });
      const answered = answerDryRun?.(args); // first: what is refused would not have been done either
      const shown = toShown(args, hide);
      const size = JSON.stringify(shown).length;
      const isShown = size <= Math.min(MOST_CALL_CHARS, left);
      if (isShown) left -= size;
      const { effect } = judge?.(args) ?? tool;
      const decision = kind === "ask" ? "ask" : "allow";
      writes.push({ seq, tool: tool.address, effect, decision, ...(isShown && { args: shown }) });
      return answered ?? sampleOf(tool);
    },
    listed(records) {
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
 * What the tool declares, or else what was learned of its results. A server that declares nothing usually answers with
 * a text, so that is what a program gets then.
 */
function sampleOf({ address, output, learned }: Tool): Json {
  const learnt = output ? undefined : learned && createSample(learned);
  if (!output) return learnt ?? `dry run: ${address} was not called`;
  const value = createSample(output);
  if (value !== undefined) return value;
  throw new GloveboxError("UPSTREAM_RESULT_INVALID", `No value was found that fits the output schema of ${address}`, {
    hint: "A dry run cannot answer this call; leave it out, or catch this error",
  });
}

function toShown(args: JsonObject, hide: (text: string) => string): Json {
  return mapTexts(args, (text) => {
    const hidden = hide(text);
    return hidden.length <= MOST_TEXT_CHARS ? hidden : `${hidden.slice(0, MOST_TEXT_CHARS).toWellFormed()}…`;
  });
}
