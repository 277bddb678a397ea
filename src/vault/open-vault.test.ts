/** The vault on a real store and ledger: what it seals, what it refuses to open, and what the ledger says about it. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { serialize } from "node:v8";

import { KEY, OTHER_KEY, folder, history, name, newPath, setUp } from "./fixtures/set-up.ts";
import { Secret } from "./secret.ts";

const CANARY = "canary-5f2a91-value";

describe("a vault", () => {
  test("lends the newest version of a secret, and lists secrets without values", async () => {
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

  test("returns the secrets to mask without a loan: all that its key opens, and none without that key", async () => {
    await using fixture = await setUp();
    const { vault, ledger, reopen } = fixture;
    assert.deepEqual(await vault.known(), []);
    await vault.set(name("TOKEN"), new Secret(CANARY), "ada");
    await vault.set(name("B"), new Secret("b"), "ada");
    const recorded = await history(ledger);
    const known = await vault.known();
    assert.deepEqual(
      known.map((secret) => secret.reveal()),
      ["b", CANARY],
    );
    const stranger = reopen({ environmentKey: randomBytes(32).toString("hex") });
    assert.deepEqual(await stranger.known(), []);
    assert.deepEqual(await history(ledger), recorded);
  });

  test("explains how to set a secret that is missing or was removed", async () => {
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

  test("records every use and change in the ledger, and the value nowhere", async () => {
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

  test("a vault does nothing that it cannot record", async () => {
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

  test("accepts 1 byte to 64 KiB of valid UTF-8", async () => {
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

  test("a sealed row does not open under another name or as another version", async () => {
    await using fixture = await setUp();
    const { vault, store, ledger, forge } = fixture;
    await vault.set(name("A"), new Secret("a"), "ada");
    await vault.set(name("B"), new Secret("b"), "ada");
    const [a, b] = await store.secrets.list();
    assert.ok(a && b);
    await forge({ ...b, name: a.name });
    await forge({ ...a, name: b.name });
    await assert.rejects(vault.lend(name("A"), "test"), damaged);
    await assert.rejects(vault.lend(name("B"), "test"), damaged);
    await forge({ ...a, version: 2 });
    await assert.rejects(vault.lend(name("A"), "test"), damaged);
    assert.deepEqual((await history(ledger)).at(-1), [
      "gateway",
      "secret.refused",
      "A",
      { purpose: "test", reason: "cannot be opened: its record was changed or moved" },
    ]);
    await forge(a);
    assert.equal((await vault.lend(name("A"), "test")).reveal(), "a");
  });

  test("a sealed row does not open when any character of its name or its version was changed", async () => {
    await using fixture = await setUp();
    const { vault, store, forge } = fixture;
    await vault.set(name("TOKEN_A"), new Secret("a"), "ada");
    const row = await store.secrets.find(name("TOKEN_A"));
    assert.ok(row);
    for (let at = 0; at < row.name.length; at += 1) {
      const changed = name(`${row.name.slice(0, at)}x${row.name.slice(at + 1)}`);
      await forge({ ...row, name: changed });
      await assert.rejects(vault.lend(changed, "test"), damaged);
    }
    for (const version of [0, 2, 3, 257, 10]) {
      await forge({ ...row, version });
      await assert.rejects(vault.lend(row.name, "test"), damaged);
    }
    await forge(row);
    assert.equal((await vault.lend(row.name, "test")).reveal(), "a");
  });

  test("a sealed row does not open when any bit was flipped or a part was cut off", async () => {
    await using fixture = await setUp();
    const { vault, store, forge } = fixture;
    await vault.set(name("A"), new Secret("a"), "ada");
    const row = await store.secrets.find(name("A"));
    assert.ok(row);
    for (const part of ["wrappedKey", "nonce", "ciphertext"] as const) {
      for (let bit = 0; bit < row[part].length * 8; bit += 1) {
        const flipped = row[part].map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        await forge({ ...row, [part]: flipped });
        await assert.rejects(vault.lend(name("A"), "test"), damaged);
      }
      for (const cut of [row[part].slice(0, -1), row[part].slice(1), new Uint8Array()]) {
        await forge({ ...row, [part]: cut });
        await assert.rejects(vault.lend(name("A"), "test"), damaged);
      }
    }
    await forge(row);
    assert.equal((await vault.lend(name("A"), "test")).reveal(), "a");
  });

  test("sealing the same value twice, or under two names, gives different rows", async () => {
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
  test("the key is neither created nor checked by operations that need none, and is created at the first start", async () => {
    await using fixture = await setUp();
    const { vault, keyFile, store } = fixture;
    await vault.list();
    await vault.remove(name("A"), "ada");
    await assert.rejects(vault.lend(name("A"), "test"));
    assert.deepEqual([existsSync(keyFile), await store.secrets.keyCheck()], [false, undefined]);
    await vault.ready();
    const made = readFileSync(keyFile, "utf8");
    await fixture.reopen({}).ready();
    assert.equal(readFileSync(keyFile, "utf8"), made);
  });

  test("a key of the environment takes precedence over the file, and no file is created", async () => {
    await using fixture = await setUp();
    const vault = fixture.reopen({ environmentKey: KEY });
    await vault.set(name("A"), new Secret("a"), "ada");
    assert.equal(existsSync(fixture.keyFile), false);
    assert.equal((await fixture.reopen({ environmentKey: KEY.toUpperCase() }).lend(name("A"), "t")).reveal(), "a");
  });

  test("a wrong key is detected, and nothing is overwritten", async () => {
    await using fixture = await setUp();
    const { store, reopen } = fixture;
    await reopen({ environmentKey: KEY }).set(name("A"), new Secret("a"), "ada");
    const before = [await store.secrets.list(), await store.secrets.keyCheck()];
    const wrong = { code: "CONFIG_INVALID", message: "The secrets in this store are sealed with another key" };
    await assert.rejects(reopen({ environmentKey: OTHER_KEY }).lend(name("A"), "t"), wrong);
    await assert.rejects(reopen({ environmentKey: OTHER_KEY }).set(name("A"), new Secret("x"), "ada"), wrong);
    await assert.rejects(reopen({ environmentKey: OTHER_KEY }).ready(), wrong);
    await assert.rejects(reopen({}).ready(), { code: "CONFIG_INVALID", message: /^The key file .* is missing$/ });
    assert.deepEqual([await store.secrets.list(), await store.secrets.keyCheck()], before);
    await reopen({ environmentKey: KEY }).ready();
    assert.equal((await reopen({ environmentKey: KEY }).lend(name("A"), "t")).reveal(), "a");
  });

  test("the key may change while nothing is sealed with it", async () => {
    await using fixture = await setUp();
    const { vault, reopen } = fixture;
    await vault.ready();
    await reopen({ environmentKey: KEY }).ready();
    await reopen({ environmentKey: OTHER_KEY }).set(name("A"), new Secret("a"), "ada");
    await assert.rejects(reopen({ environmentKey: KEY }).ready(), { code: "CONFIG_INVALID" });
    await assert.rejects(vault.set(name("A"), new Secret("x"), "ada"), { code: "CONFIG_INVALID" });
    assert.equal((await reopen({ environmentKey: OTHER_KEY }).lend(name("A"), "t")).reveal(), "a");
  });

  test("a lost key file is not created again, and works once it is restored", async () => {
    await using fixture = await setUp();
    const { vault, keyFile, reopen } = fixture;
    await vault.set(name("A"), new Secret("a"), "ada");
    const elsewhere = newPath();
    const later = reopen({ keyFile: elsewhere });
    await assert.rejects(later.lend(name("A"), "t"), {
      code: "CONFIG_INVALID",
      message: /^The key file .* is missing$/,
    });
    assert.equal(existsSync(elsewhere), false);
    await vault.close();
    assert.equal((await reopen({ keyFile }).lend(name("A"), "t")).reveal(), "a");
  });
});

describe("Secret", () => {
  const secret = new Secret(CANARY);

  test("a Secret prints as a placeholder everywhere", () => {
    const shown = [
      String(secret),
      // The linter refuses it in a template; this is what a template does.
      String.raw({ raw: ["", ""] }, secret),
      [secret].join(),
      JSON.stringify({ secret }),
      inspect({ secret }),
      inspect(secret, { showHidden: true }),
    ];
    const placeholders = [
      "[secret]",
      "[secret]",
      "[secret]",
      '{"secret":"[secret]"}',
      "{ secret: [secret] }",
      "[secret]",
    ];
    assert.deepEqual(shown, placeholders);
    assert.equal(secret.reveal(), CANARY);
  });

  test("a Secret has no properties to copy, list or serialize", () => {
    const bare: object = secret;
    const copies = [{ ...bare }, Object.assign({}, secret), structuredClone(secret), Object.values(secret)];
    assert.deepEqual(copies, [{}, {}, {}, []]);
    assert.deepEqual([Object.keys(secret), Reflect.ownKeys(secret)], [[], []]);
    assert.equal(serialize(secret).includes(CANARY), false);
    const inspected = inspect(secret, { customInspect: false, showHidden: true, getters: true, depth: 9 });
    assert.equal(inspected.includes(CANARY), false);
    assert.equal(inspect(new Error("it", { cause: secret })).includes(CANARY), false);
  });
});
