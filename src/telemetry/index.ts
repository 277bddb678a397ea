/** The front door of `watching`. Metrics, traces and anomalies have doors of their own, opened only when they are on. */

export { createFeed } from "./feed.ts";
export type { Feed, FeedOptions } from "./feed.ts";
export type { CallSeen, CommitSeen, ExecutionSeen, Happening, SeenTool } from "./happening.ts";
