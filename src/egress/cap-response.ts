/** Ends a response that grows past its limit, whatever its headers promised. */

import { GloveboxError } from "../domain/index.ts";

/**
 * Counts decoded bytes, so a small compressed body cannot unfold into a large one.
 * The declared length is checked first, which saves reading a body that is honest about being too large.
 */
export async function capResponse(response: Response, maxBytes: number): Promise<Response> {
  const { body, headers, status, statusText } = response;
  if (!body) return response;
  if (Number(headers.get("content-length") ?? 0) > maxBytes) {
    await body.cancel();
    throw tooLarge(maxBytes);
  }
  return new Response(body.pipeThrough(createByteCounter(maxBytes)), { headers, status, statusText });
}

function createByteCounter(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > maxBytes) controller.error(tooLarge(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

function tooLarge(maxBytes: number): GloveboxError {
  return new GloveboxError("LIMIT_SIZE", `The response is larger than ${maxBytes} bytes`, {
    hint: "Ask the upstream for less at a time",
  });
}
