/** Lets a handler of Node's HTTP server answer a request of the application. */

import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

import type { Identity } from "../../identity/index.ts";

type RunNode = Parameters<NonNullable<Identity["openAuthorization"]>>[0]["runNode"];

/** Keeps what is written instead of sending it. */
class KeptResponse extends ServerResponse {
  readonly #chunks: Uint8Array[] = [];
  #isEnded = false;

  override write(chunk: unknown): boolean {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) this.#chunks.push(Buffer.from(chunk));
    return true;
  }

  override end(chunk?: unknown): this {
    this.write(chunk);
    this.#isEnded = true;
    return this;
  }

  /** Throws unless the handler has ended it. */
  toResponse(): Response {
    if (!this.#isEnded) throw new TypeError("The handler did not answer");
    const headers = new Headers();
    for (const [name, value = []] of Object.entries(this.getHeaders()))
      for (const one of [value].flat()) headers.append(name, String(one));
    for (const name of ["content-length", "transfer-encoding", "connection"]) headers.delete(name);
    const body = Buffer.concat(this.#chunks);
    return new Response(body.length > 0 ? Uint8Array.from(body) : null, { status: this.statusCode, headers });
  }
}

export const runNode: RunNode = async ({ method, target, headers, body }, handler) => {
  const incoming = new IncomingMessage(new Socket());
  Object.assign(incoming, { method, url: target, headers: { ...headers } });
  if (body !== "") incoming.push(body);
  incoming.push(null);
  const outgoing = new KeptResponse(incoming);
  await handler(incoming, outgoing);
  return outgoing.toResponse();
};
