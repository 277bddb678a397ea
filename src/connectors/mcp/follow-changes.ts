/**
 * Detects changed tools in the 2026-07-28 era, where a server only sends notifications on a stream that the client
 * opened.
 */

import { setTimeout as wait } from "node:timers/promises";

import { ProtocolError } from "@modelcontextprotocol/client";
import type { Client, McpSubscription } from "@modelcontextprotocol/client";

import { backoffMs } from "../../timing/index.ts";

const PAUSE = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Keeps a `subscriptions/listen` stream open and reopens it after a pause when it ends. Resolves when the first one is
 * open or has failed; the rest continues in the background and never rejects. Stops if the server refuses the method.
 * Calls `onGap` when changes may have been missed, so that the tools should be listed again.
 */
export async function followChanges(
  client: Client,
  { onGap, signal, ackMs }: { readonly onGap: () => void; readonly signal: AbortSignal; readonly ackMs: number },
): Promise<void> {
  const listen = (): Promise<McpSubscription | "failed" | "refused"> =>
    client
      .listen({ toolsListChanged: true }, { signal, timeout: ackMs })
      .catch((thrown: unknown) => (thrown instanceof ProtocolError ? "refused" : "failed"));
  let current = await listen();
  const keepListening = async (): Promise<void> => {
    let failures = 0;
    while (current !== "refused" && !signal.aborted) {
      if (current !== "failed") {
        await current.closed;
        failures = 0;
      }
      failures += 1;
      await wait(backoffMs(failures, PAUSE), undefined, { signal, ref: false });
      current = await listen();
      if (typeof current === "object") onGap();
    }
  };
  keepListening().catch(() => undefined);
}
