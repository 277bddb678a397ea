/** A request whose id belongs to an open request is refused: the SDK would answer only one of the two. */

import type { RequestId } from "@modelcontextprotocol/server";

export const INVALID_REQUEST = -32_600;

export function describeRepeatedId(id: RequestId): string {
  return `Invalid request: the id ${JSON.stringify(id)} belongs to a request without an answer; use a new id`;
}
