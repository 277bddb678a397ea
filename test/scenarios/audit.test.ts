/** `glovebox audit` from outside: what was done is there to export, and whoever changes it is found out. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { INVENTORY, makeFolder, parseJsonLines, runGlovebox } from "./product.ts";

const CONFIG = { mcpServers: { inventory: INVENTORY } };
const PROGRAM =
  'await inventory.updateStock({ sku: "SKU-001", stock: 3 }); await inventory.deleteProduct({ sku: "SKU-002" });';

test("every execution and call is in the export, which verifies until one byte is changed", async (context) => {
  const folder = makeFolder(context, CONFIG);
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
  const others = records.filter((record) => !pinned.includes(record));
  assert.deepEqual(
    others.map(({ action, subject }) => [action, String(subject).replace(/^ex_.*/, "ex")]),
    [
      ["execution.opened", "ex"],
      ["call.intended", "inventory.updateStock"],
      ["call.ended", "inventory.updateStock"],
      ["call.intended", "inventory.deleteProduct"],
      ["call.ended", "inventory.deleteProduct"],
      ["execution.closed", "ex"],
    ],
  );
  assert.match(JSON.stringify(others[3]), /"decision":"ask"/);

  const intact = await runGlovebox(["audit", "verify", file], { folder });
  assert.equal(intact.code, 0);
  assert.match(intact.stdout, /^11 records, all intact; signed up to record 11 by ed25519:/);
  assert.equal((await runGlovebox(["audit", "verify"], { folder })).code, 0);

  writeFileSync(file, readFileSync(file, "utf8").replace('"decision":"ask"', '"decision":"allow"'));
  const changed = await runGlovebox(["audit", "verify", "--json", file], { folder });
  assert.deepEqual(
    [changed.code, JSON.parse(changed.stdout)],
    [1, { ok: false, seq: others[3]?.["seq"], problem: "the record was changed" }],
  );
});

test("an export never overwrites a file", async (context) => {
  const folder = makeFolder(context, CONFIG);
  writeFileSync(join(folder, "precious.txt"), "keep me");
  const { code, stderr } = await runGlovebox(["audit", "export", "precious.txt"], { folder });
  assert.equal(code, 2);
  assert.match(stderr, /precious\.txt cannot be written/);
  assert.equal(readFileSync(join(folder, "precious.txt"), "utf8"), "keep me");
});
