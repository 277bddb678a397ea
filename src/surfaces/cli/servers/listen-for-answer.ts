/**
 * Waits on loopback for the browser to return from a login. It accepts one answer with the expected state and ignores
 * every other request.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

import { GloveboxError } from "../../../domain/index.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";
const MAX_URL_CHARS = 8192;

/**
 * Listens before the login starts, so that the address for the answer is known and reserved; port 0 chooses a free one.
 * `answer` has the parameters of the first request with the right state. It rejects after the timeout or `stop`.
 */
export async function listenForAnswer({
  state,
  port,
  answerMs,
}: Readonly<Record<"port" | "answerMs", number>> & { readonly state: string }) {
  const answered = Promise.withResolvers<URLSearchParams>();
  answered.promise.catch(() => undefined); // no caller may be waiting yet
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 });
  const taken = await listen(server, port);
  server.on("request", (request, response) => {
    const answer = readAnswer(request, taken, state);
    reply(response, answer ? 200 : 400, answer ? DONE : STRANGE);
    if (answer) answered.resolve(answer);
  });
  const fail = (message: string) => (): void =>
    answered.reject(new GloveboxError("REQUEST_CANCELLED", message, { hint: "Start the login again" }));
  const timer = setTimeout(fail("The login was not completed in time"), answerMs);
  return {
    redirectUri: `http://${HOST}:${taken}${PATH}`,
    answer: answered.promise,
    stop: fail("The login was interrupted"),
    async [Symbol.asyncDispose](): Promise<void> {
      clearTimeout(timer);
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

const DONE = "Glovebox has received the answer. You can close this page and return to the terminal.\n";
const STRANGE = "This is not the expected answer.\n";

/** Checks the Host header, so that a web page cannot reach this server by DNS rebinding. */
function readAnswer(request: IncomingMessage, port: number, state: string): URLSearchParams | undefined {
  const { url = "", method, headers } = request;
  if (method !== "GET" || headers.host !== `${HOST}:${port}` || url.length > MAX_URL_CHARS) return undefined;
  const parsed = URL.parse(url, `http://${HOST}:${port}`);
  if (parsed?.pathname !== PATH) return undefined;
  const states = parsed.searchParams.getAll("state");
  return states.length === 1 && isSame(states[0] ?? "", state) ? parsed.searchParams : undefined;
}

/** Digests are compared, so that the time reveals neither the length nor a common prefix. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** The address of this page contains the code, so it is neither sent as referrer nor cached. */
function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(text);
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const hint = "Choose another port with --port, or omit it";
      reject(new GloveboxError("LISTEN_FAILED", `Port ${port} of ${HOST} cannot be used`, { cause, hint }));
    });
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  return typeof address === "object" && address ? address.port : port;
}
