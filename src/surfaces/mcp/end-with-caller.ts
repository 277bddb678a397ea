/** Streams of events that stay open without a call end once their caller may no longer use the gateway. */

import { isJsonObject } from "../../domain/index.ts";
import type { Json } from "../../domain/index.ts";
import { SECOND_MS, pollEvery } from "../../timing/index.ts";

/** True for a request that only listens: its answer ends when the client wants it to. */
export function isListening(method: string, parsedBody?: Json): boolean {
  if (method === "GET") return true;
  const messages: readonly (Json | undefined)[] = Array.isArray(parsedBody) ? parsedBody : [parsedBody];
  return messages.some((message) => isJsonObject(message) && message["method"] === "subscriptions/listen");
}

/** `isValid` is asked once a second; it must not reject. The returned response replaces the given one. */
export function endWithCaller(
  response: Response,
  isValid: () => Promise<boolean>,
  everyMs: number = SECOND_MS,
): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const reader = body.getReader();
  let polling: AsyncDisposable | undefined;
  const stop = (): void => {
    void polling?.[Symbol.asyncDispose]();
    polling = undefined;
  };
  const watched = new ReadableStream<Uint8Array>({
    start() {
      polling = pollEvery(everyMs, async () => {
        if (await isValid()) return;
        stop();
        await reader.cancel("The caller may no longer use the gateway"); // the read that waits ends the stream
      });
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        stop();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      stop();
      controller.close();
    },
    async cancel(reason) {
      stop();
      await reader.cancel(reason);
    },
  });
  return new Response(watched, { status, statusText, headers });
}
