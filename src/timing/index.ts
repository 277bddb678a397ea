/** Small mechanics of time: polling, races, backoff, caches. A function enters with its third user. */

export { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, backoffMs } from "./durations.ts";
export { pollEvery } from "./poll-every.ts";
export { createRecent } from "./recent.ts";
export { createFairQueue, ownerOf } from "./fair-queue.ts";
export type { Owner, QueueItem } from "./fair-queue.ts";
export { mapInSlices, runAtOnce, runInSlices, takeTurn } from "./turns.ts";
export type { RunSlice, SlicedWork } from "./turns.ts";
export { NEVER, settlesWithin, untilAborted } from "./until-aborted.ts";
