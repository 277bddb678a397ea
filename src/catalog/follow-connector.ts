/** Keeps the latest listing of one upstream. A snapshot does not wait for one that was slow or failed before. */

import type { Connector } from "../connectors/index.ts";
import type { Instant } from "../domain/index.ts";
import { runInSlices, settlesWithin } from "../timing/index.ts";
import { parseListing } from "./parse-listing.ts";
import type { ToolListing } from "./parse-listing.ts";
import type { CleanText } from "./prose.ts";

/** How long a snapshot waits for one upstream; a slower one joins a later snapshot. */
export interface ListingTimeouts {
  /** For the first listing, which may include starting the server. */
  readonly firstMs: number;
  /** For a new listing after the upstream announced a change. */
  readonly refreshMs: number;
}

export type UpstreamListing = ReturnType<typeof followConnector>;

interface ListingOptions {
  readonly clean: CleanText;
  readonly timeouts: ListingTimeouts;
  readonly now: () => Instant;
  /** Cancels the listing in progress. */
  readonly signal: AbortSignal;
  /** Called after every successful listing, even a late one. Must not throw. */
  readonly onListed?: () => void;
}

export function followConnector(connector: Connector, { clean, timeouts, now, signal, onListed }: ListingOptions) {
  let listing: ToolListing | undefined;
  let version = 0;
  let isStale = true;
  let isSlow = false;
  let hasFailed = false;
  let seenConnection = "";
  let beganAt = 0;
  let asking: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;

  const stopListening = connector.onToolsChanged(() => {
    isStale = true;
  });
  signal.addEventListener("abort", stopListening, { once: true });

  async function ask(): Promise<void> {
    try {
      listing = await runInSlices(parseListing(await connector.tools(signal), clean));
      version += 1;
      hasFailed = false;
    } catch {
      // The connector's status has the cause.
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
    beganAt = now();
    asking = ask();
    const watched = settlesWithin(asking, isFirst ? timeouts.firstMs : timeouts.refreshMs).then((inTime) => {
      isSlow = !inTime;
    });
    waiting = isAwaited ? watched : undefined;
  }

  return {
    connector,
    /** The last successful listing. A crashed server keeps it, because the next call reconnects. */
    listing: () => listing,
    /** Increases with every new listing. */
    version: () => version,
    /** How long ago the last listing began. */
    askedMs: (): number => now() - beganAt,
    /** Lists again if needed. Resolves when a snapshot need not wait any longer; never rejects. */
    refresh: () => {
      const isDue = isStale || hasFailed || connectionOf(connector) !== seenConnection;
      if (!asking && isDue) begin();
      return waiting;
    },
  };
}

/** Differs after every reconnect: a restarted server may have other tools. */
function connectionOf(connector: Connector): string {
  const { state, since } = connector.status();
  return `${state} ${since}`;
}
