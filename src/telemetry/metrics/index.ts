/** The door of metrics: loaded only when they are on. */

export { createMetrics } from "./create-metrics.ts";
export type { Metrics, MetricsSources } from "./create-metrics.ts";
