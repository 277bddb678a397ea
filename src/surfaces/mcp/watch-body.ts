/** Tells when a response has gone out completely or its receiver went away. */

/**
 * Calls `onEnd` exactly once; immediately for a response without a body. `onDrop` comes before it when the receiver went
 * away before the end. The returned response replaces the given one.
 */
export function watchBody(response: Response, onEnd: () => void, onDrop: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (!body) {
    onEnd();
    return response;
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onEnd();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      onEnd();
      controller.close();
    },
    async cancel(reason) {
      onDrop();
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(watched, { status, statusText, headers });
}
