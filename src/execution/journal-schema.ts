/** The schema of what journals, stored results and exports of executions contain, and the parsers of the first two. */

import { z } from "zod";

import { GloveboxError, isErrorCode, parseJson } from "../domain/index.ts";
import type { ExecutionId, ExecutionResult, PublicError } from "../domain/index.ts";

import type { JournalEvent } from "./journal.ts";

const TEXT = z.string();
const COUNT = z.int().min(0);
const NUMBER = z.number();

/** A call as results list it. */
export const CALL_RECORD = z.object({
  seq: z.int().min(1),
  tool: TEXT,
  effect: z.enum(["read", "write", "destroy", "unknown"]),
  decision: z.enum(["allow", "ask", "deny"]),
  outcome: z.enum(["ok", "error", "denied", "pending", "unknown"]),
  ms: NUMBER,
  under: COUNT.optional(),
  dryRun: z.literal(true).optional(),
});

const LABELS = z.array(z.object({ label: TEXT, tool: TEXT, execution: TEXT, seq: COUNT }));

export const DELIVERY = z.object({
  delivery: z.object({ kind: z.enum(["reply", "failure", "tick"]), id: COUNT, atMs: NUMBER, text: TEXT }),
  call: z
    .object({ record: CALL_RECORD, request: TEXT, definition: TEXT.optional(), labels: LABELS.optional() })
    .optional(),
});

const TAPE_START = z.object({ seed: z.array(COUNT).length(4), atMs: NUMBER });

const ENGINE = z.enum(["isolate", "quickjs", "workerd", "auto"]);

export const START = z.object({
  start: TAPE_START,
  program: z.object({
    digest: TEXT,
    source: TEXT,
    checkable: TEXT,
    javascript: TEXT,
    insertions: z.array(z.object({ offset: COUNT, length: COUNT })),
    calls: z.array(z.unknown()),
    unknownNames: z.array(TEXT).optional(),
    findings: z.array(z.unknown()),
  }),
  namespaces: z.array(z.object({ name: TEXT, connector: TEXT, summary: TEXT, tools: z.array(TEXT) })),
  network: z.boolean(),
  secrets: z.record(z.string(), TEXT).optional(),
  engine: ENGINE.optional(),
  isUnchecked: z.literal(true).optional(),
  labels: LABELS.optional(),
  skills: z.record(z.string(), TEXT).optional(),
});

export const REQUEST = z.object({
  principal: z.object({ id: TEXT, kind: z.enum(["agent", "operator", "person", "service"]), groups: z.array(TEXT) }),
  source: TEXT,
  limits: z.record(z.string(), z.int().min(1)),
  input: z.unknown().optional(),
});

const GIVEN = DELIVERY.extend({
  kind: z.literal("given"),
  under: COUNT.optional(),
  textLines: COUNT.optional(),
  /** Written by former versions. */
  isTextNext: z.literal(true).optional(),
});

const EVENT = z.discriminatedUnion("kind", [
  REQUEST.extend({ kind: z.literal("asked"), start: TAPE_START.optional() }),
  START.extend({ kind: z.literal("began") }),
  z.object({ kind: z.literal("checked"), findings: z.array(z.unknown()) }),
  GIVEN,
  z.object({ kind: z.literal("switched"), engine: ENGINE, under: COUNT.optional() }),
  z.object({
    kind: z.literal("entered"),
    seq: COUNT,
    frame: COUNT,
    tool: TEXT,
    definition: TEXT,
    start: TAPE_START,
    engine: ENGINE,
  }),
  z.object({ kind: z.literal("broke") }),
]);

/** A longer text of a delivery has its own lines: escaping it would take as long as all else that is done with it. */
const LONG_TEXT_CHARS = 4_096;
/** No line of a text is longer, so that a large one can be written in several pieces. */
const LINE_CHARS = 256 * 1024;
/** Every other line begins with a brace. */
const TEXT_MARK = ">";

