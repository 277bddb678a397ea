/** The front door of `watching`. Metrics, traces and anomalies have doors of their own, opened only when they are on. */

export { createFeed } from "./feed.ts";
export type { Feed, FeedOptions } from "./feed.ts";
export type { CallTelemetry, CommitTelemetry, ExecutionTelemetry, TelemetryEvent, CalledTool } from "./event.ts";
