/** Refuses a request whose id belongs to an open request: the SDK would answer only one of the two. */

import { isJSONRPCNotification, isJSONRPCRequest } from "@modelcontextprotocol/server";
import type { RequestId } from "@modelcontextprotocol/server";
import type { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

export const INVALID_REQUEST = -32_600;

export function describeRepeatedId(id: RequestId): string {
  return `Invalid request: the id ${JSON.stringify(id)} belongs to a request without an answer; use a new id`;
}

/** Answers a repeated id on a transport that is already connected. A cancelled request has no answer and frees its id. */
export function refuseRepeatedIds(transport: StdioServerTransport): void {
  const open = new Set<RequestId>();
  const receive = transport.onmessage;
  const send = transport.send.bind(transport);

  transport.send = (message) => {
    if (!("method" in message) && message.id !== undefined) open.delete(message.id);
    return send(message);
  };
  transport.onmessage = (message) => {
    if (isJSONRPCRequest(message)) {
      const { id } = message;
      const error = { code: INVALID_REQUEST, message: describeRepeatedId(id) };
      if (open.has(id)) {
        send({ jsonrpc: "2.0", id, error }).catch(() => undefined);
        return;
      }
      open.add(id);
    } else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      const id = message.params?.["requestId"];
      if (typeof id === "string" || typeof id === "number") open.delete(id);
    }
    receive?.(message);
  };
}
