/** Observes the end of a response: sent completely, or dropped by its receiver. */

/**
 * Calls `onEnd` exactly once; immediately for a response without a body. Calls `onDrop` first if the receiver
 * disconnected before the end. The returned response replaces the given one.
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
