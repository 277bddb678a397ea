/**
 * Keeps the latest listing of one server. Asks again when the server says that its tools changed, when its
 * connection is another one, or when it failed; nobody waits for a server that has shown itself slow or broken.
 */

import { setTimeout as delay } from "node:timers/promises";

import type { Connector } from "../connectors/index.ts";
import { parseListing } from "./parse-listing.ts";
import type { Listing } from "./parse-listing.ts";
import type { Clean } from "./prose.ts";

/** How long a snapshot waits for one server; the server itself may take longer and joins a later snapshot. */
export interface Patience {
  /** For the first answer, which may include starting the server. */
  readonly firstMs: number;
  /** For a fresh list after the server announced a change. */
  readonly againMs: number;
}

/** One server as the catalog sees it. */
export interface Followed {
  readonly connector: Connector;
  /** The last good listing; a server that crashed keeps it, because its next call reconnects. */
  listing(): Listing | undefined;
  /** Goes up with every new listing. */
  version(): number;
  /** Asks the server if there is reason to. Settles when a snapshot need not wait any longer; never rejects. */
  refresh(): Promise<void> | undefined;
}

interface FollowOptions {
  readonly clean: Clean;
  readonly patience: Patience;
  /** Ends every question that is under way. */
  readonly signal: AbortSignal;
  /** Hears of every listing, also of one that comes when nobody waits any more. Must not throw. */
  readonly onListed?: () => void;
}

/** Listens from now on, until `signal` fires. */
export function followConnector(connector: Connector, { clean, patience, signal, onListed }: FollowOptions): Followed {
  let listing: Listing | undefined;
  let version = 0;
  let isStale = true;
  let isSlow = false;
  let hasFailed = false;
  let seenConnection = "";
  let asking: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;

  const stopListening = connector.onToolsChanged(() => {
    isStale = true;
  });
  signal.addEventListener("abort", stopListening, { once: true });

  async function ask(): Promise<void> {
    try {
      listing = parseListing(await connector.tools(signal), clean);
      version += 1;
      hasFailed = false;
    } catch {
      // The cause is in the connector's own status.
      hasFailed = true;
    }
    seenConnection = connectionOf(connector);
    asking = undefined;
    waiting = undefined;
    if (!hasFailed) onListed?.();
  }

  function begin(): void {
    const isFirst = version === 0 && !hasFailed;
    const isAwaited = isFirst || (isStale && !hasFailed && !isSlow);
    isStale = false;
    asking = ask();
    const watched = isInTime(asking, isFirst ? patience.firstMs : patience.againMs).then((inTime) => {
      isSlow = !inTime;
    });
    waiting = isAwaited ? watched : undefined;
  }

  return {
    connector,
    listing: () => listing,
    version: () => version,
    refresh: () => {
      const isDue = isStale || hasFailed || connectionOf(connector) !== seenConnection;
      if (!asking && isDue) begin();
      return waiting;
    },
  };
}

/** Another value after every reconnect: a restarted server may have other tools. */
function connectionOf(connector: Connector): string {
  const { state, since } = connector.status();
  return `${state} ${since}`;
}

async function isInTime(answer: Promise<void>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([answer.then(() => true), delay(ms, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
