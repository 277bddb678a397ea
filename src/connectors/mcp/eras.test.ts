/** The era of a server: detected on one connection, remembered, and corrected when it was wrong. */

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { afterEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import type { Connector, DurableValues } from "../connector.ts";
import type { EraVerdict } from "./era.ts";
import type { McpConnectorOptions } from "./mcp-connector.ts";
import { parseVerdictText, toVerdictText } from "./era.ts";
import { planHandshakes } from "./era.ts";
import { child, connect, kept, locate, modernChild, remote } from "./fixtures/connect.ts";
import { startModernHttp } from "./fixtures/start-modern-http.ts";

const HOSTILE = fileURLToPath(new URL("fixtures/hostile-server.mjs", import.meta.url));
const DAY_MS = 24 * 60 * 60 * 1000;
const opened: Connector[] = [];

/** Remembers one verdict, which the test can read. */
class Memory implements Pick<DurableValues, "get" | "set"> {
  #text: string;

  constructor(verdict?: EraVerdict) {
    this.#text = toVerdictText(verdict);
  }

  get verdict(): EraVerdict | undefined {
    return parseVerdictText(this.#text);
  }

  async get(): Promise<string> {
    return this.#text;
  }

  async set(_key: string, text: string): Promise<void> {
    this.#text = text;
  }
}

/** Connects and returns the negotiated revision, the number of processes and the remembered verdict. */
async function meet(settings: McpConnectorOptions["settings"], values = new Memory(), now = 5): Promise<unknown> {
  const before = kept.size;
  const connector = connect(settings, { values, now: () => now });
  opened.push(connector);
  await connector.tools();
  return [connector.status().era, kept.size - before, values.verdict];
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((connector) => connector.close()));
});

const legacy = (at = 5): EraVerdict => ({ era: "legacy", at });
const modern = (at = 5): EraVerdict => ({ era: "modern", at });

test("the reference servers survive the probe on a single process", async () => {
  const servers = [
    child(locate("server-everything"), "stdio"),
    child(locate("server-filesystem"), tmpdir()),
    child(locate("server-memory")),
  ];
  for (const settings of servers) assert.deepEqual(await meet(settings), ["2025-11-25", 1, legacy()]);
});

test("a 2026-07-28 server is recognized on one process, even if it supports both eras", async () => {
  assert.deepEqual(await meet(modernChild("reject")), ["2026-07-28", 1, modern()]);
  assert.deepEqual(await meet(modernChild("serve")), ["2026-07-28", 1, modern()]);
});

test("a remembered legacy verdict is used for a day, even for a server of both eras", async () => {
  const settings = modernChild("serve");
  assert.deepEqual(await meet(settings, new Memory(legacy(5)), 5 + DAY_MS - 1), ["2025-11-25", 1, legacy(5)]);
  assert.deepEqual(await meet(settings, new Memory(legacy(5)), 5 + DAY_MS), ["2026-07-28", 1, modern(5 + DAY_MS)]);
});

test("a wrong verdict is corrected within the same attempt, in both directions", async () => {
  assert.deepEqual(await meet(modernChild("reject"), new Memory(legacy())), ["2026-07-28", 2, modern()]);
  const old = child(locate("server-memory"));
  assert.deepEqual(await meet(old, new Memory(modern())), ["2025-11-25", 2, legacy()]);
});

test("a wrong verdict is corrected over HTTP too", async () => {
  const server = await startModernHttp();
  try {
    assert.deepEqual(await meet(remote(server.url), new Memory(legacy())), ["2026-07-28", 0, modern()]);
  } finally {
    await Promise.all(opened.splice(0).map((connector) => connector.close()));
    await server.close();
  }
});

test("a server that exits at an unknown request gets the legacy handshake and is not probed again", async () => {
  const settings = child(HOSTILE, "exits-when-asked");
  const memory = new Memory();
  assert.deepEqual(await meet(settings, memory), ["2025-11-25", 2, legacy()]);
  assert.deepEqual(await meet(settings, memory), ["2025-11-25", 1, legacy()]);
});

test("a server that ignores an unknown request gets the legacy handshake on the same process", async () => {
  const settings = { ...child(HOSTILE, "ignores-questions"), startMs: 3000 };
  assert.deepEqual(await meet(settings), ["2025-11-25", 1, legacy()]);
});

test("a store of verdicts that fails costs a probe and nothing else", async () => {
  const broken: Pick<DurableValues, "get" | "set"> = {
    get: () => Promise.reject(new Error("no store")),
    set: () => Promise.reject(new Error("no store")),
  };
  const connector = connect(child(HOSTILE, "plain"), { values: broken });
  opened.push(connector);
  assert.equal((await connector.tools()).length, 1);
});

test("a failed start forgets the verdict, so that the next start probes", async () => {
  const memory = new Memory(modern());
  const connector = connect({ ...child(HOSTILE, "silent"), startMs: 200 }, { values: memory, now: () => 5 });
  opened.push(connector);
  await assert.rejects(connector.tools(), { code: "UPSTREAM_TIMEOUT" });
  assert.equal(memory.verdict, undefined);
});

test("planHandshakes depends on the verdict and its age", () => {
  assert.deepEqual(planHandshakes(undefined, 5), ["ask", "legacy"]);
  assert.deepEqual(planHandshakes(legacy(5), 5 + DAY_MS - 1), ["legacy", "ask"]);
  assert.deepEqual(planHandshakes(legacy(5), 5 + DAY_MS), ["ask", "legacy"]);
  assert.deepEqual(planHandshakes(legacy(5), 4), ["ask", "legacy"]);
  assert.deepEqual(planHandshakes(modern(5), 5 + 100 * DAY_MS), ["modern", "ask"]);
});

test("a verdict survives as a string, and any other string is not a verdict", () => {
  for (const verdict of [legacy(), modern(), undefined]) {
    assert.deepEqual(parseVerdictText(toVerdictText(verdict)), verdict);
  }
  for (const text of ["{", "null", "[]", "{}", '{"era":"modern"}', '{"era":"future","at":1}', undefined]) {
    assert.equal(parseVerdictText(text), undefined);
  }
});
