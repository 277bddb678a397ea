/** What the settings of notifications about waiting calls change. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { startReceiver } from "../../src/telemetry/fixtures/receiver.ts";
import type { Receiver } from "../../src/telemetry/fixtures/receiver.ts";
import { withGlovebox } from "../fixtures/observe-settings.ts";

/** Runs a program whose call waits for approval. What is under way is sent before it returns. */
async function waitOnce(notify: object): Promise<void> {
  const rules = [{ decision: "ask", tools: ["probe.echo"], reason: "look" }];
  const code = 'return await probe.echo({ a: "argument" })';
  await withGlovebox({ approvals: { graceMs: 0, notify }, policy: { rules } }, async (glovebox) => {
    assert.equal((await glovebox.execute({ code })).state, "paused");
  });
}

const pathsOf = ({ received }: Receiver): readonly string[] => received.map(({ path }) => path);

export const NOTIFY_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "approvals.notify.webhook.url": async () => {
    await using one = await startReceiver();
    await using other = await startReceiver();
    await waitOnce({ webhook: { url: `${one.url}/a` } });
    await waitOnce({ webhook: { url: `${other.url}/b` } });
    assert.deepEqual([pathsOf(one), pathsOf(other)], [["/a"], ["/b"]]);
  },
  "approvals.notify.webhook.format": async () => {
    await using receiver = await startReceiver();
    await waitOnce({ webhook: { url: receiver.url, format: "json" } });
    await waitOnce({ webhook: { url: receiver.url, format: "slack" } });
    const bodies = receiver.received.map(({ body }) => body);
    assert.deepEqual(
      bodies.map((body) => Object.keys(JSON.parse(body) as object)),
      [["type", "timestamp", "data"], ["text"]],
    );
    for (const body of bodies) assert.equal(body.includes("argument"), false);
  },
  "approvals.notify.webhook.secret": async () => {
    await using receiver = await startReceiver();
    for (const secret of ["one", "other"]) await waitOnce({ webhook: { url: receiver.url, secret } });
    const isSigned = receiver.received.map(({ headers, body }) => {
      const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
      const signed = createHmac("sha256", "one").update(`${String(id)}.${String(timestamp)}.${body}`);
      return signature === `v1,${signed.digest("base64")}`;
    });
    assert.deepEqual(isSigned, [true, false]);
  },
  "approvals.notify.desktop": async () => {
    const folder = mkdtempSync(join(tmpdir(), "glovebox-desktop-"));
    const seen = join(folder, "seen");
    for (const name of ["notify-send", "osascript"]) {
      writeFileSync(join(folder, name), `#!/bin/sh\n: > "${seen}"\n`);
      chmodSync(join(folder, name), 0o700);
    }
    const { PATH: before = "" } = process.env;
    process.env["PATH"] = `${folder}${delimiter}${before}`;
    try {
      await waitOnce({ desktop: false });
      assert.equal(existsSync(seen), false);
      await waitOnce({ desktop: true });
      while (!existsSync(seen)) await wait(10);
    } finally {
      process.env["PATH"] = before;
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
