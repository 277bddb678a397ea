/** Loads and opens what watches the gateway, and nothing of it while it is off. */

import type { Settings } from "./config/index.ts";
import type { Gateway } from "./surfaces/index.ts";
import type { Feed } from "./watching/index.ts";
import type { MetricsSources } from "./watching/metrics/index.ts";
import { reportIncident } from "./host-powers.ts";

/** `undefined` when nothing is watched: then nobody listens to the ledger. */
export async function openFeed({ metrics }: Settings): Promise<Feed | undefined> {
  if (!metrics.enabled) return undefined;
  const { createFeed } = await import("./watching/index.ts");
  return createFeed({ now: Date.now, report: reportIncident });
}

/** The part of a gateway that answers `/metrics`; empty when it is off. */
export async function openMetrics(
  { metrics }: Settings,
  feed: Feed | undefined,
  sources: Omit<MetricsSources, "feed">,
): Promise<Pick<Gateway, "metrics">> {
  if (!feed || !metrics.enabled) return {};
  const { createMetrics } = await import("./watching/metrics/index.ts");
  const created = createMetrics({ ...sources, feed });
  return { metrics: () => created.render() };
}
