/** Secrets from outside: set from standard input, lent to one upstream, found nowhere else. */

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { EVERYTHING, findStore, makeUntypedFolder, probe, runGlovebox } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";
import { readFiles } from "../../fixtures/read-files.ts";

const VALUE = "s3cr3t-vAlue/with+odd=chars-3141592653589793";
const ENCODINGS = [
  Buffer.from(VALUE),
  Buffer.from(Buffer.from(VALUE).toString("base64").replace(/=+$/, "").slice(4, -4)),
  Buffer.from(Buffer.from(VALUE).toString("base64url").replace(/=+$/, "").slice(4, -4)),
  Buffer.from(Buffer.from(VALUE).toString("hex")),
  Buffer.from(Buffer.from(VALUE).toString("hex").toUpperCase()),
  Buffer.from(VALUE, "utf16le"),
  Buffer.from(encodeURIComponent(VALUE)),
];

const CONFIG = {
  mcpServers: {
    everything: { ...EVERYTHING, env: { API_TOKEN: "Bearer ${secret:API_TOKEN}" } },
    probe: probe(),
  },
};

function findLeaks(bytes: Buffer): readonly number[] {
  return ENCODINGS.flatMap((encoding, index) => (bytes.includes(encoding) ? [index] : []));
}

/** All output so far. */
function printedBy({ stdout, stderr }: CommandResult): Buffer {
  return Buffer.from(stdout + stderr);
}

test("the search for leaks finds a planted value in every encoding", () => {
  assert.deepEqual(findLeaks(Buffer.from(`x${VALUE}x`)), [0]);
  for (const [index, encoding] of ENCODINGS.entries()) {
    assert.ok(findLeaks(Buffer.concat([Buffer.from("before"), encoding, Buffer.from("after")])).includes(index));
  }
});

test("a secret reaches only the upstream that names it", async (context) => {
  const folder = makeUntypedFolder(context, CONFIG);
  const set = await runGlovebox(["secrets", "set", "API_TOKEN"], { folder, input: `${VALUE}\n` });
  assert.deepEqual(set, {
    code: 0,
    stdout: "",
    stderr: "API_TOKEN is set; write ${secret:API_TOKEN} in an upstream's env or headers to use it\n",
  });

  const list = await runGlovebox(["secrets"], { folder });
  const { stdout, ...others } = list;
  assert.match(stdout, /^API_TOKEN \(version 1\)\n {2}used by mcpServers\.\w+\.env\.\w+\n$/);
  assert.deepEqual(others, { code: 0, stderr: "" });
  const json = await runGlovebox(["secrets", "--json"], { folder });
  const { secrets } = JSON.parse(json.stdout) as { secrets: Record<string, unknown>[] };
  assert.deepEqual(
    secrets.map(({ setAt, usedBy: _, ...rest }) => ({ ...rest, setAt: typeof setAt })),
    [{ name: "API_TOKEN", version: 1, setAt: "number" }],
  );

  // This server returns its whole environment. The mask in place of the value shows that it was lent.
  const input = `
    const seen = await everything.getEnv({});
    const other = (await probe.about({})).env;
    return {
      seen: seen.API_TOKEN,
      other: other.API_TOKEN ?? null,
      anywhere: JSON.stringify(other).includes("s3cr3t"),
      key: seen.GLOVEBOX_ENCRYPTION_KEY ?? null,
    };
  `;
  const run = await runGlovebox(["run", "-"], { folder, input });
  assert.equal(run.code, 0, run.stderr);
  assert.deepEqual(JSON.parse(run.stdout), {
    seen: "Bearer [secret]",
    other: null,
    anywhere: false,
    key: null,
  });

  const doctor = await runGlovebox(["doctor"], { folder });
  const servers = await runGlovebox(["servers", "--json"], { folder });
  for (const finished of [set, list, json, run, doctor, servers]) assert.deepEqual(findLeaks(printedBy(finished)), []);
  const store = dirname(findStore(folder));
  const files = readFiles(store);
  assert.ok(files.has("glovebox.db") && files.has("glovebox.key"));
  for (const [file, bytes] of files) assert.deepEqual(findLeaks(bytes), [], file);
  assert.equal(statSync(join(store, "glovebox.key")).mode & 0o777, 0o600);
});

test("a missing secret fails its server with a remedy, and setting it fixes the server", async (context) => {
  const folder = makeUntypedFolder(context, {
    mcpServers: { probe: { ...probe(), env: { TOKEN: "${secret:PROBE_TOKEN}" } }, other: probe() },
  });
  const ask = async (): Promise<readonly Record<string, unknown>[]> => {
    const { stdout } = await runGlovebox(["servers", "--json"], { folder });
    return (JSON.parse(stdout) as { servers: Record<string, unknown>[] }).servers;
  };
  const [failed, healthy] = await ask();
  assert.equal(failed?.["state"], "failed");
  assert.match(String(failed?.["cause"]), /secret/i);
  assert.match(String(failed?.["hint"]), /glovebox secrets set PROBE_TOKEN/);
  assert.equal(healthy?.["state"], "ready");
  await runGlovebox(["secrets", "set", "PROBE_TOKEN"], { folder, input: "value" });
  assert.deepEqual(
    (await ask()).map(({ state }) => state),
    ["ready", "ready"],
  );
  const removed = await runGlovebox(["secrets", "remove", "PROBE_TOKEN"], { folder });
  assert.equal(removed.code, 0);
  const { stdout } = await runGlovebox(["secrets"], { folder });
  assert.match(
    stdout,
    /^PROBE_TOKEN \(not set\)\n {2}used by mcpServers\.probe\.env\.\w+\n {2}last used .* by gateway\n$/,
  );
});

test("secrets set refuses an empty value and an invalid name", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {} });
  const empty = await runGlovebox(["secrets", "set", "A"], { folder, input: "" });
  assert.equal(empty.code, 2);
  assert.match(empty.stderr, /Standard input is empty/);
  const named = await runGlovebox(["secrets", "set", "not a name"], { folder, input: "x" });
  assert.equal(named.code, 2);
  assert.match(named.stderr, /is not a valid secret name/);
  const asArgument = await runGlovebox(["secrets", "set", "A", "value-in-argument"], { folder, input: "x" });
  assert.equal(asArgument.code, 2);
});
