/** One callable capability, and the frozen set of them that an execution sees. */

import type { ConnectorId, Digest, Instant, ToolAddress } from "./ids.ts";
import type { JsonSchema } from "./json.ts";
import type { Label } from "./label.ts";
import type { WithheldTool } from "./withheld.ts";

export type Effect = "read" | "write" | "destroy" | "unknown";

/** Whose word an effect is, where it is not the upstream's own: a guess from the tool's name, or the operator's. */
export type EffectSource = "guess" | "operator";

export interface Tool {
  readonly address: ToolAddress;
  readonly origin: { readonly kind: "upstream"; readonly connector: ConnectorId; readonly remoteName: string };
  /** One cleaned line, for lists. */
  readonly summary: string;
  /** The cleaned and capped text of the upstream. */
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  /** The shape that its results had so far, where the server declares none. Never checked against, only shown. */
  readonly learned?: JsonSchema;
  readonly effect: Effect;
  /** The server says that a second call with the same arguments changes nothing more. */
  readonly idempotent?: boolean;
  /** Left out when the upstream itself says so. */
  readonly effectSource?: EffectSource;
  /** Where its data comes from and goes to; left out when nothing is known. */
  readonly labels?: readonly Label[];
  /** Hash of everything the model reads about this tool. */
  readonly digest: Digest;
}

/** `destroy, guessed from its name`: a guess is never shown as a fact. */
export function describeEffect({ effect, effectSource }: Pick<Tool, "effect" | "effectSource">): string {
  if (effectSource === "guess") return `${effect}, guessed from its name`;
  return effectSource === "operator" ? `${effect}, set by the operator` : effect;
}

/** The tools one principal may see, frozen for one execution. */
export interface CatalogSnapshot {
  readonly digest: Digest;
  readonly takenAt: Instant;
  readonly tools: ReadonlyMap<ToolAddress, Tool>;
  readonly namespaces: readonly Namespace[];
  /** Tools that servers list and nobody may call yet, by the address that they would have. */
  readonly withheld?: ReadonlyMap<ToolAddress, WithheldTool>;
  /** Tools that policy denies to this principal whatever the arguments: not shown, and refused when called. */
  readonly hidden?: ReadonlyMap<ToolAddress, Tool>;
}

/** One upstream as a program sees it: a global object whose methods are tools. */
export interface Namespace {
  readonly name: string;
  readonly connector: ConnectorId;
  readonly summary: string;
  /** The method names, sorted. */
  readonly tools: readonly string[];
}

/** What the model reads. A pure function of a snapshot, cached by its digest. */
export interface ApiSurface {
  readonly snapshot: Digest;
  readonly declarations: string;
  readonly namespaces: readonly Namespace[];
  /** The names that are declared as `secrets`; left out for none. Surfaces of one snapshot differ in it. */
  readonly secrets?: readonly string[];
  /** Which tools have types here, where not all of the snapshot's have: surfaces of one snapshot differ in it. */
  readonly part?: string;
  /** What the program reaches and is declared without types, for want of room. */
  readonly loose?: readonly ToolAddress[];
}

/** What is known about tools when a program does not fit them. Nothing is computed before it is needed. */
export interface ToolGuide {
  /** The nearest tools by name, then by meaning, best first. */
  readonly nearest: (name: string) => readonly ToolAddress[];
  /** The declaration of one tool, before the types that it uses; `undefined` if there is no tool of that name. */
  readonly signature: (address: string) => string | undefined;
  /** How the tool is called, on one line, without its result. */
  readonly call: (address: string) => string | undefined;
  /** True if the result type is inferred from earlier results: such a type is too weak to refuse a program. */
  readonly isGuessed: (address: string) => boolean;
  /** True if the tool exists and waits for approval: the call itself reports that. */
  readonly isWithheld: (address: string) => boolean;
}
