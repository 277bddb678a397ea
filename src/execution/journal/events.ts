/** What a journal holds: the request, how its program began, and everything that the program was given, in order. */

import type { JournaledCall } from "../../bridge/index.ts";
import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { EngineName, LabelSource, Namespace, Program } from "../../domain/index.ts";
import type { Delivery, TapeStart } from "../../sandbox/index.ts";
import type { ExecutionRequest } from "../run/execute.ts";

/** Everything that makes an execution what it is, but for the program's answers. */
export type JournaledRequest = Pick<
  ExecutionRequest,
  "principal" | "source" | "limits" | "input" | "analysis" | "types" | "networkPolicy" | "dryRun"
>;

/** A program as it runs: what it was made into, the names it sees, and where chance and time began. */
export interface JournaledStart {
  readonly start: TapeStart;
  readonly program: Program;
  readonly namespaces: readonly Namespace[];
  readonly network: boolean;
  /** The tokens that it has as `secrets`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly engine: EngineName;
  /** What its session had read before. */
  readonly labels?: readonly LabelSource[];
}

export interface JournaledDelivery {
  readonly delivery: Delivery;
  readonly call?: JournaledCall;
}

export type JournalEvent =
  /** With where chance and time are to begin: nobody has seen them before they are written. */
  | ({ readonly kind: "asked"; readonly start?: TapeStart } & JournaledRequest)
  | ({ readonly kind: "began" } & JournaledStart)
  | ({ readonly kind: "given" } & JournaledDelivery)
  /** It grew too large; from here on nothing is known. */
  | { readonly kind: "broke" };

/** A whole journal, read back. */
export interface Recording {
  readonly request: JournaledRequest;
  /** Where chance and time begin, or began. */
  readonly start?: TapeStart;
  /** Absent when the program never began. */
  readonly started?: JournaledStart;
  readonly deliveries: readonly JournaledDelivery[];
  /** False when it does not reach to the end: such an execution can neither go on nor be shown again. */
  readonly isWhole: boolean;
}

/** `undefined` without a request: then nothing was ever written. */
export function toRecording(events: readonly JournalEvent[]): Recording | undefined {
  const asked = events.find((event) => event.kind === "asked");
  if (!asked) return undefined;
  const { start, ...request } = asked;
  const started = events.find((event) => event.kind === "began");
  return {
    request,
    ...(start && { start }),
    ...(started && { started }),
    deliveries: events.filter((event) => event.kind === "given"),
    isWhole: !events.some((event) => event.kind === "broke"),
  };
}

export function toLine(event: JournalEvent): string {
  return JSON.stringify(event);
}

/** Lines were written by `toLine` and sealed: nobody else can have. */
export function parseLines(text: string): readonly JournalEvent[] {
  return text.split("\n").map((line) => parseEvent(JSON.parse(line)));
}

function parseEvent(raw: unknown): JournalEvent {
  if (!isJsonObject(raw) || !KINDS.has(raw["kind"] as JournalEvent["kind"])) {
    throw new GloveboxError("STORE_UNAVAILABLE", "A journal holds something that this version does not know", {
      hint: "Use the version of Glovebox that wrote it, or a newer one",
    });
  }
  return raw as unknown as JournalEvent;
}

const KINDS: ReadonlySet<JournalEvent["kind"]> = new Set(["asked", "began", "given", "broke"]);
