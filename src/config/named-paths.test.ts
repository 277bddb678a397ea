/** Which servers reach the store, its keys, rules and consents: real folders, links and arguments of every form. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { parseConnectorId } from "../domain/index.ts";
import { createReachCheck, parseSettings } from "./index.ts";
import { listReachedFolders } from "./named-paths.ts";

/** A project beside a state folder. Each function returns what `server` reaches, or `nothing`. */
function plan(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-reach-")));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const [project, state] = [join(root, "home/project"), join(root, "home/state/glovebox")];
  for (const folder of ["docs", ".glovebox/skills", "lib"]) mkdirSync(join(project, folder), { recursive: true });
  mkdirSync(state, { recursive: true });
  const parse = (server: object, config: object = {}) =>
    parseSettings(
      { mcpServers: { files: { command: "files", ...server } }, ...config },
      { folder: project, state: { folder: state } },
      {},
    );
  const reach = (server: object, config: object = {}): string => {
    const settings = parse(server, config);
    const id = parseConnectorId("files");
    const [found] = settings.upstreams.values();
    assert.ok(id && found);
    try {
      createReachCheck(settings, { HOME: join(root, "home") })(id, found);
      return "nothing";
    } catch (error) {
      assert.ok(error instanceof Error && "code" in error && error.code === "CONFIG_INVALID", String(error));
      return error.message.replace("files: it was not started, because its ", "");
    }
  };
  return { root, project, state, parse, reach };
}

const STATE = "reaches the folder with the stores, keys and consents of Glovebox";
const STORE = "reaches the store of Glovebox and its keys";
const NAMED = { store: { url: "sqlite:./.glovebox/glovebox.db" } };

test("a server on the project reaches a store in it, and one on a subfolder does not", (t) => {
  const { reach, project } = plan(t);
  for (const arg of [".", project, "docs/..", ".glovebox", ".glovebox/skills", "~/project"])
    assert.equal(reach({ args: ["-y", arg] }, NAMED), `args[1] ${STORE}`, arg);
  for (const arg of ["docs", join(project, "docs"), "missing", "", "-y"])
    assert.equal(reach({ args: ["-y", arg] }, NAMED), "nothing", arg);
});

test("the default store is out of reach of a server on the project, and not of one on the home folder", (t) => {
  const { reach, root, state } = plan(t);
  assert.equal(reach({ args: ["."] }), "nothing");
  for (const arg of ["~", "~/", "..", "/", root, state, join(root, "home/state")])
    assert.equal(reach({ args: [arg] }), `args[0] ${STATE}`, arg);
});

test("cwd and files are folders of a server if they are set", (t) => {
  const { reach } = plan(t);
  assert.equal(reach({}, NAMED), "nothing");
  assert.equal(reach({ cwd: "." }, NAMED), `cwd ${STORE}`);
  assert.equal(reach({ cwd: "docs" }, NAMED), "nothing");
  assert.equal(reach({ files: { read: ["docs", "."] } }, NAMED), `files.read ${STORE}`);
  assert.equal(reach({ files: { write: ["docs", "."] } }, NAMED), `files.write ${STORE}`);
  assert.equal(reach({ files: { read: ["docs"], write: ["lib"] } }, NAMED), "nothing");
  assert.equal(reach({ cwd: "docs", args: ["."] }, NAMED), "nothing");
  assert.equal(reach({ cwd: "docs", args: [".."] }, NAMED), `args[0] ${STORE}`);
});

test("a folder inside an argument counts, in the forms that servers and containers use", (t) => {
  const { reach, project } = plan(t);
  const forms = [`--root=${project}`, `${project}:/data`, `type=bind,src=${project},dst=/data`, `file://${project}`];
  for (const arg of forms) {
    assert.equal(reach({ args: [arg] }, NAMED), `args[0] ${STORE}`, arg);
    assert.equal(reach({ args: [arg.replace(project, join(project, "docs"))] }, NAMED), "nothing", arg);
  }
});

test("links to the store, to its folder and from it are seen through", (t) => {
  const { reach, root, project } = plan(t);
  symlinkSync(project, join(root, "link"));
  symlinkSync(join(project, ".glovebox"), join(project, "docs/inner"));
  symlinkSync(join(project, "docs"), join(root, "safe"));
  for (const arg of [join(root, "link"), "docs/inner", "docs/inner/skills"])
    assert.equal(reach({ args: [arg] }, NAMED), `args[0] ${STORE}`, arg);
  assert.equal(reach({ args: [join(root, "safe")] }, NAMED), "nothing");
  mkdirSync(join(root, "vault"));
  symlinkSync(join(root, "vault"), join(project, "linked"));
  const linked = { store: { url: "sqlite:./linked/glovebox.db" } };
  assert.equal(reach({ args: [join(root, "vault")] }, linked), `args[0] ${STORE}`);
  mkdirSync(join(root, "data"));
  writeFileSync(join(root, "data/real.db"), "");
  symlinkSync(join(root, "data/real.db"), join(root, "vault/glovebox.db"));
  assert.equal(reach({ args: [join(root, "data")] }, linked), `args[0] ${STORE}`);
});

test("a store beside the configuration guards its own files only", (t) => {
  const { reach, project } = plan(t);
  const beside = { store: { url: "sqlite:./glovebox.db" } };
  writeFileSync(join(project, "server.mjs"), "");
  for (const name of ["glovebox.db", "glovebox.db-wal", "glovebox.key", "ledger.key", "glovebox.db.head"])
    writeFileSync(join(project, name), "");
  for (const arg of [".", "glovebox.db", "--db=glovebox.db", "glovebox.db-wal", "glovebox.key", "ledger.key"])
    assert.equal(reach({ args: [arg] }, beside), `args[0] ${STORE}`, arg);
  for (const arg of ["docs", "server.mjs"]) assert.equal(reach({ args: [arg] }, beside), "nothing", arg);
});

test("a server does not reach the rule file", (t) => {
  const { reach, project } = plan(t);
  writeFileSync(join(project, "lib/rules.json"), '{ "rules": [] }');
  const policy = { policy: { file: "lib/rules.json" } };
  for (const arg of [".", "lib", "lib/rules.json"])
    assert.equal(reach({ args: [arg] }, policy), "args[0] reaches the rules of policy.file", arg);
  assert.equal(reach({ args: ["docs"] }, policy), "nothing");
});

test("a store in memory is out of reach, and a server with a url reaches nothing", (t) => {
  const { reach, state } = plan(t);
  const memory = { store: { url: "sqlite::memory:" } };
  assert.equal(reach({ args: ["."] }, memory), "nothing");
  assert.equal(reach({ args: [state] }, memory), `args[0] ${STATE}`);
  const remote = { mcpServers: { files: { url: "https://example.com" } } };
  assert.equal(reach({}, { ...NAMED, ...remote }), "nothing");
});

test("the folders of all servers are listed by their real paths, without those that do not start", (t) => {
  const { parse, project, root } = plan(t);
  symlinkSync(join(project, "docs"), join(root, "link"));
  writeFileSync(join(project, "server.mjs"), "");
  const server = { args: [join(root, "link"), "server.mjs", "missing"], files: { read: ["lib", "docs"] } };
  assert.deepEqual(listReachedFolders(parse(server), {}), [join(project, "lib"), join(project, "docs")]);
  assert.deepEqual(listReachedFolders(parse({ args: ["docs", "/"] }), {}), []);
});
