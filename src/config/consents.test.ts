/** Consent belongs to one real path and one content, and code does not run without it. */

import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { createConsents } from "./consents.ts";
import { loadSettings } from "./index.ts";
import { readConfig } from "./load-settings.ts";

const MODE = 0o777;

async function plant(t: TestContext, name: string, text: string) {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-consent-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, name), text);
  const state = join(folder, "state/glovebox");
  return { folder, state, path: join(folder, name), consents: createConsents(state) };
}

test("consent is given to one content at one real path", async (t) => {
  const { folder, path, consents } = await plant(t, "glovebox.config.json", "{}");
  const config = await readConfig(path);
  assert.equal(consents.isGiven(config), false);
  consents.give(config);
  assert.equal(consents.isGiven(await readConfig(path)), true);
  await symlink(path, join(folder, "link.json"));
  assert.equal(consents.isGiven(await readConfig(join(folder, "link.json"))), true);
  writeFileSync(path, "{ }");
  assert.equal(consents.isGiven(await readConfig(path)), false);
  writeFileSync(path, "{}");
  assert.equal(consents.isGiven(await readConfig(path)), true);
  await rename(path, join(folder, "other.json"));
  assert.equal(consents.isGiven(await readConfig(join(folder, "other.json"))), false);
});

test("only the user can read consents, and none exists before the first is given", async (t) => {
  const { folder, state, path, consents } = await plant(t, "glovebox.config.json", "{}");
  consents.isGiven(await readConfig(path));
  assert.deepEqual(readdirSync(folder), ["glovebox.config.json"]);
  consents.give(await readConfig(path));
  const [file = "", ...others] = readdirSync(join(state, "trusted"));
  assert.deepEqual(others, []);
  assert.deepEqual(
    [state, join(state, "trusted"), join(state, "trusted", file)].map((each) => statSync(each).mode & MODE),
    [0o700, 0o700, 0o600],
  );
});

test("a command that starts something asks once and refuses without an answer", async (t) => {
  const { path, consents } = await plant(t, "glovebox.config.json", '{ "server": { "port": 1 } }');
  const refused = {
    code: "CONFIG_UNTRUSTED",
    message: `${path} was found in a project, is not trusted, and is not used`,
  };
  await assert.rejects(loadSettings(path, {}, { admit: consents.require("project") }), refused);
  await assert.rejects(loadSettings(path, {}, { admit: consents.require("project", async () => false) }), refused);
  const asked = await loadSettings(path, {}, { admit: consents.require("project", async () => true) });
  const again = await loadSettings(path, {}, { admit: consents.require("project") });
  assert.deepEqual([asked.server.port, again.server.port], [1, 1]);
});

test("a command that starts nothing reads data without consent, and runs code only with it", async (t) => {
  const data = await plant(t, "glovebox.config.json", '{ "server": { "port": 1 } }');
  const warnings: string[] = [];
  const warn = ({ message }: Error): void => void warnings.push(message);
  assert.equal(
    (await loadSettings(data.path, {}, { admit: data.consents.withholdCode("project", warn) })).server.port,
    1,
  );
  assert.deepEqual(warnings, []);
  const code = await plant(
    t,
    "glovebox.config.ts",
    "globalThis.hasRun = true; export default { server: { port: 1 } };",
  );
  assert.equal(
    (await loadSettings(code.path, {}, { admit: code.consents.withholdCode("project", warn) })).server.port,
    4747,
  );
  assert.equal("hasRun" in globalThis, false);
  assert.match(warnings.join("\n"), /glovebox\.config\.ts was found in a project, is not trusted, and was not run/);
  code.consents.give(await readConfig(code.path));
  assert.equal(
    (await loadSettings(code.path, {}, { admit: code.consents.withholdCode("project", warn) })).server.port,
    1,
  );
  assert.equal("hasRun" in globalThis, true);
});

test("a configuration in a folder that a server reaches needs consent after every change, however it is named", async (t) => {
  const { folder, path, consents } = await plant(t, "glovebox.config.json", '{ "server": { "port": 1 } }');
  const load = async (from: "argument" | "user"): Promise<number> => {
    const config = await readConfig(path);
    const { server } = await loadSettings(path, {}, { admit: consents.require(from) });
    consents.markReached([folder], config);
    return server.port;
  };
  const refused = {
    code: "CONFIG_UNTRUSTED",
    message: `${path} can be written by a server, is not trusted, and is not used`,
    details: { hint: `Read it, then run \`glovebox trust ${path}\` once` },
  };
  assert.deepEqual([await load("argument"), await load("argument"), await load("user")], [1, 1, 1]);
  writeFileSync(path, '{ "server": { "port": 2 } }'); // names no folder any more
  await assert.rejects(load("argument"), refused);
  await assert.rejects(load("user"), refused);
  consents.give(await readConfig(path));
  assert.equal(await load("argument"), 2);
  writeFileSync(path, '{ "server": { "port": 1 } }');
  assert.equal(await load("argument"), 1);
});

test("a configuration that no server reaches can change between starts that name it", async (t) => {
  const { folder, path, consents } = await plant(t, "glovebox.config.json", '{ "server": { "port": 1 } }');
  for (const port of [1, 2]) {
    writeFileSync(path, JSON.stringify({ server: { port } }));
    const { server } = await loadSettings(path, {}, { admit: consents.require("argument") });
    consents.markReached([join(folder, "docs")], await readConfig(path));
    assert.equal(server.port, port);
  }
  assert.equal(consents.isGiven(await readConfig(path)), false);
});

test("code that a server can write does not run without consent, not even to read its settings", async (t) => {
  const { folder, path, consents } = await plant(t, "other.config.ts", "export default { server: { port: 1 } };");
  const admit = consents.withholdCode("argument", () => undefined);
  const portOf = async (): Promise<number> => (await loadSettings(path, {}, { admit })).server.port;
  consents.markReached([folder], undefined);
  assert.equal(await portOf(), 4747);
  consents.give(await readConfig(path));
  assert.equal(await portOf(), 1);
});

test("settings of a configuration that was not run do not name a former store to move", async (t) => {
  const { path, state, consents } = await plant(t, "glovebox.config.ts", "export default {};");
  const admit = consents.withholdCode("project", () => undefined);
  const formerOf = async () => (await loadSettings(path, {}, { admit, stateFolder: state })).store.former;
  assert.equal(await formerOf(), undefined);
  consents.give(await readConfig(path));
  assert.match((await formerOf()) ?? "", /\.glovebox.glovebox\.db$/);
});
