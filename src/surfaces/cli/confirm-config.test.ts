/** Consent at a terminal: everything is shown, and only a clear yes counts. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { digestOf } from "../../text/index.ts";
import { createConfirm } from "./confirm-config.ts";

function createTerminal(isInput: boolean, isOutput: boolean) {
  return {
    stdin: Object.assign(new PassThrough(), { isTTY: isInput }),
    stdout: new PassThrough(),
    stderr: Object.assign(new PassThrough(), { isTTY: isOutput }),
    cwd: "/",
    platform: "linux" as const,
    start: ["node", "glovebox.js"] as const,
    onInterrupt: () => () => undefined,
  };
}

async function ask(written: string, answer: string): Promise<{ readonly isGiven: boolean; readonly shown: string }> {
  const terminal = createTerminal(true, true);
  const confirm = createConfirm(terminal);
  assert.ok(confirm);
  const path = "/p/glovebox.config.json";
  const asked = confirm({ path, realPath: path, text: written, digest: digestOf(written), isCode: false });
  terminal.stdin.end(answer);
  const isGiven = await asked;
  terminal.stderr.end();
  return { isGiven, shown: await text(terminal.stderr) };
}

test("createConfirm takes yes as consent and everything else as refusal", async () => {
  for (const answer of ["y\n", "Yes\n"]) assert.equal((await ask("{}", answer)).isGiven, true);
  for (const answer of ["\n", "n\n", "yess\n", ""]) assert.equal((await ask("{}", answer)).isGiven, false);
});

test("createConfirm shows the file and all of a long command, with terminal controls escaped", async () => {
  const long = "x".repeat(100_000);
  const { shown } = await ask(
    JSON.stringify({ mcpServers: { a: { command: "sh", args: [long, "\u001b[2K\u202e"] } } }),
    "n\n",
  );
  assert.ok(shown.startsWith("/p/glovebox.config.json was found in a project and has:\n"));
  assert.ok(shown.includes(`"sh" "${long}" "\\u001b[2K\\u202e"`));
});

test("createConfirm says that an empty configuration changes no setting", async () => {
  const { shown } = await ask("{}", "n\n");
  const [first] = shown.split("\n");
  assert.equal(first, "/p/glovebox.config.json was found in a project and is empty: it changes no setting.");
});

test("createConfirm does not ask without a terminal for both the question and the answer", () => {
  assert.equal(createConfirm(createTerminal(false, true)), undefined);
  assert.equal(createConfirm(createTerminal(true, false)), undefined);
});
