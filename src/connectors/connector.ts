/** What every upstream looks like to the rest of the product, whatever protocol it speaks. */

import type {
  Attachment,
  CallProgress,
  ConnectorId,
  Json,
  JsonObject,
  JsonSchema,
  TraceContext,
  UpstreamStatus,
} from "../domain/index.ts";

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
  /** What a call sends and where to, where a document decides that and a schema does not show it. Pinned with the rest. */
  readonly request?: JsonObject;
  /** Made by the connector from what else the server offers: its resources or prompts. */
  readonly synthetic?: true;
}

/** Single values that outlive the process and are shared by every process of an installation. */
export interface DurableValues {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  erase(key: string): Promise<void>;
}

/** What one call answered: one JSON value, and what is no JSON beside it. */
export interface RemoteResult {
  readonly value: Json;
  readonly attachments: readonly Attachment[];
}

export interface CallOptions {
  /** The only time limit of a call. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: CallProgress) => void;
  /** What an upstream that speaks MCP is told of the trace that the call belongs to. */
  readonly trace?: TraceContext;
  /** Hears of the moment from which on the upstream may have received the request: what follows may be an effect. */
  readonly onSent?: () => void;
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
  /** One call. What the protocol answers becomes one JSON value by a rule of the connector's own. */
  call(remoteName: string, args: JsonObject, options: CallOptions): Promise<RemoteResult>;
  /** The listener hears that `tools()` would now answer something else. Returns the way to stop listening. */
  onToolsChanged(listener: () => void): () => void;
  /**
   * What a person does about a server that was suspended, or behaves oddly: ends the connection, forgets past failures
   * and lets the next use connect at once. Absent where there is nothing to restart.
   */
  restart?(): Promise<void>;
  /** Ends the connection and every process behind it; calls under way fail. Can be called twice. */
  close(): Promise<void>;
}
