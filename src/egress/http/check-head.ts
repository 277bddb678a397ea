/** Refuses a response whose head is ambiguous or invalid, before it is used. */

import type { IncomingMessage } from "node:http";

import { GloveboxError } from "../../domain/index.ts";

/** Far more than any honest server sends. */
const MAX_HEADERS = 1000;

/** Ends the response and throws `UPSTREAM_RESULT_INVALID`. */
export function checkHead(response: IncomingMessage): void {
  const problem = findProblem(response);
  if (problem === undefined) return;
  response.on("error", () => undefined);
  response.destroy();
  throw new GloveboxError("UPSTREAM_RESULT_INVALID", `The response ${problem}`, {
    hint: "Report it to the server's operator",
  });
}

function findProblem({ statusCode = 0, headers, headersDistinct, rawHeaders }: IncomingMessage): string | undefined {
  if (statusCode < 200 || statusCode > 599) return "has an invalid HTTP status";
  if (rawHeaders.length / 2 > MAX_HEADERS) return `has more than ${MAX_HEADERS} headers`;
  // Another coding was never requested (RFC 9112 §7.4). If it leaves the end open, two readers find two ends.
  const framing = headers["transfer-encoding"];
  if (framing !== undefined && framing.toLowerCase() !== "chunked")
    return "uses a transfer encoding that was not requested";
  if ((headersDistinct["location"]?.length ?? 0) > 1) return "has several Location headers";
  return undefined;
}
