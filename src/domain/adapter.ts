/** An upstream written by hand: functions of the operator that run on the host and appear like any other tools. */

import type { JsonObject, JsonSchema } from "./json.ts";
import type { Effect } from "./tool.ts";

export interface AdapterContext {
  /** Fires when the result is no longer needed: the time limit was reached, or the program has ended. */
  readonly signal: AbortSignal;
  /** The value of a secret, for this call only. Rejects if the secret is not set. */
  readonly secret: (name: string) => Promise<string>;
  /**
   * Sends a request, with all checks of `egress`, to a host that `networkPolicy` of the adapter and of the tool allow.
   * Rejects with `EGRESS_DENIED` for every other host, and for every host if the configuration has no policy.
   */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

export interface AdapterTool {
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  readonly effect: Effect;
  /** Returns the result or a promise of it. The result must be JSON; the caller checks it. */
  readonly run: (args: JsonObject, context: AdapterContext) => unknown;
}

/** Made by `defineAdapter`. `kind` marks it, also if another copy of the package made it. */
export interface Adapter {
  readonly kind: "glovebox.adapter";
  /** The upstream's name, which becomes its namespace. */
  readonly name: string;
  readonly tools: Readonly<Record<string, AdapterTool>>;
}
