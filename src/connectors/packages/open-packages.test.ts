/** Packages of npx servers, installed by the real npm from a registry on loopback. */

import assert from "node:assert/strict";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";

import { openRegistry } from "../../../test/fixtures/package-registry.ts";
import { parseConnectorId } from "../../domain/index.ts";
import { comparePackages } from "./lock.ts";
import { openPackages } from "./open-packages.ts";
import type { PackagePowers, PackageRequest } from "./open-packages.ts";

const ID = parseConnectorId("notes");
assert.ok(ID);
const id = ID;
const folder = mkdtempSync(join(tmpdir(), "glovebox-packages-"));
const registry = await openRegistry();
after(async () => {
  await registry[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

const SCRIPT = { scripts: { postinstall: "node -e \"require('fs').writeFileSync('ran', '')\"" } };
const publish = (version: string, text: string): void =>
  registry.publish({
    name: "notes-mcp",
    version,
    files: { "dist/index.js": text },
    manifest: { bin: { "notes-mcp": "dist/index.js" }, ...SCRIPT },
  });

let values: Map<string, string>;
let entries: string[];
let servers: string;
let cache = 0;

beforeEach(() => {
  values = new Map();
  entries = [];
  servers = mkdtempSync(join(folder, "servers-"));
});

let last: Promise<unknown> = Promise.resolve();

function holdLease<Value>(_: string, work: () => Promise<Value>): Promise<Value> {
  const turn = last.then(work);
  last = turn.catch(() => undefined);
  return turn;
}

function open(more: Partial<PackagePowers> = {}) {
  return openPackages({
    folder: servers,
    values: { get: async (key) => values.get(key), set: async (key, value) => void values.set(key, value) },
    holdLease,
    keeper: { keep: () => undefined, release: () => undefined },
    environment: process.env,
    pins: { usual: "first-use", byServer: new Map() },
    record: async ({ action, detail }) =>
      entries.push(`${action} ${JSON.stringify(detail["version"] ?? detail["package"])}`.replaceAll('"', "")),
    now: Date.now,
    ...more,
  });
}

/** Each with its own cache, so that a package comes from the registry. */
function ask(spec: string, scripts = false): PackageRequest {
  cache += 1;
  const env = { npm_config_registry: registry.url, npm_config_cache: join(folder, `cache-${cache}`) };
  return { id, scripts, command: { args: ["-y", spec, "--flag"], env: { ...env, npm_config_fetch_retries: "0" } } };
}

function unreachable(spec: string): PackageRequest {
  const { command, ...rest } = ask(spec);
  return { ...rest, command: { ...command, env: { ...command.env, npm_config_registry: "http://127.0.0.1:1/" } } };
}

describe("the package of a server with npx", () => {
  test("is installed once without its scripts, accepted with version and integrity, and run with Node", async () => {
    publish("1.0.0", "first");
    const { command, args, folder: modules } = await open().locate(ask("notes-mcp"));
    assert.deepEqual([command, args[1]], [process.execPath, "--flag"]);
    assert.equal(readFileSync(args[0] ?? "", "utf8"), "first");
    assert.ok(modules.startsWith(servers));
    assert.ok(!existsSync(join(modules, "notes-mcp", "ran")));
    const pin = await open().find(id);
    assert.deepEqual(
      [pin?.version, pin?.integrity.slice(0, 7), entries],
      ["1.0.0", "sha512-", ["package.pinned 1.0.0"]],
    );

    publish("1.1.0", "second"); // a newer version is not asked for
    const before = registry.requests.length;
    assert.equal(readFileSync((await open().locate(ask("notes-mcp"))).args[0] ?? "", "utf8"), "first");
    assert.equal(registry.requests.length, before);

    await assert.rejects(open().locate(ask("notes-mcp@1.1.0")), {
      code: "UPSTREAM_UNREACHABLE",
      message: /its package changed to notes-mcp@1\.1\.0, and notes-mcp@1\.0\.0 is accepted/,
    });
    assert.equal(entries.at(-1), "package.held notes-mcp@1.1.0");
    assert.ok(await open().locate(ask("notes-mcp@1.0.0"))); // exactly the accepted one

    const staged = await open().stage(ask("notes-mcp@1.1.0"));
    assert.deepEqual(comparePackages(pin?.lock ?? "", staged.lock), [
      { name: "notes-mcp", before: "1.0.0", after: "1.1.0" },
    ]);
    assert.equal((await open().find(id))?.version, "1.0.0"); // not before it is accepted
    await open().accept(id, staged, "operator");
    assert.equal(readFileSync((await open().locate(ask("notes-mcp@1.1.0"))).args[0] ?? "", "utf8"), "second");
    assert.equal(entries.at(-1), "package.approved 1.1.0");
    assert.deepEqual(
      readdirSync(servers).filter((name) => name.startsWith(".")),
      [],
    );
  });

  test("with other content for the accepted version is held back when it has to be fetched again", async () => {
    publish("2.0.0", "honest");
    await open().locate(ask("notes-mcp@2.0.0"));
    rmSync(servers, { recursive: true });
    assert.ok(await open().locate(ask("notes-mcp@2.0.0"))); // the same content is accepted
    rmSync(servers, { recursive: true });
    publish("2.0.0", "evil");
    await assert.rejects(open().locate(ask("notes-mcp@2.0.0")), /other content for an accepted version \(EINTEGRITY\)/);
    assert.ok(!existsSync(servers) || readdirSync(servers).length === 0);
  });

  test("is fetched again if a file was changed, or if a process ended before it was complete", async () => {
    publish("2.1.0", "honest");
    const { args } = await open().locate(ask("notes-mcp@2.1.0"));
    const file = args[0] ?? "";
    const before = registry.requests.length;
    await open().locate(ask("notes-mcp@2.1.0"));
    assert.equal(registry.requests.length, before); // unchanged
    const { atime, mtime } = statSync(file);
    writeFileSync(file, "edited");
    utimesSync(file, atime, mtime); // the same size and time
    assert.equal((await open().locate(ask("notes-mcp@2.1.0"))).args[0], file);
    assert.deepEqual([readFileSync(file, "utf8"), entries.at(-1)], ["honest", "package.damaged notes-mcp@2.1.0"]);
    for (const key of [...values.keys()].filter((one) => one.startsWith("package-files:"))) values.delete(key);
    writeFileSync(file, "half of");
    await open().locate(ask("notes-mcp@2.1.0"));
    assert.equal(readFileSync(file, "utf8"), "honest");
    writeFileSync(file, "edited");
    await assert.rejects(open().locate(unreachable("notes-mcp@2.1.0")), /cannot be fetched \(ECONNREFUSED\)/);
  });

  test("is installed by two gateways at once, and accepted once", async () => {
    publish("2.2.0", "both");
    const located = await Promise.all([open(), open()].map((one) => one.locate(ask("notes-mcp@2.2.0"))));
    assert.deepEqual(
      located.map(({ args }) => readFileSync(args[0] ?? "", "utf8")),
      ["both", "both"],
    );
    assert.deepEqual([readdirSync(servers).length, entries], [1, ["package.pinned 2.2.0"]]);
  });

  test("is removed an hour after another version was accepted", async () => {
    publish("2.3.0", "old");
    const { folder: old } = await open().locate(ask("notes-mcp"));
    publish("2.4.0", "new");
    await open().accept(id, await open().stage(ask("notes-mcp")), "operator");
    await open().locate(ask("notes-mcp"));
    assert.ok(existsSync(old)); // a gateway may still run it
    const later = Date.now() + 2 * 3_600_000;
    const { args } = await open({ now: () => later }).locate(ask("notes-mcp"));
    assert.deepEqual([existsSync(old), readFileSync(args[0] ?? "", "utf8")], [false, "new"]);
  });

  test("that needs a package from git runs nothing of that repository", async () => {
    const [bin, ran] = [mkdtempSync(join(folder, "bin-")), join(folder, "git-ran")];
    writeFileSync(join(bin, "git"), `#!/bin/sh\ntouch '${ran}'\nexit 1\n`, { mode: 0o755 });
    const environment = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
    const dependencies = { "from-git": `git+file://${folder}/repository` };
    registry.publish({ name: "git-mcp", version: "1.0.0", files: { "index.js": "" }, manifest: { dependencies } });
    await assert.rejects(
      open({ environment }).locate(ask("git-mcp")),
      /git-mcp needs one from git, .* \(EALLOWGIT\)|cannot be fetched/, // an older npm has no code of its own
    );
    assert.ok(!existsSync(ran));
  });

  test("runs install scripts only where they are allowed", async () => {
    publish("3.0.0", "third");
    const { folder: modules } = await open().locate(ask("notes-mcp", true));
    assert.ok(existsSync(join(modules, "notes-mcp", "ran")));
  });

  test("waits for an operator with pin approve", async () => {
    await assert.rejects(
      open({ pins: { usual: "approve", byServer: new Map() } }).locate(ask("notes-mcp")),
      /waits for approval/,
    );
    assert.equal(values.size, 0);
  });

  test("that cannot be fetched fails with the command to run, and so does one without npm", async () => {
    await assert.rejects(open().locate(ask("no-such-mcp")), (thrown: Error & { details: { hint: string } }) => {
      assert.match(thrown.message, /its package no-such-mcp is not installed and cannot be fetched \(E404\)/);
      assert.match(thrown.details.hint, /then run glovebox servers update notes$/);
      return true;
    });
    await assert.rejects(
      open({ environment: { PATH: folder } }).locate(ask("notes-mcp")),
      /cannot be fetched \(ENOENT\)/,
    );
    await assert.rejects(open({ folder: undefined }).locate(ask("notes-mcp")), /store in memory/);
  });
});
