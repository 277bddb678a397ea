/** Uses the gateway that runs on a store. */

import { connect } from "node:net";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";

import { GloveboxError, isErrorCode, isJsonObject, parseJson } from "../domain/index.ts";
import type { JsonObject } from "../domain/index.ts";
import type { NearGateway, NearPlace } from "./near-gateway.ts";

/** A gateway that does not greet in this time is not used. */
const GREETING_MS = 1000;

/** `undefined` if no gateway with this key answers. */
export async function reachNear(place: NearPlace | undefined): Promise<(NearGateway & Disposable) | undefined> {
  if (!place) return undefined;
  const socket = connect(place.path);
  const waiting = new Map<number, (answer: JsonObject) => void>();
  const greeting = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => greeting.resolve(false), GREETING_MS);
  const lines = createInterface({ input: socket });
  lines
    .on("error", () => undefined)
    .on("line", (line) => {
      const message = parseJson(line);
      if (!isJsonObject(message)) return;
      if ("isKnown" in message) return greeting.resolve(message["isKnown"] === true);
      waiting.get(Number(message["id"]))?.(message);
    });
  socket
    .on("error", () => undefined)
    .once("close", () => {
      greeting.resolve(false);
      for (const answer of waiting.values())
        answer({ error: { code: "STORE_UNAVAILABLE", message: LOST, hint: RETRY } });
    });
  socket.write(`${JSON.stringify({ key: place.key })}\n`);
  const isKnown = await greeting.promise;
  clearTimeout(timer);
  if (isKnown) return createRemote(socket, waiting);
  socket.destroy();
  return undefined;
}

const LOST = "The gateway that ran the request has ended";
const RETRY = "Run the command again; `glovebox executions` shows what was run";

interface NearAnswers {
  readonly search: Awaited<ReturnType<NearGateway["search"]>>;
  readonly describe: Awaited<ReturnType<NearGateway["describe"]>>;
  readonly execute: Awaited<ReturnType<NearGateway["execute"]>>;
  readonly plan: Awaited<ReturnType<NearGateway["plan"]>>;
}

function createRemote(socket: Socket, waiting: Map<number, (answer: JsonObject) => void>): NearGateway & Disposable {
  let last = 0;
  const send = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`);
  async function ask<Method extends keyof NearAnswers>(
    method: Method,
    request: object,
    signal?: AbortSignal,
  ): Promise<NearAnswers[Method]> {
    const id = (last += 1);
    const answered = Promise.withResolvers<JsonObject>();
    waiting.set(id, answered.resolve);
    const cancel = (): void => send({ id, method: "cancel" });
    signal?.addEventListener("abort", cancel, { once: true });
    send({ id, method, ...request });
    if (signal?.aborted) cancel();
    const { value, error } = await answered.promise;
    waiting.delete(id);
    signal?.removeEventListener("abort", cancel);
    if (isJsonObject(error)) throw toError(error);
    return trustAnswer(method, value);
  }
  return {
    search: (query) => ask("search", { query }),
    describe: (names, detail) => ask("describe", { request: { names, detail } }),
    execute: (program, signal) => ask("execute", { program }, signal),
    plan: (program, signal) => ask("plan", { program }, signal),
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/** A process of the same user, version and settings wrote it. */
function trustAnswer<Method extends keyof NearAnswers>(_method: Method, value: unknown): NearAnswers[Method] {
  return value as NearAnswers[Method];
}

function toError({ code, message, hint }: JsonObject): GloveboxError {
  const details = typeof hint === "string" ? { hint } : {};
  const text = typeof message === "string" ? message : "Internal error";
  return new GloveboxError(isErrorCode(code) ? code : "INTERNAL_BUG", text, details);
}
