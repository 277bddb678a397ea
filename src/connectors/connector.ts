/** What every upstream looks like to the rest of the product, whatever protocol it speaks. */

import type { ConnectorId, Json, JsonObject, JsonSchema, UpstreamStatus } from "../domain/index.ts";

/** What a server claims about a tool. Claims inform defaults; they are never proof. */
export interface RemoteAnnotations {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
}

/** A tool under the upstream's own name. Its texts are the server's, uncleaned: `catalog` cleans and caps them. */
export interface RemoteTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  readonly annotations: RemoteAnnotations;
}

/** One upstream. It connects on first use, and its troubles are its own: they never reach another upstream's calls. */
export interface Connector extends AsyncDisposable {
  readonly id: ConnectorId;
  status(): UpstreamStatus;
  /**
   * Connects if that has not happened; after a failure tries again, with backoff. Callers at the same time share one
   * attempt, and a signal that fires ends the waiting of its own caller only. Rejects with `UPSTREAM_…`.
   */
  tools(signal?: AbortSignal): Promise<readonly RemoteTool[]>;
  /** One call; its only time limit is the signal. The protocol's result becomes one JSON value by `to-value.ts`. */
  call(remoteName: string, args: JsonObject, signal: AbortSignal): Promise<Json>;
  /** The listener hears that `tools()` would now answer something else. Returns the way to stop listening. */
  onToolsChanged(listener: () => void): () => void;
  /** Ends the connection and every process behind it; calls under way fail. Can be called twice. */
  close(): Promise<void>;
}
