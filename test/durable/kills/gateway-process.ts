/** The built gateway in its own process, which is killed, and a client that gets no response when it is. */

import { spawn } from "node:child_process";
import { resolve } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { LAUNCHER, cleanEnvironment } from "../../fixtures/product.ts";

/** Each does nothing without its variable. */
const PRELOADS = ["test/durable/kills/die-at-commit.mjs", "test/durable/power/keep-flushed.mjs"];

export interface GatewayProcess {
  /** Resolves once it has ended; rejects if it was not killed. */
  readonly died: Promise<void>;
  isAlive(): boolean;
  /** Sends SIGKILL. */
  readonly kill: () => void;
  /** Resolves with a client once the gateway listens, or with `undefined` if it died before. */
  readonly ready: Promise<Client | undefined>;
}

/**
 * `DIE_AT` is `before 3` or `after 3`: the gateway kills itself at that commit. `FLUSHED` is a folder in which it keeps
 * what is on disk.
 */
export function startGateway(
  folder: string,
  variables: { readonly DIE_AT?: string; readonly FLUSHED?: string } = {},
): GatewayProcess {
  const preloads = PRELOADS.flatMap((file) => ["--import", resolve(file)]);
  const args = [...preloads, LAUNCHER, "serve", "--json", "--port", "0"];
  const child = spawn(process.execPath, args, { cwd: folder, env: cleanEnvironment(folder, { ...variables }) });
  let [printed, complaints] = ["", ""];
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  const listening = new Promise<string>((listens) =>
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.endsWith("}\n")) listens(printed);
    }),
  );
  const died = new Promise<void>((gone, reject) =>
    child.once("close", (code, signal) =>
      signal === "SIGKILL" ? gone() : reject(new Error(`The gateway ended with ${code}:\n${complaints}`)),
    ),
  );
  died.catch(() => undefined);
  const ready = Promise.race([listening, died]).then((text) =>
    text ? connect(text).catch(() => undefined) : undefined,
  );
  ready.catch(() => undefined);
  return {
    died,
    ready,
    kill: () => void child.kill("SIGKILL"),
    isAlive: () => child.exitCode === null && child.signalCode === null,
  };
}

async function connect(printed: string): Promise<Client> {
  const { mcp } = JSON.parse(printed) as { readonly mcp: string };
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  return client;
}
