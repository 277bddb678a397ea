/** An upstream that is written by hand: functions of the operator that run on the host and look like any other tools. */

import type { JsonObject, JsonSchema } from "./json.ts";
import type { Effect } from "./tool.ts";

/** What a tool of an adapter gets beside its arguments. */
export interface AdapterContext {
  /** Fires when nobody waits for the answer any more: the time is up, or the program has ended. */
  readonly signal: AbortSignal;
  /** The value of a secret, for this call only. Rejects when a person has not set it. */
  readonly secret: (name: string) => Promise<string>;
  /**
   * Requests with the checks of every other way out, to hosts that `networkPolicy` of the adapter and of the tool allow.
   * Rejects with `EGRESS_DENIED` for any other, and for all of them where the configuration names no policy.
   */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

/** One tool of an adapter, ready to be called. */
export interface AdapterTool {
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  readonly effect: Effect;
  /** What it answers must be JSON; that is checked by whoever calls it. */
  readonly run: (args: JsonObject, context: AdapterContext) => Promise<unknown>;
}

/** Made by `defineAdapter`. `kind` tells it from other objects, also when it was made by another copy of the package. */
export interface Adapter {
  readonly kind: "glovebox.adapter";
  /** Its name as an upstream, which becomes its namespace. */
  readonly name: string;
  readonly tools: Readonly<Record<string, AdapterTool>>;
}
