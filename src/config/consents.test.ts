/** Consent belongs to one real path and one content, and code does not run without it. */

import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { createConsents, loadSettings } from "./index.ts";
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
  await assert.rejects(loadSettings(path, {}, consents.require()), refused);
  await assert.rejects(
    loadSettings(
      path,
      {},
      consents.require(async () => false),
    ),
    refused,
  );
  const asked = await loadSettings(
    path,
    {},
    consents.require(async () => true),
  );
  const again = await loadSettings(path, {}, consents.require());
  assert.deepEqual([asked.server.port, again.server.port], [1, 1]);
});

test("a command that starts nothing reads data without consent, and runs code only with it", async (t) => {
  const data = await plant(t, "glovebox.config.json", '{ "server": { "port": 1 } }');
  const warnings: string[] = [];
  const warn = ({ message }: Error): void => void warnings.push(message);
  assert.equal((await loadSettings(data.path, {}, data.consents.withholdCode(warn))).server.port, 1);
  assert.deepEqual(warnings, []);
  const code = await plant(
    t,
    "glovebox.config.ts",
    "globalThis.hasRun = true; export default { server: { port: 1 } };",
  );
  assert.equal((await loadSettings(code.path, {}, code.consents.withholdCode(warn))).server.port, 4747);
  assert.equal("hasRun" in globalThis, false);
  assert.match(warnings.join("\n"), /glovebox\.config\.ts was found in a project, is not trusted, and was not run/);
  code.consents.give(await readConfig(code.path));
  assert.equal((await loadSettings(code.path, {}, code.consents.withholdCode(warn))).server.port, 1);
  assert.equal("hasRun" in globalThis, true);
});
