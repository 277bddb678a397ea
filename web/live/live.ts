/** Follows the events of the gateway: one connection for the page, and polling where events do not arrive. */

import { signal } from "@preact/signals";

import { TOPICS } from "../../src/surfaces/admin/contract.ts";
import type { Topic } from "../../src/surfaces/admin/contract.ts";

const POLL_MS = 3_000;
/** After this many broken connections in a row the page polls; a proxy may hold events back. */
const MAX_BREAKS = 3;
/** The gateway sends an event at once, and then one at least every 15 seconds; without, a proxy holds them back. */
const FIRST_EVENT_MS = 2_000;
const SILENCE_MS = 40_000;

/** How fresh the page is. `off`: nothing has been heard since `since`. */
export const freshness = signal<{ readonly kind: "live" | "polling" | "off"; readonly since: number }>({
  kind: "off",
  since: Date.now(),
});

/** Grows with every change of a topic; what shows the topic asks for it again. */
export const versions: Readonly<Record<Topic, { value: number }>> = {
  approvals: signal(0),
  executions: signal(0),
  servers: signal(0),
  skills: signal(0),
};

function bump(topics: readonly string[]): void {
  for (const topic of TOPICS) if (topics.includes(topic)) versions[topic].value += 1;
}

interface LiveOptions {
  readonly canPoll: () => boolean;
  /** Resolves to true if the gateway answers anything at all. */
  readonly isReachable: () => Promise<boolean>;
}

/** Stops when the session has ended; then `start` is called again after a login. */
export function createLive({ canPoll, isReachable }: LiveOptions) {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let breaks = 0;
  const setKind = (kind: "live" | "polling" | "off"): void => {
    if (freshness.value.kind !== kind) freshness.value = { kind, since: Date.now() };
  };
  const look = async (): Promise<void> => {
    if (!canPoll()) return;
    const isThere = await isReachable();
    if (timer === undefined) return;
    setKind(isThere ? "polling" : "off");
    if (isThere) bump(TOPICS);
  };
  const poll = (): void => {
    timer ??= setInterval(() => void look(), POLL_MS);
  };
  const listen = (ms: number): void => {
    clearTimeout(silence);
    silence = setTimeout(poll, ms);
  };
  const start = (): void => {
    source?.close();
    source = new EventSource("/api/events");
    listen(FIRST_EVENT_MS);
    source.addEventListener("changed", (event) => {
      breaks = 0;
      clearInterval(timer);
      timer = undefined;
      listen(SILENCE_MS);
      setKind("live");
      if (event instanceof MessageEvent && typeof event.data === "string") bump(event.data.split(" "));
    });
    source.addEventListener("error", () => {
      breaks += 1;
      if (breaks <= MAX_BREAKS) setKind("off");
      poll();
    });
  };
  return { start };
}
