/** What programs return, log, keep, throw and pass to tools is in no file of Glovebox in clear. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";

import { connect } from "../../fixtures/mcp-client.ts";
import { EVERYTHING, makeUntypedFolder, runGlovebox, serveFor } from "../../fixtures/product.ts";
import { readFiles } from "../../fixtures/read-files.ts";
import { at, textAt } from "../../old-store/open-copy.ts";

/** Put together by the program, so that its source does not contain it. */
const MARKER = "quince-marmalade-5081";
const MADE = 'const made = ["quince", "marmalade", "5081"].join("-");';
const PROGRAM = `// a note in the source
${MADE}
console.log("logged " + made);
const { content } = await everything.echo({ message: made });
return { made, content };`;
const LARGE = `${MADE}\nreturn { [made]: 1, items: Array.from({ length: 3000 }, (_, n) => made + n) };`;
const THROWING = `${MADE}\nconsole.warn(made);\nthrow new Error("broken " + made);`;
const ASKING = `${MADE}\nconsole.log(made);\nreturn await everything.getSum({ a: 5081, b: made.length });`;

const CONFIG = {
  mcpServers: { everything: EVERYTHING },
  store: { url: "sqlite:./state/glovebox.db" },
  sandbox: { limits: { outputBytes: 20_000 } },
  approvals: { graceMs: 0 },
  policy: { rules: [{ id: "ask-sums", tools: ["everything.getSum"], decision: "ask", reason: "sums" }] },
};

/** The files below a folder that contain the text. */
function findText(folder: string, text: string): readonly string[] {
  return [...readFiles(folder)].flatMap(([file, bytes]) => (bytes.includes(text) ? [file] : [])).toSorted();
}

async function openSealed(context: TestContext) {
  const folder = makeUntypedFolder(context, CONFIG);
  const state = join(folder, "state");
  const ask = (...args: readonly string[]) => runGlovebox(args, { folder });
  const read = async (...args: readonly string[]): Promise<unknown> => {
    const { stdout, stderr } = await ask(...args, "--json");
    return stdout === "" ? assert.fail(stderr) : JSON.parse(stdout);
  };
  const run = async (input: string): Promise<unknown> =>
    JSON.parse((await runGlovebox(["run", "-", "--json"], { folder, input })).stdout);
  const search = async (text: string): Promise<readonly unknown[]> => {
    const lines = at(await read("executions", "--search", text), "executions");
    return Array.isArray(lines) ? lines.map((line: unknown) => at(line, "id")) : assert.fail("It prints no list");
  };
  return { folder, state, ask, read, run, search };
}

test("no file of a running gateway contains what programs return, log, keep, throw or pass to tools", async (context) => {
  const { folder, state, read } = await openSealed(context);
  const { mcp } = await serveFor(context, folder);
  const client = await connect(context, mcp, { era: "2025-11-25", mode: "legacy" });
  const execute = async (code: string, more: Readonly<Record<string, unknown>> = {}): Promise<unknown> =>
    (await client.callTool({ name: "execute", arguments: { code, ...more } })).structuredContent;

  const first = await execute(PROGRAM, { idempotencyKey: "once", input: { given: MARKER } });
  assert.equal(at(first, "value", "made"), MARKER);
  const large = await execute(LARGE);
  const kept = textAt(large, "truncated", "handle");
  assert.match(textAt(await execute(THROWING), "error", "message"), new RegExp(MARKER));
  const asked = await execute(ASKING);
  assert.equal(at(asked, "state"), "paused");

  assert.deepEqual(findText(state, "a note in the source").length > 0, true, "what is in clear is found");
  assert.deepEqual(findText(state, MARKER), []);

  const page = await execute(`return await glovebox.results.read("${kept}", { path: "items[7]" })`);
  assert.equal(at(page, "value"), `${MARKER}7`, JSON.stringify(page));
  assert.deepEqual(await execute(PROGRAM, { idempotencyKey: "once", input: { given: MARKER } }), first);
  const view = (await client.callTool({ name: "resume", arguments: { execution: textAt(first, "execution") } }))
    .structuredContent;
  assert.equal(at(view, "value", "made"), MARKER);
  assert.equal((await runGlovebox(["approve", textAt(asked, "approvals", 0), "--yes"], { folder })).code, 0);
  const shown = await read("executions", "show", textAt(first, "execution"));
  assert.deepEqual([at(shown, "result", "value", "made"), at(shown, "sealed")], [MARKER, undefined]);
  assert.equal(at(shown, "result", "logs", 0, "text"), `logged ${MARKER}`);
});

test("executions are found by source, tool and error code, and not by values", async (context) => {
  const { state, run, search } = await openSealed(context);
  const first = textAt(await run(PROGRAM), "execution");
  const second = textAt(await run(THROWING), "execution");
  assert.deepEqual(findText(state, MARKER), []);
  assert.deepEqual(await search("A NOTE in"), [first]);
  assert.deepEqual(await search("everything.echo"), [first]);
  assert.deepEqual(await search("program_threw"), [second]);
  assert.deepEqual(await search("marmalade"), [second, first], "a word of both sources");
  assert.deepEqual(await search(MARKER), []);
  assert.deepEqual(await search("%"), [], "the text is not a pattern");
});

test("an execution is exported and replayed with its sealed result", async (context) => {
  const { ask, run, folder } = await openSealed(context);
  const result = await run(PROGRAM);
  const { stdout } = await ask("executions", "replay", textAt(result, "execution"), "--json");
  assert.deepEqual([at(JSON.parse(stdout), "same"), at(JSON.parse(stdout), "result", "value", "made")], [true, MARKER]);
  const exported = await ask("executions", "export", textAt(result, "execution"), "kept.json");
  assert.equal(exported.code, 0, exported.stderr);
  assert.match(readFileSync(join(folder, "kept.json"), "utf8"), new RegExp(MARKER));
});

test("without its key an execution is shown except for what is sealed, with the remedy", async (context) => {
  const { state, ask, read, run } = await openSealed(context);
  const id = textAt(await run(PROGRAM), "execution");
  const key = join(state, "glovebox.key");
  renameSync(key, `${key}.away`);

  const shown = await ask("executions", "show", id);
  assert.equal(shown.code, 2);
  assert.match(shown.stdout, /a note in the source/);
  assert.match(shown.stdout, /1 everything\.echo, \w+, allow: ok/);
  assert.match(shown.stdout, /key file.* is missing \[CONFIG_INVALID\]\n {2}hint: .*Restore the key file/);
  assert.ok(!shown.stdout.includes(MARKER));
  assert.equal((await ask("executions")).code, 0);
  assert.ok(!readdirSync(state).includes("glovebox.key"), "no key is created");

  writeFileSync(key, `${"0123456789abcdef".repeat(4).replace("01", "97")}\n`, { mode: 0o600 });
  const wrong = await read("executions", "show", id);
  assert.deepEqual([at(wrong, "sealed", "code"), at(wrong, "state")], ["CONFIG_INVALID", "completed"]);
  const exported = await ask("executions", "export", id);
  assert.deepEqual([exported.code, exported.stdout], [2, ""]);
  assert.match(exported.stderr, /CONFIG_INVALID/);

  renameSync(`${key}.away`, key);
  assert.equal(at(await read("executions", "show", id), "result", "value", "made"), MARKER);
});
