/** Runs the product with a configuration and says what can be observed: outcomes, findings, states of upstreams. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

import { isJsonObject } from "../../src/domain/index.ts";
import { createGlovebox } from "../../src/main.ts";
import type { ExecutionResult, Glovebox, GloveboxConfig } from "../../src/main.ts";
import { passingStore } from "../replays/passing-store.ts";
import { probe } from "../fixtures/product.ts";

/** What happened to one program: its error's code, its value, or that it waits for a person. */
export function outcomeOf({ state, error, value }: ExecutionResult): unknown {
  return state === "paused" ? state : (error?.code ?? value ?? null);
}

/** Which rules of the analysis said something, and how strictly. */
export function findingsOf({ findings }: ExecutionResult): unknown {
  return findings.map(({ rule, severity }) => [rule, severity]);
}

/** The rule and the reason that a refusal or a question names: `is denied, rule ID: REASON; what to do`. */
export function refusalOf({ error, questions }: ExecutionResult): unknown {
  return /, rule ([^:;]+): ([^;]+);/.exec(error?.message ?? questions?.[0]?.reason ?? "")?.slice(1);
}

/** One entry of `mcpServers`. */
export type Server = NonNullable<GloveboxConfig["mcpServers"]>[string];

/** The probe with flags, as the configuration takes it. */
export function probeWith(...flags: readonly string[]): Server {
  return { command: process.execPath, args: [...probe(...flags).args] };
}

/** Opens the product with a configuration that has a probe and leaves no file, uses it and closes it. */
export async function withGlovebox<Value>(
  config: unknown,
  use: (glovebox: Glovebox) => Promise<Value>,
): Promise<Value> {
  const whole = {
    mcpServers: { probe: probeWith() },
    store: passingStore(),
    approvals: { graceMs: 0 },
    ...(isJsonObject(config) && config),
  };
  await using glovebox = await createGlovebox(whole);
  return await use(glovebox);
}

/** From a configuration to what it makes of the product. */
export type Observe = (config: unknown) => Promise<unknown>;

/** A configuration and what must be observed with it. */
export type Case = readonly [config: unknown, observed: unknown];

/** Both cases are run, each has its own outcome, and the outcomes differ. */
export function compare(observe: Observe, ...cases: readonly [Case, Case]): () => Promise<void> {
  return async () => {
    const observed: unknown[] = [];
    for (const [config] of cases) observed.push(await observe(config));
    assert.deepEqual(
      observed,
      cases.map(([, expected]) => expected),
    );
    assert.notDeepEqual(observed[0], observed[1]);
  };
}

/** Observes one program. */
export function run(code: string, look: (result: ExecutionResult) => unknown = outcomeOf): Observe {
  return (config) => withGlovebox(config, async (glovebox) => look(await glovebox.execute({ code })));
}

/** Observes two programs at the same time, once the sandbox is warm and has a fresh isolate again. */
export function runTwice(code: string): Observe {
  return (config) =>
    withGlovebox(config, async (glovebox) => {
      for (let warm = false; !warm; await wait(200))
        warm = (await glovebox.execute({ code: "1" })).state === "completed";
      const results = await Promise.all([glovebox.execute({ code }), glovebox.execute({ code })]);
      return results.map((result) => String(outcomeOf(result))).toSorted((a, b) => a.localeCompare(b));
    });
}

/** The states of the upstreams. */
export const states: Observe = orCode((config) =>
  withGlovebox(config, async (glovebox) => (await glovebox.search({})).servers.map(({ state }) => state)),
);

/** The isolation level that a program had. */
export const isolation: Observe = orCode((config) =>
  withGlovebox(config, async (glovebox) => (await glovebox.execute({ code: "1" })).isolation),
);

/** The code of the error where the product refuses to open. */
function orCode(observe: Observe): Observe {
  return async (config) => {
    try {
      return await observe(config);
    } catch (error) {
      if (error instanceof Error && "code" in error) return error.code;
      throw error;
    }
  };
}

/** An upstream over HTTP that answers with its own name and the key it was sent. */
export async function startUpstream(name: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const listening = createServer(async (request, response) => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = (await json(request)) as { id?: number; method: string; params: never };
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const { protocolVersion } = (params ?? {}) as { protocolVersion?: string };
    const results: Readonly<Record<string, unknown>> = {
      initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: "1" } },
      "tools/list": {
        tools: [{ name: "about", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
      },
      "tools/call": { content: [], structuredContent: { name, key: request.headers["x-key"] ?? null } },
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
  });
  await new Promise<void>((ready) => listening.listen(0, "127.0.0.1", ready));
  const { port } = listening.address() as AddressInfo;
  const close = (): void => {
    listening.close();
    listening.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/mcp`, close };
}