/** The lines of an event; the lines of its text come first, so that an event without its last line was never noted. */
export function writeEvent(event: JournalEvent): readonly string[] {
  const text = event.kind === "given" ? event.delivery.text : "";
  if (event.kind !== "given" || text.length <= LONG_TEXT_CHARS || text.includes("\n")) return [JSON.stringify(event)];
  const lines = cutText(text).map((line) => TEXT_MARK + line);
  return [...lines, JSON.stringify({ ...event, delivery: { ...event.delivery, text: "" }, textLines: lines.length })];
}

/** Never cuts a surrogate pair. */
function cutText(text: string): readonly string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length;) {
    const last = text.charCodeAt(start + LINE_CHARS - 1);
    const end = start + LINE_CHARS - (last >= 0xd8_00 && last <= 0xdb_ff ? 1 : 0);
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** Throws `STORE_UNAVAILABLE` for a line that this version does not know. */
export function parseJournal(pieces: readonly string[]): readonly JournalEvent[] {
  const events: JournalEvent[] = [];
  let texts: string[] = [];
  const lines = pieces.flatMap((piece) => piece.split("\n")).values();
  for (const line of lines) {
    if (line.startsWith(TEXT_MARK)) {
      texts.push(line.slice(TEXT_MARK.length));
      continue;
    }
    const event = parseEvent(JSON.parse(line));
    events.push(event.kind === "given" ? withText(event, texts, () => lines.next().value) : event);
    texts = [];
  }
  return events;
}

type Given = Extract<JournalEvent, { kind: "given" }> & Pick<z.infer<typeof GIVEN>, "textLines" | "isTextNext">;

/** More lines than its own come before it if a process ended while it wrote them. */
function withText(event: Given, before: readonly string[], takeNext: () => string | undefined): JournalEvent {
  const { textLines, isTextNext, ...rest } = event;
  if (textLines === undefined && !isTextNext) return rest;
  const text = isTextNext ? takeNext() : before.slice(before.length - (textLines ?? 0)).join("");
  if (text === undefined || (textLines ?? 0) > before.length) throw unknownEntry();
  return { ...rest, delivery: { ...rest.delivery, text } };
}

function parseEvent(raw: unknown): Exclude<JournalEvent, { kind: "given" }> | Given {
  if (EVENT.safeParse(raw).success) return raw as JournalEvent;
  throw unknownEntry();
}

function unknownEntry(): GloveboxError {
  return new GloveboxError("STORE_UNAVAILABLE", "A journal contains an entry that this version does not know", {
    hint: "Use the version of Glovebox that wrote it, or a newer one",
  });
}

const RESULT = z.object({
  execution: TEXT,
  state: z.enum(["completed", "failed", "paused", "cancelled"]),
  logs: z.array(z.object({ level: TEXT, text: TEXT, atMs: NUMBER })),
  calls: z.array(CALL_RECORD),
  findings: z.array(z.object({ rule: TEXT, message: TEXT })),
  stats: z.record(z.string(), NUMBER),
  error: z.object({ code: TEXT, message: TEXT, retry: z.boolean() }).optional(),
  approvals: z.array(TEXT).optional(),
});

/** Throws `STORE_UNAVAILABLE` for a result that this version cannot read. */
export function parseStoredResult(id: ExecutionId, text: string): ExecutionResult {
  const raw: unknown = parseJson(text);
  if (RESULT.safeParse(raw).success) return raw as ExecutionResult;
  throw new GloveboxError("STORE_UNAVAILABLE", `The stored result of ${id} is damaged or from a newer version`, {
    hint: "Run `glovebox audit verify` to check the ledger",
  });
}

const FAILURE = z.object({ code: TEXT.refine(isErrorCode), message: TEXT, retry: z.boolean() });

/** The error of a failed call. Throws `REQUEST_INVALID` for one that no bridge wrote. */
export function parseFailure(text: string): PublicError {
  const raw: unknown = parseJson(text);
  if (FAILURE.safeParse(raw).success) return raw as PublicError;
  throw new GloveboxError("REQUEST_INVALID", "The recording has a failed call without a valid error");
}
