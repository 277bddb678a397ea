/** Follows the events of the gateway: one connection for the page, and polling where events do not arrive. */

import { signal } from "@preact/signals";

import { TOPICS } from "../../src/surfaces/admin/contract.ts";
import type { Topic } from "../../src/surfaces/admin/contract.ts";

const POLL_MS = 3_000;
/** After this many broken connections in a row the page polls; a proxy may hold events back. */
const MAX_BREAKS = 3;

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

/** Stops when the session has ended; then `start` is called again after a login. */
export function createLive({ canPoll }: { readonly canPoll: () => boolean }) {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let breaks = 0;
  const setKind = (kind: "live" | "polling" | "off"): void => {
    if (freshness.value.kind !== kind) freshness.value = { kind, since: Date.now() };
  };
  const poll = (): void => {
    timer ??= setInterval(() => {
      if (canPoll()) bump(TOPICS);
    }, POLL_MS);
  };
  const start = (): void => {
    source?.close();
    source = new EventSource("/api/events");
    source.addEventListener("changed", (event) => {
      breaks = 0;
      clearInterval(timer);
      timer = undefined;
      setKind("live");
      if (event instanceof MessageEvent && typeof event.data === "string") bump(event.data.split(" "));
    });
    source.addEventListener("error", () => {
      breaks += 1;
      setKind(breaks > MAX_BREAKS ? "polling" : "off");
      poll();
    });
  };
  return { start };
}
