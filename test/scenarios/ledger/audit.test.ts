/** `glovebox audit` from outside: everything that was done can be exported, and changes are detected. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import {
  INVENTORY,
  findStore,
  makeUntypedFolder,
  parseJsonLines,
  probe,
  runGlovebox,
  startFor,
  untilEnded,
  waitForOutput,
} from "../../fixtures/product.ts";

const { version: VERSION } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const CONFIG = { mcpServers: { inventory: INVENTORY }, approvals: { graceMs: 0 } };
const PROGRAM =
  'await inventory.updateStock({ sku: "SKU-001", stock: 3 }); await inventory.deleteProduct({ sku: "SKU-002" });';

test("the export has every execution and call, and verifies until one byte is changed", async (context) => {
  const folder = makeUntypedFolder(context, CONFIG);
  await runGlovebox(["run", "-"], { folder, input: PROGRAM });
  const file = join(folder, "ledger.jsonl");
  assert.equal((await runGlovebox(["audit", "export", file], { folder })).code, 0);
  const lines = parseJsonLines(readFileSync(file, "utf8"));
  const records = lines.slice(0, -1);
  assert.equal(lines.at(-1)?.["kind"], "trailer");
  const pinned = records.filter(({ action }) => action === "tool.pinned");
  assert.deepEqual(
    pinned.map(({ subject }) => subject),
    ["delete_product", "get_product", "list_orders", "list_products", "update_stock"],
  );
  // The time at which an upstream becomes ready varies.
  assert.equal(records.filter(({ action }) => action === "upstream.connected").length, 1);
  const others = records.filter((record) => !pinned.includes(record) && record["action"] !== "upstream.connected");
  assert.deepEqual(
    others.map(({ action, subject }) => [action, String(subject).replace(/^(ex|ap)_.*/, "$1")]),
    [
      ["gateway.opened", VERSION],
      ["execution.opened", "ex"],
      ["call.intended", "inventory.updateStock"],
      ["call.ended", "inventory.updateStock"],
      ["call.intended", "inventory.deleteProduct"],
      ["approval.requested", "ap"],
      ["execution.paused", "ex"],
      ["gateway.closed", VERSION],
    ],
  );
  assert.match(JSON.stringify(others[4]), /"decision":"ask"/);

  const intact = await runGlovebox(["audit", "verify", file], { folder });
  assert.equal(intact.code, 0);
  assert.match(intact.stdout, /^14 records, all intact; signed up to record 14 by ed25519:/);
  assert.equal((await runGlovebox(["audit", "verify"], { folder })).code, 0);

  writeFileSync(file, readFileSync(file, "utf8").replace('"decision":"ask"', '"decision":"allow"'));
  const changed = await runGlovebox(["audit", "verify", "--json", file], { folder });
  assert.deepEqual(
    [changed.code, JSON.parse(changed.stdout)],
    [1, { ok: false, seq: others[4]?.["seq"], problem: "the record was changed" }],
  );
});

test("audit verify creates no store, and reports a store that was removed with its head", async (context) => {
  const folder = makeUntypedFolder(context, CONFIG);
  const store = findStore(folder);
  const check = async (): Promise<unknown> => {
    const { code, stdout, stderr } = await runGlovebox(["audit", "verify"], { folder });
    return [code, /does not exist|the signed head is missing|noted by the gateway/.exec(stdout + stderr)?.[0]];
  };
  assert.deepEqual(await check(), [1, "does not exist"]);
  assert.equal(existsSync(store), false);
  await runGlovebox(["run", "-"], { folder, input: "return 1" });
  for (const end of ["", "-wal", "-shm", ".head"]) rmSync(`${store}${end}`, { force: true });
  assert.deepEqual(await check(), [1, "does not exist"]);
  assert.equal(existsSync(store), false);
  await runGlovebox(["run", "-"], { folder, input: "return 1" });
  assert.deepEqual(await check(), [1, "noted by the gateway"]);
});

test("audit export never overwrites a file", async (context) => {
  const folder = makeUntypedFolder(context, CONFIG);
  writeFileSync(join(folder, "precious.txt"), "keep me");
  await runGlovebox(["run", "-"], { folder, input: "return 1" });
  const { code, stderr } = await runGlovebox(["audit", "export", "precious.txt"], { folder });
  assert.equal(code, 2);
  assert.match(stderr, /precious\.txt cannot be written/);
  assert.equal(readFileSync(join(folder, "precious.txt"), "utf8"), "keep me");
});

const actionsOf = (stdout: string): readonly unknown[] =>
  (JSON.parse(stdout) as { records: { action: string; subject: string }[] }).records.map(({ action }) => action);

