/**
 * A local shop behind an API: it counts what it is asked, and answers when the test lets it. Each operation has another
 * effect, so that one program can read, change once, change again without harm, and ask a person.
 */

import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the API offers: its method says what a second call would do, and the rules of the world ask about two. */
const OPERATIONS = {
  look: "get",
  /** A rule asks, though it changes nothing. */
  peek: "get",
  put: "post",
  /** Changes something, and would change nothing more the second time. */
  keep: "put",
  /** A rule asks. */
  pay: "post",
  /** Changes something, and then says that it failed. */
  fail: "post",
} as const;

export type Operation = keyof typeof OPERATIONS;

/** One address for several worlds, because an address is a part of a definition. */
export interface Shop extends AsyncDisposable {
  readonly origin: string;
  /** As the world of this name sees it: with its own requests only. */
  of(world: string): ShopView;
}

/** The shop of one world. */
export interface ShopView {
  /** Every request, such as `put 1`, in the order in which they came. */
  readonly made: readonly string[];
  /** Keeps the answer to such a request back until the returned function is called. */
  hold(request: string): () => void;
  /** Resolves once such a request has come. */
  came(request: string): Promise<void>;
}

/** An OpenAPI document of the shop; `version` is in what a model reads about `pay` and `look`. */
export function describeShop(version: string): object {
  const parameters = [{ name: "n", in: "query", required: true, schema: { type: "integer" } }];
  const content = { "application/json": { schema: { type: "object", properties: { n: { type: "integer" } } } } };
  const paths = Object.entries(OPERATIONS).map(([operationId, method]) => {
    const summary = operationId === "pay" || operationId === "look" ? `${operationId} ${version}` : operationId;
    const operation = { operationId, summary, parameters, responses: { 200: { description: "Done", content } } };
    return [`/${operationId}`, { [method]: operation }];
  });
  return { openapi: "3.1.0", info: { title: "Shop", version: "1" }, paths: Object.fromEntries(paths) };
}

/** Listens on a free port of the loopback address. */
export async function openShop(): Promise<Shop> {
  const views = new Map<string, ReturnType<typeof createView>>();
  const viewOf = (world: string) => {
    const view = views.get(world) ?? createView();
    views.set(world, view);
    return view;
  };
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "", "http://shop");
    const request = `${pathname.slice(1)} ${searchParams.get("n") ?? ""}`;
    viewOf(String(incoming.headers["x-world"])).take(request, () => respond(response, request));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    of: viewOf,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function createView() {
  const made: string[] = [];
  const held = new Map<string, (() => void)[]>();
  const awaited = new Map<string, () => void>();
  const view: ShopView = {
    made,
    hold(request) {
      held.set(request, []);
      return () => {
        const waiting = held.get(request) ?? [];
        held.delete(request);
        for (const answer of waiting) answer();
      };
    },
    async came(request) {
      if (made.includes(request)) return;
      await new Promise<void>((resolve) => void awaited.set(request, resolve));
    },
  };
  const take = (request: string, answer: () => void): void => {
    made.push(request);
    awaited.get(request)?.();
    const waiting = held.get(request);
    if (waiting) waiting.push(answer);
    else answer();
  };
  return { ...view, take };
}

function respond(response: ServerResponse, request: string): void {
  const [operation = "", n = ""] = request.split(" ");
  const status = operation === "fail" ? 500 : 200;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ n: Number(n) * 7 }));
}
