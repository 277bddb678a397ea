/** The front door of `telemetry`. Metrics, traces and anomalies are loaded only when the settings turn them on. */

export { openFeed, openTelemetry } from "./open-telemetry.ts";
export type { Telemetry } from "./open-telemetry.ts";
export type { Feed } from "./feed.ts";
export type { CallTelemetry, CommitTelemetry, ExecutionTelemetry, TelemetryEvent, CalledTool } from "./event.ts";