test("audit searches the ledger by actor, action, time and outcome", async (context) => {
  const folder = makeUntypedFolder(context, {
    mcpServers: { probe: probe() },
    policy: { rules: [{ decision: "deny", tools: ["probe.destroy"] }] },
  });
  const code = "await probe.echo({}); await probe.change({}); try { await probe.destroy({}) } catch {}";
  const { stdout } = await runGlovebox(["run", "--json", "-"], { folder, input: code });
  const { execution } = JSON.parse(stdout) as { execution: string };
  const search = async (...flags: string[]): Promise<readonly unknown[]> => {
    const found = await runGlovebox(["audit", "--json", ...flags], { folder });
    assert.equal(found.code, 0, found.stderr);
    return actionsOf(found.stdout);
  };
  const call = ["call.intended", "call.ended"];
  assert.deepEqual(
    await search("--principal", "operator", "--tool", "probe.change", "--since", "1h", "--limit", "9"),
    call,
  );
  assert.deepEqual(await search("--action", "call", "--outcome", "deny", "--execution", execution), ["call.intended"]);
  assert.equal((await runGlovebox(["audit", "--since", "yesterday"], { folder })).code, 2);
  const plain = await runGlovebox(["audit", "--tool", "probe.echo"], { folder });
  assert.match(plain.stdout, /^\S+Z \d+ operator call\.intended probe\.echo \{.*\}\n\S+Z \d+ operator call\.ended /);
});

test("audit tail prints what another process does, and ends when it is interrupted", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {} });
  await runGlovebox(["run", "-"], { folder, input: "return 1" });
  const tail = startFor(context, ["audit", "tail"], folder);
  await waitForOutput(tail, /waiting for record/);
  const seen = waitForOutput(tail, /execution\.closed/);
  await runGlovebox(["run", "-"], { folder, input: "return 2" });
  assert.match(await seen, /gateway\.opened[^]*execution\.opened/);
  const ended = untilEnded(tail);
  tail.kill("SIGINT");
  assert.equal(await ended, 0);
});

test("audit verify fails for a truncated store and for another signer; the public key identifies the signer", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {} });
  await runGlovebox(["run", "-"], { folder, input: "return 1" });
  const key = (await runGlovebox(["audit", "key"], { folder })).stdout.trim();
  assert.match(key, /^ed25519:[A-Za-z0-9_-]{43}$/);
  assert.equal(statSync(join(dirname(findStore(folder)), "ledger.key")).mode & 0o777, 0o600);
  const verify = (...flags: string[]) => runGlovebox(["audit", "verify", ...flags], { folder });
  assert.equal((await verify("--key", key)).code, 0);
  assert.equal((await verify("--key", `ed25519:${"A".repeat(43)}`)).code, 1);
  const database = new DatabaseSync(findStore(folder));
  database.exec("DROP TRIGGER ledger_is_not_cut; DELETE FROM ledger WHERE seq > 2");
  database.close();
  const cut = await verify();
  assert.equal(cut.code, 1);
  assert.match(cut.stdout, /^record 3: records are missing/);
  const { code, stderr } = await runGlovebox(["audit", "export", "cut.jsonl"], { folder });
  assert.equal(code, 1);
  assert.match(stderr, /damaged/);
  assert.equal((await verify("cut.jsonl")).code, 1);
});

test("a gateway without its signing key refuses to start, and starts when the key is back", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {} });
  const run = () => runGlovebox(["run", "-"], { folder, input: "return 1" });
  await run();
  const path = join(dirname(findStore(folder)), "ledger.key");
  const key = readFileSync(path);
  rmSync(path);
  const lost = await run();
  assert.equal(lost.code, 2);
  assert.match(lost.stderr, /signed with another key/);
  writeFileSync(path, key, { mode: 0o600 });
  assert.equal((await run()).code, 0);
  assert.equal((await runGlovebox(["audit", "verify"], { folder })).code, 0);
});

test("the ledger records configuration changes since the last start by section, without values", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {} });
  const start = async (config: unknown): Promise<void> => {
    writeFileSync(join(folder, "glovebox.config.json"), JSON.stringify(config));
    await runGlovebox(["run", "-"], { folder, input: "return 1" });
  };
  await start({ mcpServers: {} });
  await start({ mcpServers: {} });
  await start({ mcpServers: {}, policy: { profile: "strict" }, results: { keepMs: 5 } });
  const { stdout } = await runGlovebox(["audit", "--json", "--action", "configuration.changed"], { folder });
  const { records } = JSON.parse(stdout) as { records: { actor: string; detail: unknown }[] };
  assert.deepEqual(
    records.map(({ actor, detail }) => [actor, detail]),
    [["operator", { changed: ["policy", "results"] }]],
  );
});

test("audit export as OpenTelemetry logs has every record", async (context) => {
  const folder = makeUntypedFolder(context, { mcpServers: {} });
  await runGlovebox(["run", "-"], { folder, input: "return 1" });
  const { stdout } = await runGlovebox(["audit", "export", "--format", "otlp"], { folder });
  const [request] = parseJsonLines(stdout) as {
    resourceLogs: { scopeLogs: { logRecords: { eventName: string }[] }[] }[];
  }[];
  assert.deepEqual(
    request?.resourceLogs[0]?.scopeLogs[0]?.logRecords.map(({ eventName }) => eventName),
    ["gateway.opened", "execution.opened", "execution.closed", "gateway.closed"],
  );
});
