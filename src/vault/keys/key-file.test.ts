/** The master key: which files and texts are accepted, and how a file comes to be. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";

import { createKeyFile, parseKey, readKeyFile, unusable } from "./key-file.ts";

const KEY = "8f1d3a5c7e90b2d4f6081a3c5e7092b4d6f80a1c3e507294b6d8fa1c3e5f7091";
const BYTES = Uint8Array.from(Buffer.from(KEY, "hex"));

const folder = mkdtempSync(join(tmpdir(), "glovebox-key-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `${(files += 1)}`, "vault.key");

function put(content: string, mode: number): string {
  const path = newPath();
  mkdirSync(dirname(path));
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function refused(text: string, message: string): void {
  assert.throws(() => parseKey(text, "It"), { code: "CONFIG_INVALID", message: `It is not a key: it ${message}` });
}

describe("parseKey", () => {
  test("accepts 64 hex digits in either case", () => {
    assert.deepEqual(parseKey(KEY, "It"), BYTES);
    assert.deepEqual(parseKey(KEY.toUpperCase(), "It"), BYTES);
  });

  test("refuses another length or other characters without repeating the key", () => {
    refused("", "has 0 characters, not 64");
    refused(KEY.slice(1), "has 63 characters, not 64");
    refused(`${KEY}0`, "has 65 characters, not 64");
    refused(`${KEY.slice(1)}g`, "has characters that are not hex digits");
    refused(`${KEY.slice(1)}\n`, "has characters that are not hex digits");
  });

  test("refuses keys that follow a pattern", () => {
    const ascending = Array.from({ length: 32 }, (_, index) => index.toString(16).padStart(2, "0")).join("");
    for (const weak of [
      "00".repeat(32),
      "ff".repeat(32),
      "0123456789abcdef".repeat(4),
      ascending,
      KEY.slice(0, 16).repeat(4),
    ]) {
      assert.throws(() => parseKey(weak, "It"), {
        code: "CONFIG_INVALID",
        message: "It is too weak: its bytes follow a pattern",
      });
    }
  });

  test("accepts random keys", () => {
    for (let n = 0; n < 2_000; n += 1) {
      const bytes = randomBytes(32);
      assert.ok(bytes.equals(parseKey(bytes.toString("hex"), "It")), bytes.toString("hex"));
    }
  });
});

describe("readKeyFile", () => {
  test("reads a file of this user, with or without a line break", () => {
    for (const content of [KEY, `${KEY}\n`, `${KEY}\r\n`]) assert.deepEqual(readKeyFile(put(content, 0o600)), BYTES);
    assert.deepEqual(readKeyFile(put(KEY, 0o400)), BYTES);
    assert.equal(readKeyFile(newPath()), undefined);
  });

  test("refuses a file that others can access, and leaves it as it is", () => {
    for (const mode of [0o640, 0o604, 0o660, 0o601, 0o644]) {
      const path = put(KEY, mode);
      assert.throws(() => readKeyFile(path), {
        code: "CONFIG_INVALID",
        message: /^The key file vault\.key is accessible to other users/,
      });
      assert.equal(statSync(path).mode & 0o777, mode);
    }
  });

  test("refuses a file of another user, whatever its mode", () => {
    const path = put(KEY, 0o600);
    // Only root can give a file away; for everybody else there are files of root.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(path, 12_345, 12_345);
    assert.throws(() => readKeyFile(isRoot ? path : "/etc/passwd"), {
      code: "CONFIG_INVALID",
      message: isRoot
        ? "The key file vault.key belongs to another user (12345)"
        : "The key file passwd belongs to another user (0)",
    });
  });

  test("refuses a wrong size, a link and a folder, and never names the folder it is in", () => {
    const path = newPath();
    mkdirSync(path, { recursive: true });
    const link = newPath();
    mkdirSync(dirname(link));
    symlinkSync(put(KEY, 0o600), link);
    for (const wrong of [
      put("", 0o600),
      put(KEY.slice(1), 0o600),
      put(`${KEY}\n\n`, 0o600),
      put(KEY.repeat(2), 0o600),
      path,
      link,
    ]) {
      assert.throws(
        () => readKeyFile(wrong),
        (thrown: Error) => "code" in thrown && thrown.code === "CONFIG_INVALID" && !thrown.message.includes(folder),
      );
    }
  });
});

test("a broken link, a link to a folder and a pipe are refused and not replaced", () => {
  const [dangling, toFolder, pipe] = [newPath(), newPath(), newPath()];
  for (const path of [dangling, toFolder, pipe]) mkdirSync(dirname(path));
  symlinkSync(join(folder, "nowhere"), dangling);
  symlinkSync(folder, toFolder);
  assert.equal(spawnSync("mkfifo", ["-m", "600", pipe]).status, 0);
  for (const path of [dangling, toFolder, pipe]) {
    const before = lstatSync(path).mode;
    for (const use of [() => readKeyFile(path), () => createKeyFile(path, randomBytes)]) {
      assert.throws(use, { code: "CONFIG_INVALID", message: /^The key file vault\.key cannot be used/ });
    }
    assert.deepEqual([lstatSync(path).mode, readdirSync(dirname(path))], [before, ["vault.key"]]);
  }
  assert.equal(existsSync(join(folder, "nowhere")), false);
  assert.deepEqual(readKeyFile(put(KEY, 0o600)), BYTES);
});

describe("createKeyFile", () => {
  test("creates a file for its owner only, and nothing beside it", () => {
    const path = newPath();
    const key = createKeyFile(path, randomBytes);
    assert.deepEqual([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777], [0o600, 0o700]);
    assert.deepEqual(readdirSync(dirname(path)), ["vault.key"]);
    assert.equal(readFileSync(path, "utf8"), `${Buffer.from(key).toString("hex")}\n`);
    assert.deepEqual(readKeyFile(path), key);
  });

  test("returns an existing key and overwrites nothing", () => {
    const path = put(KEY, 0o600);
    assert.deepEqual(createKeyFile(path, randomBytes), BYTES);
    assert.equal(readFileSync(path, "utf8"), KEY);
  });

  test("reports a full disk", () => {
    const full = Object.assign(new Error("write"), { code: "ENOSPC" });
    const { code, message, details } = unusable("The key file x.key", full);
    assert.deepEqual([code, message], ["STORE_UNAVAILABLE", "The disk is full: cannot create the key file x.key"]);
    assert.equal(details.hint, "Free some space");
  });

  test("explains what to do when the path cannot be used", () => {
    const path = join(put("x", 0o600), "deeper", "vault.key");
    assert.throws(() => createKeyFile(path, randomBytes), {
      code: "CONFIG_INVALID",
      message: /vault\.key cannot be used \(ENOTDIR\)$/,
    });
  });
});
