/** Refuses a response whose head can be read in two ways, or in none, before anybody acts on it. */

import type { IncomingMessage } from "node:http";

import { GloveboxError } from "../../domain/index.ts";

/** Nobody honest comes near. */
const MAX_HEADERS = 1000;

/** Ends the response and throws `UPSTREAM_RESULT_INVALID`. */
export function checkHead(response: IncomingMessage): void {
  const problem = findProblem(response);
  if (problem === undefined) return;
  response.on("error", () => undefined);
  response.destroy();
  throw new GloveboxError("UPSTREAM_RESULT_INVALID", `The response ${problem}`, {
    hint: "Report it to whoever runs the server",
  });
}

function findProblem({ statusCode = 0, headers, headersDistinct, rawHeaders }: IncomingMessage): string | undefined {
  if (statusCode < 200 || statusCode > 599) return "has a status that HTTP does not have";
  if (rawHeaders.length / 2 > MAX_HEADERS) return `has more than ${MAX_HEADERS} headers`;
  // Another coding was never asked for (RFC 9112 §7.4), and where it leaves the end open, two readers find two ends.
  const framing = headers["transfer-encoding"];
  if (framing !== undefined && framing.toLowerCase() !== "chunked") return "is framed in a way that nobody asked for";
  if ((headersDistinct["location"]?.length ?? 0) > 1) return "redirects to several places at once";
  return undefined;
}
