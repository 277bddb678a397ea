/** A read-only store creates and writes nothing. */

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { GloveboxError } from "../../domain/index.ts";
import { openStore, openStoreToRead } from "../index.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-read-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
const now = (): number => 7;
const isRefusal =
  (code: string) =>
  (thrown: unknown): boolean =>
    thrown instanceof GloveboxError && thrown.code === code;

describe("openStoreToRead", () => {
  test("creates nothing if the file does not exist", async () => {
    const path = join(folder, "none", "a.db");
    await assert.rejects(openStoreToRead({ path, now }), isRefusal("REQUEST_NOT_FOUND"));
    assert.equal(existsSync(join(folder, "none")), false);
  });

  test("returns existing and new content and refuses writes", async () => {
    const path = join(folder, "b.db");
    await using writer = await openStore({ path, now });
    await writer.meta.set("a", "1");
    await using reader = await openStoreToRead({ path, now });
    await writer.meta.set("b", "2");
    assert.deepEqual([await reader.meta.get("a"), await reader.meta.get("b")], ["1", "2"]);
    await assert.rejects(reader.meta.set("a", "3"), isRefusal("STORE_UNAVAILABLE"));
    assert.equal(await writer.meta.get("a"), "1");
  });

  test("migrates an empty file first", async () => {
    const path = join(folder, "c.db");
    writeFileSync(path, "");
    await using reader = await openStoreToRead({ path, now });
    assert.equal(await reader.ledger.last(), undefined);
  });
});
