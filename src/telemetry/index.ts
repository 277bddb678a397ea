/** The interface of `telemetry`. Metrics, traces and anomalies are loaded only if the settings turn them on. */

export type { Feed } from "./feed.ts";
export { openFeed, openTelemetry } from "./open-telemetry.ts";
export type { Telemetry } from "./open-telemetry.ts";
