/** What the settings of the ledger change, seen from outside. */

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { createSigner, openReader, openSignedLedger, parseLedgerLine, verifyExport } from "../../src/ledger/index.ts";
import { isJsonObject } from "../../src/domain/index.ts";
import { openStore } from "../../src/store/index.ts";
import { loadSigningKey } from "../../src/vault/index.ts";
import { compare, withGlovebox } from "../fixtures/observe-settings.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

async function inFolder<Value>(use: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-settings-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const withStore = (config: unknown, folder: string): object => ({
  ...(isJsonObject(config) && config),
  store: { url: `sqlite:${join(folder, "ledger.db")}` },
});

/** The previews in the ledger after one call. */
const previews = (config: unknown): Promise<unknown> =>
  inFolder(async (folder) => {
    await withGlovebox(withStore(config, folder), (glovebox) =>
      glovebox.execute({ code: "await probe.echo({ a: 1 })" }),
    );
    await using store = await openStore({ path: join(folder, "ledger.db"), now: Date.now });
    const records = await openReader({ store, now: Date.now }).search({ limit: 9, subject: "probe.echo" });
    return records.map(({ detail }) => (isJsonObject(detail) ? (detail["preview"] ?? null) : null)).toReversed();
  });

/** The first kept record after a start, with three records of three days ago and three of an hour ago. */
const firstKept = (config: unknown): Promise<unknown> =>
  inFolder(async (folder) => {
    const path = join(folder, "ledger.db");
    const signer = createSigner(
      loadSigningKey(join(folder, "ledger.key"), (size) => crypto.getRandomValues(new Uint8Array(size))).seed,
    );
    for (const ageMs of [3 * DAY_MS, DAY_MS / 24]) {
      await using store = await openStore({ path, now: Date.now });
      const now = (): number => Date.now() - ageMs;
      await using ledger = await openSignedLedger({ store, now, signer, isNewKey: true, headFile: `${path}.head` });
      for (const subject of ["a", "b", "c"])
        await ledger.write({ actor: "x", action: "test.written", subject, detail: {} });
    }
    await withGlovebox(withStore(config, folder), async () => undefined);
    await using store = await openStore({ path, now: Date.now });
    const verdict = await openReader({ store, signer, headFile: `${path}.head`, now: Date.now }).verify();
    return verdict.ok ? (verdict.first ?? 1) : verdict.problem;
  });

/** Exports a program's records to one sink; `read` waits for the whole execution. */
async function exportTo(place: object, read: (folder: string) => Promise<unknown>, folder: string): Promise<unknown> {
  const config = withStore({ audit: { export: [place] } }, folder);
  return withGlovebox(config, async (glovebox) => {
    await glovebox.execute({ code: "return 1" });
    return read(folder);
  });
}

/** Resolves with the received data once it contains the end of an execution. */
function createCatch(): {
  readonly add: (part: string) => void;
  readonly caught: Promise<string>;
  readonly heard: () => string;
} {
  const { promise, resolve } = Promise.withResolvers<string>();
  let whole = "";
  const add = (part: string): void => {
    whole += part;
    if (whole.includes("execution.closed")) resolve(whole);
  };
  return { add, caught: promise, heard: () => whole };
}

interface Receiver {
  readonly url: string;
  readonly caught: Promise<string>;
  readonly heard: () => string;
  readonly close: () => void;
}

async function receiveHttp(): Promise<Receiver & { readonly key: () => unknown }> {
  const { add, ...kept } = createCatch();
  let key: unknown = null;
  const server = createServer(async (request, response) => {
    key = request.headers["x-key"] ?? null;
    add(`${request.url ?? ""} ${await text(request)}`);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, ...kept, key: () => key, close: () => server.close().closeAllConnections() };
}

async function receiveUdp(): Promise<Receiver> {
  const { add, ...kept } = createCatch();
  const socket = createSocket("udp4").on("message", (message) => add(message.toString()));
  await new Promise<void>((ready) => socket.bind(0, "127.0.0.1", ready));
  return { url: `udp://127.0.0.1:${socket.address().port}`, ...kept, close: () => void socket.close() };
}

/** What each kind of sink received, in its own format. */
async function observeKinds(): Promise<readonly unknown[]> {
  const [http, udp] = [await receiveHttp(), await receiveUdp()];
  try {
    return [
      await inFolder((folder) =>
        exportTo(
          { kind: "otlp", url: `${http.url}/v1/logs` },
          async () => (await http.caught).startsWith('/v1/logs {"resourceLogs"'),
          folder,
        ),
      ),
      await inFolder((folder) =>
        exportTo(
          { kind: "syslog", url: udp.url },
          async () => /^<110>1 \S+ \S+ glovebox \d+ gateway\.opened \[ledger@32473 seq="1"/.test(await udp.caught),
          folder,
        ),
      ),
    ];
  } finally {
    http.close();
    udp.close();
  }
}

/** Keyed by setting path. */
export const LEDGER_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "audit.previews": compare(
    previews,
    [{ audit: { previews: true } }, ['{"a":1}', '{"a":1}']],
    [{ audit: { previews: false } }, [null, null]],
  ),
  "ledger.retention.days": compare(
    firstKept,
    [{ ledger: { retention: { days: 1 } } }, 4],
    [{ ledger: { retention: { days: 30 } } }, 1],
  ),
  "ledger.retention.records": compare(
    firstKept,
    [{ ledger: { retention: { records: 4 } } }, 4],
    [{ ledger: { retention: { records: 1_000 } } }, 1],
  ),
  "audit.export[].kind": async () => assert.deepEqual(await observeKinds(), [true, true]),
  "audit.export[].path": () =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, "logs"));
      const files = ["one.jsonl", "two.jsonl"].map((name) => join(folder, "logs", name));
      const [one = ""] = files;
      await exportTo({ kind: "file", path: one }, async () => undefined, folder);
      const lines = readFileSync(one, "utf8").trim().split("\n").map(parseLedgerLine);
      const verdict = await verifyExport(lines);
      assert.deepEqual([files.map((file) => existsSync(file)), verdict.ok], [[true, false], true]);
    }),
  "audit.export[].url": () =>
    inFolder(async (folder) => {
      const [one, two] = [await receiveHttp(), await receiveHttp()];
      try {
        await exportTo({ kind: "otlp", url: two.url }, () => two.caught, folder);
        assert.deepEqual([one.heard(), two.heard().includes("execution.closed")], ["", true]);
      } finally {
        one.close();
        two.close();
      }
    }),
  "audit.export[].headers": () =>
    inFolder(async (folder) => {
      const place = await receiveHttp();
      try {
        await exportTo({ kind: "otlp", url: place.url, headers: { "x-key": "abc" } }, () => place.caught, folder);
        assert.equal(place.key(), "abc");
      } finally {
        place.close();
      }
    }),
};
