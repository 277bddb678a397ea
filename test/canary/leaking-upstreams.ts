/** The upstreams that leak everything, and the configuration that plants the canaries in them. */

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";

import { CANARIES } from "./canaries.ts";
import { encodeSecrets, respondAs } from "./fixtures/leak-secrets.ts";
import type { Message } from "./fixtures/leak-secrets.ts";

const PARROT = resolve("test/canary/fixtures/leaking-server.mjs");
const DATABASE = `postgres://ada:${CANARIES.passwordInUrl}@db.example.com/x`;

/** The values that are passed to `glovebox secrets set`. */
export const VAULT = {
  PLAIN: CANARIES.vaultPlain,
  ODD: CANARIES.vaultOdd,
  SHARED: CANARIES.vaultShared,
  BEARER: CANARIES.bearer,
  CUSTOM: CANARIES.customHeader,
  API_KEY: CANARIES.apiKey,
  API_HEADER: CANARIES.apiHeader,
  ADAPTER_KEY: CANARIES.adapterKey,
  OTHER: CANARIES.otherServer,
  CRASHED: CANARIES.crashed,
} as const;

/** The environment of the gateway. */
export const VARIABLES = {
  GLOVEBOX_ENCRYPTION_KEY: CANARIES.encryptionKey,
  TOKEN_6: CANARIES.variableToken,
  RANDOM_7: CANARIES.variableRandom,
  DATABASE_8: DATABASE,
  HEADER_11: CANARIES.variableHeader,
  QUERY_12: CANARIES.queryToken,
  HEADER_15: CANARIES.apiVariable,
  OPTION_18: CANARIES.option,
} as const;

/** The canaries that each child may have in its environment or options; other processes may have none. */
export const ALLOWED_CANARIES: Readonly<Record<string, readonly string[]>> = {
  parrot: [
    "vaultPlain",
    "vaultOdd",
    "literalKey",
    "vaultShared",
    "literalToken",
    "variableToken",
    "variableRandom",
    "passwordInUrl",
  ],
  other: ["vaultShared", "option", "otherServer"],
  crasher: ["crashed"],
};

/** It crashes right after each start, so a test may or may not see it alive. */
export const CRASHING_SERVER = "crasher";

/** Servers in this process that echo what they receive. */
export interface EchoServer extends AsyncDisposable {
  readonly origin: string;
  /** Every received URL and header as a string. */
  readonly received: string[];
}

/** `/mcp` speaks MCP; everything else is the API of the document. */
export async function openEchoServer(): Promise<EchoServer> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(JSON.stringify([request.url, request.headers]));
    void (request.url?.startsWith("/mcp") === true ? answerMcp(request, response) : answerApi(request, response));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, received, [Symbol.asyncDispose]: () => closeServer(server) };
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}

function secretsIn({ headers, url = "" }: IncomingMessage): readonly string[] {
  const told = ["authorization", "x-custom", "x-variable", "x-key", "x-api", "x-api-token"];
  const query = new URL(url, "http://x").searchParams.get("token");
  return [...told.flatMap((name) => headers[name] ?? []), ...(query === null ? [] : [query])].flat();
}

async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const message = JSON.parse(Buffer.concat(await request.toArray()).toString()) as Message;
  if (message.id === undefined) return void response.writeHead(202).end();
  const answer = JSON.stringify(respondAs(secretsIn(request), message));
  response.writeHead(200, { "content-type": "application/json" }).end(answer);
}

async function answerApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const said = encodeSecrets(secretsIn(request), "api");
  if (request.url?.startsWith("/fail") === true) {
    response.writeHead(500, { "content-type": "text/plain" }).end(`${said.join("\n")} at 10.1.2.3:5432`);
    return;
  }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ said }));
}

const operation = (operationId: string): object => ({
  get: { operationId, summary: "MARK-operation", responses: { 200: { description: "What was said" } } },
});

/** Writes the configuration, the document and the folders into `folder`; receipts are written beside it. */
export function writeConfiguration(folder: string, receipts: string, origin: string): void {
  for (const name of ["tmp", "cache"]) mkdirSync(join(folder, name));
  const server = (name: string, env: object, ...args: readonly string[]): object => ({
    command: process.execPath,
    args: [PARROT, name, ...args],
    env: { ...env, RECEIPT: join(receipts, `${name}.json`) },
  });
  const mcpServers = {
    parrot: server("parrot", {
      PARROT_A: "${secret:PLAIN}",
      PARROT_B: "${secret:ODD}",
      PARROT_PRIVATE_KEY: CANARIES.literalKey,
      PARROT_D: "${secret:SHARED}",
      PARROT_TOKEN: CANARIES.literalToken,
      PARROT_SECRET: "${TOKEN_6}",
      PARROT_G: "${RANDOM_7}",
      PARROT_H: "${DATABASE_8}",
    }),
    other: server("other", { PARROT_D: "${secret:SHARED}", PARROT_E: "${secret:OTHER}" }, "--api-key", "${OPTION_18}"),
    crasher: server("crasher", { PARROT_A: "${secret:CRASHED}" }, "--crash"),
    web: {
      url: `${origin}/mcp?token=\${QUERY_12}`,
      headers: {
        Authorization: "Bearer ${secret:BEARER}",
        "X-Custom": "${secret:CUSTOM}",
        "X-Variable": "Token ${HEADER_11}",
      },
    },
  };
  const api = {
    document: "./api.json",
    baseUrl: origin,
    auth: { key: "${secret:API_KEY}" },
    headers: { "X-Api": "${secret:API_HEADER}", "X-Api-Token": "${HEADER_15}" },
  };
  const config = {
    mcpServers,
    openapi: { api },
    adapters: [resolve("test/canary/fixtures/leaking-adapter.mjs")],
    policy: { flows: "allow" },
    expose: "both",
  };
  const document = {
    openapi: "3.0.3",
    info: { title: "Echo", version: "1" },
    components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } } },
    security: [{ key: [] }],
    paths: { "/echo": operation("echo"), "/fail": operation("fail") },
  };
  writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "api.json"), JSON.stringify(document));
}
