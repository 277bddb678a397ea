/** The vault on a real store and ledger: what it seals, what it refuses to open, and what the ledger says about it. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { inspect } from "node:util";

import { openLedger } from "../audit/index.ts";
import type { Ledger } from "../audit/index.ts";
import { parseSecretName } from "../domain/index.ts";
import type { SecretName } from "../domain/index.ts";
import { openStore } from "../store/index.ts";
import type { Store } from "../store/index.ts";

import { openVault } from "./open-vault.ts";
import type { Vault } from "./open-vault.ts";
import { Secret } from "./secret.ts";

const CANARY = "canary-5f2a91-value";
const KEY = "8f1d3a5c7e90b2d4f6081a3c5e7092b4d6f80a1c3e507294b6d8fa1c3e5f7091";
const OTHER_KEY = KEY.replace("8f", "9f");

const folder = mkdtempSync(join(tmpdir(), "glovebox-vault-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}`, "vault.key");
const now = (): number => 1_234;

function name(text: string): SecretName {
  const parsed = parseSecretName(text);
  assert.ok(parsed);
  return parsed;
}

interface Fixture extends AsyncDisposable {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly vault: Vault;
  readonly keyFile: string;
  readonly reopen: (key: { readonly keyFile?: string; readonly environmentKey?: string }) => Vault;
  [Symbol.asyncDispose](): Promise<void>;
}

async function setUp(path = ":memory:"): Promise<Fixture> {
  const store = await openStore({ path, now });
  const ledger = await openLedger({ store, now });
  const keyFile = newPath();
  const reopen: Fixture["reopen"] = (key) => openVault({ store, ledger, keyFile, random: randomBytes, ...key });
  const close = async (): Promise<void> => {
    await ledger.close();
    await store.close();
  };
  return { store, ledger, vault: reopen({}), keyFile, reopen, [Symbol.asyncDispose]: close };
}

async function history(ledger: Ledger): Promise<readonly unknown[]> {
  const lines: unknown[] = [];
  for await (const { actor, action, subject, detail } of ledger.records()) lines.push([actor, action, subject, detail]);
  return lines;
}

describe("a vault", () => {
  test("lends what was set, newest version, and lists without values", async () => {
    await using fixture = await setUp();
    const { vault } = fixture;
    await vault.set(name("TOKEN"), new Secret("old"), "ada");
    await vault.set(name("TOKEN"), new Secret(`${CANARY} 🧤`), "ada");
    await vault.set(name("B"), new Secret("b"), "ada");
    assert.equal((await vault.lend(name("TOKEN"), "connector github")).reveal(), `${CANARY} 🧤`);
    assert.deepEqual(await vault.list(), [
      { name: "B", version: 1, setAt: 1_234 },
      { name: "TOKEN", version: 2, setAt: 1_234 },
    ]);
  });

  test("says how to set a secret that is missing or was removed", async () => {
    await using fixture = await setUp();
    const { vault } = fixture;
    const missing = {
      code: "VAULT_SECRET_MISSING",
      message: "The secret A is not set",
      details: { hint: "Set it with `glovebox secrets set A`" },
    };
    await assert.rejects(vault.lend(name("A"), "test"), missing);
    await vault.set(name("A"), new Secret("a"), "ada");
    assert.equal((await vault.lend(name("A"), "test")).reveal(), "a");
    assert.equal(await vault.remove(name("A"), "ada"), true);
    assert.equal(await vault.remove(name("A"), "ada"), false);
    await assert.rejects(vault.lend(name("A"), "test"), missing);
  });

  test("writes every use and change into the ledger, and the value nowhere", async () => {
    const path = join(folder, "canary.db");
    {
      await using fixture = await setUp(path);
      const { vault, ledger } = fixture;
      await vault.set(name("A"), new Secret(CANARY), "ada");
      await vault.lend(name("A"), "connector github");
      await vault.remove(name("A"), "bob");
      await assert.rejects(vault.lend(name("A"), "connector github"));
      await vault.set(name("A"), new Secret(CANARY), "ada");
      assert.deepEqual(await history(ledger), [
        ["ada", "secret.set", "A", { version: 1 }],
        ["gateway", "secret.lent", "A", { purpose: "connector github", version: 1 }],
        ["bob", "secret.removed", "A", {}],
        ["gateway", "secret.refused", "A", { purpose: "connector github", reason: "is not set" }],
        ["ada", "secret.set", "A", { version: 1 }],
      ]);
    }
    const bytes = readFileSync(path);
    for (const encoding of ["utf8", "base64", "hex"] as const) {
      assert.equal(bytes.includes(Buffer.from(CANARY).toString(encoding)), false, encoding);
    }
  });

  test("does nothing that it cannot write down", async () => {
    await using fixture = await setUp();
    const { vault, ledger, store } = fixture;
    await vault.set(name("A"), new Secret("a"), "ada");
    await ledger.close();
    await assert.rejects(vault.lend(name("A"), "test"), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(vault.set(name("A"), new Secret("b"), "ada"), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(vault.remove(name("A"), "ada"), { code: "STORE_UNAVAILABLE" });
    assert.deepEqual(
      (await store.secrets.list()).map(({ version }) => version),
      [1],
    );
  });

  test("takes 1 byte to 64 KiB of valid text", async () => {
    await using fixture = await setUp();
    const { vault, keyFile } = fixture;
    for (const wrong of ["", "x".repeat(65_537), `${"x".repeat(65_533)}🧤`, "\ud800"]) {
      await assert.rejects(vault.set(name("A"), new Secret(wrong), "ada"), { code: "REQUEST_INVALID" });
    }
    assert.equal(existsSync(keyFile), false);
    for (const right of ["x", "x".repeat(65_535), "x".repeat(65_536)]) {
      await vault.set(name("A"), new Secret(right), "ada");
      assert.equal((await vault.lend(name("A"), "test")).reveal(), right);
    }
  });
});

describe("a sealed row", () => {
  const damaged = { code: "VAULT_SECRET_MISSING", message: /cannot be opened: its record was changed or moved$/ };

  test("does not open under another name or as another version", async () => {
    await using fixture = await setUp();
    const { vault, store, ledger } = fixture;
    await vault.set(name("A"), new Secret("a"), "ada");
    await vault.set(name("B"), new Secret("b"), "ada");
    const [a, b] = await store.secrets.list();
    assert.ok(a && b);
    await store.secrets.put({ ...b, name: a.name });
    await store.secrets.put({ ...a, name: b.name });
    await assert.rejects(vault.lend(name("A"), "test"), damaged);
    await assert.rejects(vault.lend(name("B"), "test"), damaged);
    await store.secrets.put({ ...a, version: 2 });
    await assert.rejects(vault.lend(name("A"), "test"), damaged);
    assert.deepEqual((await history(ledger)).at(-1), [
      "gateway",
      "secret.refused",
      "A",
      { purpose: "test", reason: "cannot be opened: its record was changed or moved" },
    ]);
    await store.secrets.put(a);
    assert.equal((await vault.lend(name("A"), "test")).reveal(), "a");
  });

  test("does not open when any bit of it was flipped or a part cut off", async () => {
    await using fixture = await setUp();
    const { vault, store } = fixture;
    await vault.set(name("A"), new Secret("a"), "ada");
    const row = await store.secrets.find(name("A"));
    assert.ok(row);
    for (const part of ["wrappedKey", "nonce", "ciphertext"] as const) {
      for (let bit = 0; bit < row[part].length * 8; bit += 1) {
        const flipped = row[part].map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        await store.secrets.put({ ...row, [part]: flipped });
        await assert.rejects(vault.lend(name("A"), "test"), damaged);
      }
      for (const cut of [row[part].slice(0, -1), row[part].slice(1), new Uint8Array()]) {
        await store.secrets.put({ ...row, [part]: cut });
        await assert.rejects(vault.lend(name("A"), "test"), damaged);
      }
    }
    await store.secrets.put(row);
    assert.equal((await vault.lend(name("A"), "test")).reveal(), "a");
  });

  test("is different each time, and the same value looks different under two names", async () => {
    await using fixture = await setUp();
    const { vault, store } = fixture;
    const seen = new Set<string>();
    for (let n = 0; n < 50; n += 1) {
      await vault.set(name(`S${n}`), new Secret("same"), "ada");
      const row = await store.secrets.find(name(`S${n}`));
      for (const part of [row?.wrappedKey.subarray(0, 12), row?.nonce, row?.ciphertext])
        seen.add(Buffer.from(part ?? []).toString("hex"));
    }
    assert.equal(seen.size, 150);
  });
});

describe("the key", () => {
  test("is neither made nor checked before the first secret is set", async () => {
    await using fixture = await setUp();
    const { vault, keyFile, store } = fixture;
    await vault.list();
    await vault.remove(name("A"), "ada");
    await assert.rejects(vault.lend(name("A"), "test"));
    assert.deepEqual([existsSync(keyFile), await store.meta.get("vault.check")], [false, undefined]);
    await vault.set(name("A"), new Secret("a"), "ada");
    assert.equal(existsSync(keyFile), true);
  });

  test("of the environment goes before the file, and no file is made", async () => {
    await using fixture = await setUp();
    const vault = fixture.reopen({ environmentKey: KEY });
    await vault.set(name("A"), new Secret("a"), "ada");
    assert.equal(existsSync(fixture.keyFile), false);
    assert.equal((await fixture.reopen({ environmentKey: KEY.toUpperCase() }).lend(name("A"), "t")).reveal(), "a");
  });

  test("is recognized when it is another one, and nothing is overwritten", async () => {
    await using fixture = await setUp();
    const { store, reopen } = fixture;
    await reopen({ environmentKey: KEY }).set(name("A"), new Secret("a"), "ada");
    const before = [await store.secrets.list(), await store.meta.get("vault.check")];
    const wrong = { code: "CONFIG_INVALID", message: "The secrets in this store are sealed with another key" };
    await assert.rejects(reopen({ environmentKey: OTHER_KEY }).lend(name("A"), "t"), wrong);
    await assert.rejects(reopen({ environmentKey: OTHER_KEY }).set(name("A"), new Secret("x"), "ada"), wrong);
    assert.deepEqual([await store.secrets.list(), await store.meta.get("vault.check")], before);
    assert.equal((await reopen({ environmentKey: KEY }).lend(name("A"), "t")).reveal(), "a");
  });

  test("file is not made anew when it was lost, and works again once it is back", async () => {
    await using fixture = await setUp();
    const { vault, keyFile, reopen } = fixture;
    await vault.set(name("A"), new Secret("a"), "ada");
    const elsewhere = newPath();
    const later = reopen({ keyFile: elsewhere });
    await assert.rejects(later.lend(name("A"), "t"), { code: "CONFIG_INVALID", message: /key file is missing$/ });
    assert.equal(existsSync(elsewhere), false);
    await vault.close();
    assert.equal((await reopen({ keyFile }).lend(name("A"), "t")).reveal(), "a");
  });
});

describe("Secret", () => {
  test("shows itself nowhere but through reveal", () => {
    const secret = new Secret(CANARY);
    const shown = [
      String(secret),
      [secret].join(),
      JSON.stringify({ secret }),
      inspect({ secret }),
      inspect(secret, { showHidden: true }),
    ];
    assert.deepEqual(shown, ["[secret]", "[secret]", '{"secret":"[secret]"}', "{ secret: [secret] }", "[secret]"]);
    assert.deepEqual([Object.keys(secret), Object.getOwnPropertyNames(secret)], [[], []]);
    assert.equal(secret.reveal(), CANARY);
  });
});
