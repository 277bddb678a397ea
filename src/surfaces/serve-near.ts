/** Lets commands of the same user use a gateway that runs. One that cannot have the socket works without. */

import { chmodSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";

import * as z from "zod";

import { DEFAULT_LIMITS, defined, isJsonObject, parseJson, toPublicError } from "../domain/index.ts";
import { parseDescribeArguments, parseSearchArguments } from "./parse-request.ts";
import type { NearGateway, NearPlace, NearWatch } from "./near-gateway.ts";

const PRIVATE = 0o600;

const PROGRAM = z.strictObject({
  source: z.string(),
  limits: z.partialRecord(z.enum(Object.keys(DEFAULT_LIMITS)), z.int().min(1)).optional(),
  analysis: z.boolean().optional(),
  types: z.boolean().optional(),
  dryRun: z.boolean().optional(),
  network: z.boolean().optional(),
});
const id = z.int();
const REQUEST = z.discriminatedUnion("method", [
  z.strictObject({ id, method: z.literal("search"), query: z.unknown() }),
  z.strictObject({ id, method: z.literal("describe"), request: z.unknown() }),
  z.strictObject({ id, method: z.literal("execute"), program: PROGRAM }),
  z.strictObject({ id, method: z.literal("plan"), program: PROGRAM }),
  z.strictObject({ id, method: z.literal("cancel") }),
]);
type NearRequest = Exclude<z.infer<typeof REQUEST>, { method: "cancel" }>;

interface NearOptions {
  /** A session for each connection. */
  readonly open: () => NearGateway;
  readonly report: (thrown: unknown) => string;
}

/** The last gateway that starts on a store gets the socket. */
export async function serveNear(place: NearPlace | undefined, options: NearOptions): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined).once("close", () => sockets.delete(socket)));
    serveSocket(socket, place?.key ?? "", options);
  });
  if (place) await listen(server, place.path);
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Under a name of this process first, so that no moment has a socket that nothing serves. */
async function listen(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  const isOpen = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(draft, () => resolve(true));
  });
  if (!isOpen) return;
  server.unref();
  chmodSync(draft, PRIVATE);
  renameSync(draft, path);
}

/** What a connection started ends with it. */
function serveSocket(socket: Socket, key: string, { open, report }: NearOptions): void {
  const near = open();
  const running = new Map<number, AbortController>();
  const send = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`);
  const answer = async (request: NearRequest): Promise<void> => {
    const abort = new AbortController();
    running.set(request.id, abort);
    try {
      const onWaiting = (waiting: string): void => send({ id: request.id, waiting });
      send({ id: request.id, value: await ask(near, request, { signal: abort.signal, onWaiting }) });
    } catch (thrown) {
      send({ id: request.id, error: toPublicError(thrown, report) });
    } finally {
      running.delete(request.id);
    }
  };
  socket.once("close", () => {
    for (const abort of running.values()) abort.abort();
  });
  let isKnown = false;
  const read = (line: string): void => {
    const raw = parseJson(line);
    if (!isKnown) {
      isKnown = isJsonObject(raw) && raw["key"] === key;
      send({ isKnown });
      return isKnown ? undefined : void socket.end();
    }
    const { data } = REQUEST.safeParse(raw);
    if (!data) socket.end();
    else if (data.method === "cancel") running.get(data.id)?.abort();
    else void answer(data);
  };
  createInterface({ input: socket })
    .on("error", () => undefined)
    .on("line", read);
}

function ask(near: NearGateway, request: NearRequest, watch: Required<NearWatch>): Promise<unknown> {
  switch (request.method) {
    case "search":
      return near.search(parseSearchArguments(request.query));
    case "describe": {
      const { names, detail } = parseDescribeArguments(request.request);
      return near.describe(names, detail);
    }
    case "execute":
      return near.execute(defined(request.program), watch);
    case "plan":
      return near.plan(defined(request.program), watch.signal);
    default:
      return request satisfies never;
  }
}
