/** What every upstream looks like to the rest of the product, over any protocol. */

import type {
  Attachment,
  CallProgress,
  ConnectorId,
  InputRequest,
  Json,
  JsonObject,
  JsonSchema,
  TraceContext,
  UpstreamStatus,
} from "../domain/index.ts";
import type { RunSlice } from "../timing/index.ts";

/** What a server claims about a tool. Claims set defaults; they are never proof. */
export interface RemoteAnnotations {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly openWorld?: boolean;
}

/** A tool under the upstream's own name. Its text comes from the server as it is: `catalog` cleans and cuts it. */
export interface RemoteTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  readonly annotations: RemoteAnnotations;
  /**
   * What a call sends and where to, if a document decides that and the schema does not show it. Pinned with the rest.
   */
  readonly request?: JsonObject;
  /** True for a tool that the connector makes from the server's resources or prompts. */
  readonly synthetic?: true;
  /** Why the tool cannot be offered: the catalog leaves it out and reports this. Never the server's text. */
  readonly unusable?: string;
}

/** Single values that outlive the process and are shared by every process of an installation. */
export interface DurableValues {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  erase(key: string): Promise<void>;
}

/** The most that `limits.depth` can be. A deeper result is refused right after it was parsed, because later steps recurse. */
export const MOST_DEPTH = 512;

/** The result of one call: one JSON value, and the files that came with it. */
export interface RemoteResult {
  readonly value: Json;
  readonly attachments: readonly Attachment[];
}

export interface CallOptions {
  /** The only time limit of a call. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: CallProgress) => void;
  /** Passed on to upstreams that speak MCP. */
  readonly trace?: TraceContext;
  /** Runs work of this thread on the answer, and counts its time. */
  readonly spend?: RunSlice;
  /** Asks the person behind the call. Without it, upstreams are told that no person can be asked. */
  readonly askInput?: InputRequest["ask"];
  /** Called once the request may have reached the upstream. A later failure may have had side effects. */
  readonly onSent?: () => void;
}

/** One upstream. It connects on first use. Its failures never affect calls of another upstream. */
export interface Connector extends AsyncDisposable {
  readonly id: ConnectorId;
  /** Its results are passed on if they do not match their output schema. */
  readonly isLenient?: boolean;
  status(): UpstreamStatus;
  /**
   * Connects if necessary; after a failure tries again, with backoff. Concurrent callers share one attempt. A signal
   * that fires only ends the wait of its own caller. Rejects with `UPSTREAM_…`.
   */
  tools(signal?: AbortSignal): Promise<readonly RemoteTool[]>;
  /** One call. Each connector turns the answer of its protocol into one JSON value. */
  call(remoteName: string, args: JsonObject, options: CallOptions): Promise<RemoteResult>;
  /** Calls the listener when `tools()` would return another list. Returns a function that removes the listener. */
  onToolsChanged(listener: () => void): () => void;
  /**
   * Ends the connection and forgets past failures; the next use connects at once. For an operator who has fixed a
   * suspended server. Absent if there is nothing to restart.
   */
  restart?(): Promise<void>;
  /** Ends the connection and every process behind it; calls in progress fail. Can be called twice. */
  close(): Promise<void>;
}
