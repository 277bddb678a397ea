/** Runs the clients of the conformance suite in this process, for the small processes that the suite starts. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import type { JsonObject } from "../../src/domain/index.ts";
import { callTools } from "./call-tools.ts";
import { callToolsWithLogins } from "./log-in.ts";

const CLIENT = fileURLToPath(new URL("relay-client.mjs", import.meta.url));

export interface Relay extends AsyncDisposable {
  /** What the suite starts for each scenario; it adds the URL of its server. */
  readonly command: string;
  /** The error of each client that has ended, by scenario; empty if it has none. */
  readonly problems: ReadonlyMap<string, string>;
}

interface ClientRequest {
  readonly scenario: string;
  readonly url: string;
  readonly context: JsonObject;
}

export async function openRelay(): Promise<Relay> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-conformance-"));
  const path = join(folder, "relay.sock");
  const problems = new Map<string, string>();
  let turn: Promise<unknown> = Promise.resolve();
  const serve = async (socket: Socket): Promise<void> => {
    const { scenario, url, context } = JSON.parse(await text(socket)) as ClientRequest;
    const run = scenario.startsWith("auth/") ? callToolsWithLogins : callTools;
    // One at a time: the suite starts all clients at once, and their timeouts count from their start here.
    const running = turn.then(() => run(url, context));
    turn = running.catch(() => undefined);
    const problem = await running.then(() => "", describeError);
    problems.set(scenario, problem);
    socket.end(problem);
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined); // the suite has ended its client
    void serve(socket);
  });
  await new Promise<void>((listening) => server.listen(path, listening));
  return {
    command: `${process.execPath} ${CLIENT} ${path}`,
    problems,
    async [Symbol.asyncDispose]() {
      await new Promise((closed) => server.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function describeError(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : `The client failed: ${String(thrown)}`;
}
