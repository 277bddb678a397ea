/** The own certificate of the server, while it runs. */

import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import type { TLSSocket } from "node:tls";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

import { listen } from "./listen.ts";

const TLS = resolve("test/fixtures/tls");
const LOOK_MS = 5_000;

/** The name in the certificate that a new connection gets. */
function readName(url: string): Promise<unknown> {
  return new Promise((done, fail) => {
    const asked = request(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      const { subject } = (answer.socket as TLSSocket).getPeerCertificate();
      answer.resume().once("end", () => done(subject.CN));
    });
    asked.once("error", fail).end();
  });
}

test("a renewed certificate is used without a restart, and a broken one changes nothing", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-tls-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tls = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  let changes = 0;
  const put = (name: string): void => {
    copyFileSync(join(TLS, `${name}.cert`), tls.cert);
    copyFileSync(join(TLS, `${name}.key`), tls.key);
    // Files of one size, written within a tick of the file system's clock, look the same.
    for (const file of [tls.cert, tls.key]) utimesSync(file, (changes += 1), changes);
  };
  put("one");
  const warnings: unknown[] = [];
  t.mock.timers.enable({ apis: ["setInterval"] });
  const app = { fetch: () => new Response("fine"), stop: async () => {}, close: async () => {} };
  const warn = (thrown: unknown) => warnings.push(thrown);
  const listener = await listen({ host: "127.0.0.1", port: 0, createApp: () => app, tls, warn });
  t.after(() => listener.close());
  assert.match(listener.url, /^https:/);
  assert.equal(await readName(listener.url), "one");
  put("two");
  t.mock.timers.tick(LOOK_MS);
  assert.deepEqual([await readName(listener.url), warnings], ["two", []]);
  writeFileSync(tls.cert, "not a certificate");
  t.mock.timers.tick(LOOK_MS);
  assert.deepEqual([await readName(listener.url), warnings.length], ["two", 1]);
  put("one");
  t.mock.timers.tick(LOOK_MS);
  assert.equal(await readName(listener.url), "one");
  rmSync(tls.key);
  t.mock.timers.tick(LOOK_MS);
  assert.deepEqual([await readName(listener.url), warnings.length], ["one", 2]);
});
