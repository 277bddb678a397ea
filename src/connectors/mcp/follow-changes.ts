/** Hears of changed tools in the 2026-07-28 era, where a server speaks only on a stream that was opened for it. */

import { setTimeout as wait } from "node:timers/promises";

import { ProtocolError } from "@modelcontextprotocol/client";
import type { Client, McpSubscription } from "@modelcontextprotocol/client";

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export interface ChangeOptions {
  /** Changes may have been missed: the list should be asked for again. */
  readonly onGap: () => void;
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** For the server to acknowledge. */
  readonly ackMs: number;
}

/**
 * Keeps a `subscriptions/listen` stream open, and opens it again after a pause when it breaks off. Resolves when the
 * first one stands or has failed; the rest goes on by itself and never rejects. A server that refuses the method is
 * not asked again.
 */
export async function followChanges(client: Client, options: ChangeOptions): Promise<void> {
  const first = await listen(client, options);
  if (first !== "refused") void keepListening(client, first, options).catch(() => undefined);
}

type Listening = McpSubscription | "failed" | "refused";

async function listen(client: Client, { signal, ackMs }: ChangeOptions): Promise<Listening> {
  try {
    return await client.listen({ toolsListChanged: true }, { signal, timeout: ackMs });
  } catch (thrown) {
    return thrown instanceof ProtocolError ? "refused" : "failed";
  }
}

async function keepListening(client: Client, first: Listening, options: ChangeOptions): Promise<void> {
  let current = first;
  let pauseMs = FIRST_PAUSE_MS;
  while (!options.signal.aborted) {
    if (current === "refused") return;
    if (current !== "failed") {
      await current.closed;
      pauseMs = FIRST_PAUSE_MS;
    }
    await wait(pauseMs, undefined, { signal: options.signal, ref: false });
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    current = await listen(client, options);
    if (typeof current === "object") options.onGap();
  }
}
