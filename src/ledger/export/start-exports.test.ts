/** Where records go by the kind of destination, and how the headers of a collector are resolved. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { ExportSettings } from "../../domain/index.ts";
import { openStore } from "../../store/index.ts";
import { openLedger } from "../open-ledger.ts";
import { createSigner } from "../signer.ts";
import { startExports } from "./start-exports.ts";
import type { ExportsOptions } from "./start-exports.ts";

const OTLP: ExportSettings = {
  id: "otlp:one",
  kind: "otlp",
  url: "https://collector.example/v1/logs",
  headers: { authorization: ["Bearer plain"] },
};

type Powers = Pick<ExportsOptions, "fetchFrom" | "resolveTemplates" | "openMessages">;

const POWERS: Powers = {
  fetchFrom: () => () => assert.fail("nothing is posted"),
  resolveTemplates: () => assert.fail("nothing is resolved"),
  openMessages: () => assert.fail("no message is sent"),
};

/** Writes one record and closes the exporter, which sends what there is. */
async function sendOne(destination: ExportSettings, powers: Partial<Powers>): Promise<void> {
  await using store = await openStore({ path: ":memory:", now: () => 0 });
  await using ledger = await openLedger({ store, now: () => 0 });
  await ledger.write({ actor: "gateway", action: "gateway.opened", subject: "1", detail: {} });
  await using _exporter = startExports({
    ...POWERS,
    ...powers,
    destinations: [destination],
    store,
    signer: createSigner(Buffer.alloc(32, 1)),
    version: "1.2.3",
    origin: { host: "machine", pid: 7 },
    holder: "me",
    hasEnded: () => false,
    now: () => 0,
  });
}

describe("startExports", () => {
  it("posts a record to a collector with the resolved headers", async () => {
    const posted: { readonly origin: string; readonly url: string; readonly init: RequestInit }[] = [];
    await sendOne(OTLP, {
      resolveTemplates: async (templates, purpose) => ({ templates: JSON.stringify(templates), purpose }),
      fetchFrom: (origin) => async (url, init) => {
        posted.push({ origin, url, init });
        return new Response("");
      },
    });
    assert.equal(posted.length, 1);
    assert.equal(posted[0]?.origin, "https://collector.example");
    assert.equal(posted[0]?.url, OTLP.kind === "otlp" && OTLP.url);
    assert.deepEqual(posted[0]?.init.headers, {
      templates: '{"authorization":["Bearer plain"]}',
      purpose: "export https://collector.example",
      "content-type": "application/json",
    });
    assert.match(JSON.stringify(posted[0]?.init.body), /gateway\.opened/);
  });

  for (const [status, loans] of [
    [401, "again"],
    [403, "again"],
    [500, "once"],
  ] as const) {
    it(`resolves the headers ${loans} when the collector answers ${status}`, async () => {
      let resolved = 0;
      let attempts = 0;
      const { promise: isAccepted, resolve: accept } = Promise.withResolvers<void>();
      await using store = await openStore({ path: ":memory:", now: () => 0 });
      await using ledger = await openLedger({ store, now: () => 0 });
      await ledger.write({ actor: "gateway", action: "gateway.opened", subject: "1", detail: {} });
      await using _exporter = startExports({
        ...POWERS,
        destinations: [OTLP],
        store,
        signer: createSigner(Buffer.alloc(32, 1)),
        version: "1.2.3",
        origin: { host: "machine", pid: 7 },
        holder: "me",
        hasEnded: () => false,
        now: () => 0,
        resolveTemplates: async () => {
          resolved += 1;
          return {};
        },
        fetchFrom: () => async () => {
          attempts += 1;
          if (attempts > 1) accept();
          return new Response("", { status: attempts === 1 ? status : 200 });
        },
      });
      await isAccepted;
      assert.equal(resolved, loans === "again" ? 2 : 1);
    });
  }

  it("sends a record as one message to a syslog receiver", async () => {
    const sent: string[] = [];
    let isClosed = false;
    const destination: ExportSettings = { id: "syslog:one", kind: "syslog", transport: "udp", host: "logs", port: 514 };
    await sendOne(destination, {
      openMessages: ({ host, port }) => ({
        send: async (messages) => void sent.push(`${host}:${port}`, ...messages),
        close: async () => void (isClosed = true),
      }),
    });
    assert.equal(sent[0], "logs:514");
    assert.match(sent[1] ?? "", /machine .*gateway\.opened/s);
    assert.equal(isClosed, true);
  });
});
