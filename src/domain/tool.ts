/** One callable capability, and the frozen set of them that an execution sees. */

import type { ConnectorId, Digest, Instant, ToolAddress } from "./ids.ts";
import type { JsonSchema } from "./json.ts";
import type { WithheldTool } from "./withheld.ts";

export type Effect = "read" | "write" | "destroy" | "unknown";

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
  /** Hash of everything the model reads about this tool. */
  readonly digest: Digest;
}

/** The tools one principal may see, frozen for one execution. */
export interface CatalogSnapshot {
  readonly digest: Digest;
  readonly takenAt: Instant;
  readonly tools: ReadonlyMap<ToolAddress, Tool>;
  readonly namespaces: readonly Namespace[];
  /** Tools that servers list and nobody may call yet, by the address that they would have. */
  readonly withheld?: ReadonlyMap<ToolAddress, WithheldTool>;
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
}
