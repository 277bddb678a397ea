/** Values come in from a terminal without being shown, or through a pipe as they are. */

import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import type { Terminal } from "./powers.ts";
import { readSecret } from "./secrets-commands.ts";

function createTerminal(stdin: Terminal["stdin"]): Terminal & { readonly stderr: PassThrough } {
  return {
    stdin,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    cwd: "/",
    platform: "linux",
    start: ["node", "glovebox.js"],
    onInterrupt: () => () => undefined,
  };
}

function pipe(...chunks: readonly (string | Uint8Array)[]): Promise<string> {
  return readSecret(createTerminal(Readable.from(chunks, { objectMode: true })), "Value").then((it) => it.reveal());
}

async function type(keys: string): Promise<{ readonly value: string; readonly shown: string }> {
  const terminal = createTerminal(Object.assign(new PassThrough(), { isTTY: true }));
  const reading = readSecret(terminal, "Value");
  (terminal.stdin as PassThrough).write(keys);
  const value = (await reading).reveal();
  terminal.stderr.end();
  return { value, shown: await text(terminal.stderr) };
}

test("readSecret reads one line from a terminal without echo", async () => {
  assert.deepEqual(await type("s3cret value\r"), { value: "s3cret value", shown: "Value (not shown): \n" });
});

test("readSecret takes piped input whole, without one final line break", async () => {
  assert.equal(await pipe("token\n"), "token");
  assert.equal(await pipe("token\r\n"), "token");
  assert.equal(await pipe("-----BEGIN\nKEY-----\n", "-----END-----\n\n"), "-----BEGIN\nKEY-----\n-----END-----\n");
  assert.equal(await pipe(Buffer.from("🧤").subarray(0, 2), Buffer.from("🧤").subarray(2)), "🧤");
});

test("readSecret refuses empty input and invalid UTF-8 with a remedy", async () => {
  const empty = { code: "REQUEST_INVALID", message: "Standard input is empty" };
  for (const nothing of ["", "\n"]) await assert.rejects(pipe(nothing), empty);
  const message = "Standard input is not valid UTF-8";
  await assert.rejects(pipe(Uint8Array.of(0xff, 0xfe, 0x41)), { code: "REQUEST_INVALID", message });
});
