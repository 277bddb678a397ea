/**
 * Detects changed tools in the 2026-07-28 era, where a server only sends notifications on a stream that the client
 * opened.
 */

import { setTimeout as wait } from "node:timers/promises";

import { ProtocolError } from "@modelcontextprotocol/client";
import type { Client, McpSubscription } from "@modelcontextprotocol/client";

import { backoffMs } from "../../timing/index.ts";

const PAUSE = { firstMs: 1_000, longestMs: 60_000 };

export interface ChangeOptions {
  /** Called when changes may have been missed, so the tools should be listed again. */
  readonly onGap: () => void;
  /** Stops the listening. */
  readonly signal: AbortSignal;
  /** Time limit for the acknowledgment of the server. */
  readonly ackMs: number;
}

/**
 * Keeps a `subscriptions/listen` stream open and reopens it after a pause when it ends. Resolves when the first one is
 * open or has failed; the rest continues in the background and never rejects. Stops if the server refuses the method.
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
  let failures = 0;
  while (!options.signal.aborted) {
    if (current === "refused") return;
    if (current !== "failed") {
      await current.closed;
      failures = 0;
    }
    failures += 1;
    await wait(backoffMs(failures, PAUSE), undefined, { signal: options.signal, ref: false });
    current = await listen(client, options);
    if (typeof current === "object") options.onGap();
  }
}
