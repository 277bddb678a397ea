/** The rule file of decisions: written at once, comments kept, followed by gateways, and whole after a kill. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { GloveboxError } from "../domain/index.ts";
import { parseRules } from "./follow-rules.ts";
import { parseSettings } from "./parse-settings.ts";
import { followRuleFiles, openRuleBook } from "./rule-book.ts";

const rule = (id: string) => ({ id, decision: "allow", tools: ["shop.pay"], when: [{ path: "$", is: { amount: 5 } }] });

function makePlace(context: TestContext, policy: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-rules-"));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const config = { mcpServers: {}, store: { url: "sqlite:glovebox.db" }, policy };
  return { folder, settings: parseSettings(config, { folder }, {}) };
}

test("a rule book writes rules beside the store, once each, and removes them", async (context) => {
  const { folder, settings } = makePlace(context);
  const book = openRuleBook(settings);
  assert.deepEqual([book.path, await book.list()], [join(folder, "rules.json"), []]);
  await Promise.all([book.add(rule("a")), book.add(rule("b")), book.add(rule("a"))]);
  assert.deepEqual(new Set((await book.list()).map(({ id }) => id)), new Set(["a", "b"]));
  assert.deepEqual([await book.remove("a"), await book.remove("a")], [true, false]);
  assert.deepEqual(await book.list(), [rule("b")]);
  assert.ok(!existsSync(join(folder, "rules.json.new")));
});

test("a rule book keeps the comments of policy.file, and refuses a rule that would make it invalid", async (context) => {
  const { folder, settings } = makePlace(context, { file: "own.jsonc", rules: [{ id: "taken", decision: "ask" }] });
  const path = join(folder, "own.jsonc");
  writeFileSync(path, '{\n  // mine\n  "rules": [\n    { "id": "x", "decision": "deny" } // why\n  ]\n}\n');
  const book = openRuleBook(settings);
  await book.add(rule("y"));
  const text = readFileSync(path, "utf8");
  assert.ok(text.includes("// mine") && text.includes("// why"), text);
  assert.deepEqual(
    parseRules(text, path, new Set()).map(({ id }) => id),
    ["x", "y"],
  );
  await assert.rejects(book.add(rule("taken")), { code: "CONFIG_INVALID" });
  assert.equal(readFileSync(path, "utf8"), text);
});

test("a rule book lists and removes rules that were written before policy.file was set", async (context) => {
  const { folder, settings } = makePlace(context);
  await openRuleBook(settings).add(rule("a"));
  writeFileSync(join(folder, "own.json"), JSON.stringify({ rules: [rule("x")] }));
  const book = openRuleBook({ ...settings, policy: { ...settings.policy, file: join(folder, "own.json") } });
  const list = async () => (await book.list()).map(({ id }) => id);
  assert.deepEqual(
    [await book.add(rule("a")), await book.add(rule("b")), await list()],
    [false, true, ["x", "b", "a"]],
  );
  assert.deepEqual([await book.remove("a"), await book.remove("b"), await list()], [true, true, ["x"]]);
  assert.deepEqual(
    [await book.remove("a"), readFileSync(join(folder, "rules.json"), "utf8").includes('"a"')],
    [false, false],
  );
});

test("a rule book says what to do when its file cannot be written, or has no place", async (context) => {
  const { folder, settings } = makePlace(context, { file: "missing/own.json" });
  const refused = (message: string, hint: RegExp) => (thrown: unknown) => {
    assert.ok(thrown instanceof GloveboxError && thrown.code === "CONFIG_INVALID");
    assert.equal(thrown.message, message);
    assert.match(thrown.details.hint ?? "", hint);
    return true;
  };
  const path = join(folder, "missing/own.json");
  await assert.rejects(
    openRuleBook(settings).add(rule("a")),
    refused(`${path} cannot be written (ENOENT)`, /writable, or choose a scope that ends with the session/),
  );
  const memory = parseSettings({ mcpServers: {}, store: { url: "sqlite::memory:" } }, { folder }, {});
  await assert.rejects(
    openRuleBook(memory).add(rule("a")),
    refused("Rules cannot be written: the store is in memory", /policy\.file/),
  );
});

test("a gateway follows policy.file and the rules beside the store, also when they appear and go", async (context) => {
  const { folder, settings } = makePlace(context, { file: "own.json" });
  writeFileSync(join(folder, "own.json"), '{ "rules": [{ "id": "x", "decision": "deny" }] }');
  const file = followRuleFiles(settings) ?? assert.fail();
  const read = async () => (await file.read())?.map(({ id }) => id);
  assert.deepEqual([await read(), await read()], [["x"], undefined]);
  const beside = join(folder, "rules.json");
  writeFileSync(beside, JSON.stringify({ rules: [rule("y"), rule("x")] }));
  assert.deepEqual([await read(), await read()], [["x", "y"], undefined]);
  rmSync(beside);
  assert.deepEqual([await read(), await read()], [["x"], undefined]);
});

test("a draft of a killed process does not block the next writer, and a fresh one does until it is gone", async (context) => {
  const { folder, settings } = makePlace(context);
  const draft = join(folder, "rules.json.new");
  writeFileSync(draft, "half");
  utimesSync(draft, new Date(0), new Date(0));
  await openRuleBook(settings).add(rule("z"));
  writeFileSync(draft, "half");
  const ahead = Date.now() / 1_000 + 86_400; // the clock was set back since
  utimesSync(draft, ahead, ahead);
  await openRuleBook(settings).add(rule("a"));
  writeFileSync(draft, "half");
  const waiting = openRuleBook(settings).add(rule("b"));
  await sleep(150);
  assert.equal((await openRuleBook(settings).list()).length, 2);
  rmSync(draft);
  await waiting;
  assert.equal((await openRuleBook(settings).list()).length, 3);
});

test("kills while a rule is written leave the old or the new file", async (context) => {
  const { folder } = makePlace(context);
  mkdirSync(join(folder, "s"));
  const path = join(folder, "s", "rules.json");
  const script = `
    import { openRuleBook } from ${JSON.stringify(new URL("rule-book.ts", import.meta.url).href)};
    const book = openRuleBook({ policy: { rules: [] }, store: { path: ${JSON.stringify(join(folder, "s", "glovebox.db"))} } });
    process.stdout.write("up");
    for (let n = 0; ; n += 1) {
      await book.add({ id: "r" + (n % 40), decision: "allow", tools: ["shop.pay"], reason: "x".repeat(400) });
      if (n % 40 === 39) for (let m = 0; m < 40; m += 1) await book.remove("r" + m);
    }`;
  for (const ms of [1, 7, 19, 33, 54]) {
    rmSync(`${path}.new`, { force: true });
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((up) => child.stdout.once("data", up));
    await sleep(ms);
    child.kill("SIGKILL");
    await new Promise((ended) => child.once("exit", ended));
    if (existsSync(path)) parseRules(readFileSync(path, "utf8"), path, new Set());
  }
});
