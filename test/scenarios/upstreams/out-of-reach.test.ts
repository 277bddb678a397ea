/** Real file servers and the files of Glovebox: its store, its keys and the configuration that it runs. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";

import { findStore, makeFolder, makeUntypedFolder, probe, runGlovebox } from "../../fixtures/product.ts";
import type { CommandResult } from "../../fixtures/product.ts";

const SERVER = resolve("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const FORMER = { store: { url: "sqlite:./.glovebox/glovebox.db" } };

function fileServer(...folders: readonly string[]): object {
  return { command: process.execPath, args: [SERVER, ...folders] };
}

/** A project with a file server on `given` and another server. */
function makeProject(context: TestContext, given: string, config: object = {}): string {
  const folder = makeUntypedFolder(context, { mcpServers: { files: fileServer(given), probe: probe() }, ...config });
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs/page.md"), "a page");
  return folder;
}

function run(folder: string, code: string, ...flags: readonly string[]): Promise<CommandResult> {
  return runGlovebox(["run", "-", ...flags], { folder, input: code });
}

const PROBE = "await probe.about({});";
const readKey = (folder: string): string =>
  `${PROBE} return await files.readTextFile({ path: ${JSON.stringify(join(folder, ".glovebox/glovebox.key"))} });`;

describe("a file server and the store", { concurrency: 2 }, () => {
  test("a server on the folder of the store is not started, and another server is", async (context) => {
    const folder = makeProject(context, ".", FORMER);
    const other = await run(folder, `${PROBE} return 1`);
    assert.deepEqual([other.code, other.stdout], [0, "1\n"], other.stderr);
    const key = readFileSync(join(folder, ".glovebox/ledger.key"), "utf8").trim();
    const stolen = await run(folder, readKey(folder));
    assert.equal(stolen.code, 1);
    assert.equal((stolen.stdout + stolen.stderr).includes(key), false);
    const { stdout } = await runGlovebox(["servers", "--json"], { folder });
    const { servers } = JSON.parse(stdout) as {
      servers: { name: string; state: string; cause?: string; hint?: string }[];
    };
    const files = servers.find(({ name }) => name === "files");
    assert.deepEqual(
      [files?.state, files?.cause],
      ["failed", "it was not started, because its args[1] reaches the store of Glovebox and its keys"],
    );
    assert.match(files?.hint ?? "", /change mcpServers\.files\.args\[1\] .* or remove store\.url/);
    assert.equal(servers.find(({ name }) => name === "probe")?.state, "ready");
  });

  test("a server on a subfolder starts beside a store in the project", async (context) => {
    const folder = makeProject(context, "./docs", FORMER);
    const read = `return await files.readTextFile({ path: ${JSON.stringify(join(folder, "docs/page.md"))} });`;
    const { code, stdout, stderr } = await run(folder, read);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /a page/);
  });

  test("a server on a link to the folder of the store is not started", async (context) => {
    const folder = makeProject(context, "docs/link", FORMER);
    assert.equal((await run(folder, "return 1")).code, 0); // creates the store
    symlinkSync(join(folder, ".glovebox"), join(folder, "docs/link"));
    const { code, stdout } = await runGlovebox(["servers"], { folder });
    assert.equal(code, 1);
    assert.match(stdout, /^files: failed[^]*its args\[1\] reaches the store of Glovebox and its keys/m);
  });

  test("a server on the project starts with the default store, which is private and elsewhere", async (context) => {
    const folder = makeProject(context, ".");
    const read = `return await files.readTextFile({ path: ${JSON.stringify(join(folder, "docs/page.md"))} });`;
    const { code, stdout, stderr } = await run(folder, read);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /a page/);
    const store = findStore(folder);
    assert.deepEqual([existsSync(store), existsSync(join(folder, ".glovebox"))], [true, false]);
    assert.deepEqual(
      [dirname(store), store, join(dirname(store), "ledger.key")].map((path) => statSync(path).mode & 0o777),
      [0o700, 0o600, 0o600],
    );
    const doctor = await runGlovebox(["doctor"], { folder });
    assert.ok(doctor.stdout.includes(`store: ${store}`), doctor.stdout);
  });

  test("a store in the project is moved out at the next start without store.url, and the move is printed", async (context) => {
    const folder = makeProject(context, ".", FORMER);
    assert.equal((await run(folder, "return 1")).code, 0);
    const key = readFileSync(join(folder, ".glovebox/ledger.key"));
    writeFileSync(
      join(folder, "glovebox.config.json"),
      JSON.stringify({ mcpServers: { files: fileServer("."), probe: probe() } }),
    );
    const moved = await run(folder, readKey(folder));
    const [from, to] = [join(folder, ".glovebox"), dirname(findStore(folder))];
    assert.ok(moved.stderr.includes(`The store and its keys were moved from ${from} to ${to}`), moved.stderr);
    assert.deepEqual([moved.code, existsSync(from)], [1, false]);
    assert.deepEqual(readFileSync(join(to, "ledger.key")), key);
    const again = await runGlovebox(["executions"], { folder });
    assert.equal(again.stderr, "");
    assert.equal(again.stdout.trim().split("\n").length, 2, again.stdout);
    assert.match((await runGlovebox(["audit", "verify"], { folder })).stdout, /all intact/);
  });
});

describe("a configuration that a server can write", { concurrency: 2 }, () => {
  for (const named of [true, false]) {
    const how = named ? "that --config names" : "that is found";
    test(`a change by a server of a configuration ${how} takes effect only after consent`, async (context) => {
      const folder = makeProject(context, ".", { policy: { profile: "open" } });
      const path = join(folder, "glovebox.config.json");
      const state = makeFolder(context);
      const flags = named ? ["--config", path] : [];
      const start = (...args: readonly string[]): Promise<CommandResult> =>
        runGlovebox(args, { folder, input, environment: { XDG_STATE_HOME: state } });
      const mark = join(folder, "mark");
      const hostile = JSON.stringify({ mcpServers: { marker: { command: "touch", args: [mark] } } });
      let input = `await files.writeFile(${JSON.stringify({ path, content: hostile })});`;
      if (!named) assert.equal((await start("trust", path)).code, 0);
      const written = await start("run", "-", ...flags);
      assert.equal(written.code, 0, written.stderr);
      assert.equal(readFileSync(path, "utf8"), hostile);

      input = "return 1";
      for (const command of [["run", "-"], ["servers"], ["doctor"]]) {
        const refused = await start(...command, ...flags);
        assert.deepEqual([refused.code, refused.stdout], [2, ""], refused.stderr);
        assert.match(refused.stderr, /is not trusted, and is not used \[CONFIG_UNTRUSTED\]/);
        assert.ok(refused.stderr.includes(`run \`glovebox trust ${path}\` once\n`), refused.stderr);
      }
      assert.equal(existsSync(mark), false);
      assert.equal((await start("trust", path)).code, 0);
      const ran = await start("run", "-", ...flags);
      assert.deepEqual([ran.code, existsSync(mark)], [0, true], ran.stderr);
    });
  }

  test("a configuration outside of the server's folder can change between starts with --config", async (context) => {
    const folder = makeProject(context, "./docs");
    const path = join(folder, "glovebox.config.json");
    const environment = { XDG_STATE_HOME: makeFolder(context) };
    for (const port of [1, 2]) {
      writeFileSync(path, JSON.stringify({ mcpServers: { files: fileServer("./docs") }, server: { port } }));
      const { code, stderr } = await runGlovebox(["tools", "--config", path], { folder, environment });
      assert.equal(code, 0, stderr);
    }
  });
});
