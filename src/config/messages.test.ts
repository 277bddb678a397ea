/** What a person reads when a configuration is wrong: the place, the key, what was expected, what is there. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { GloveboxError } from "../domain/index.ts";
import { parseSettings } from "./index.ts";
import { parseJsonc } from "./read/parse-jsonc.ts";

const PATH = "/srv/app/glovebox.config.json";

function refuse(text: string, environment: Readonly<Record<string, string>> = {}): GloveboxError {
  try {
    parseSettings(parseJsonc(text, PATH), { folder: "/srv/app", path: PATH, text }, environment);
  } catch (error) {
    assert.ok(error instanceof GloveboxError);
    return error;
  }
  throw new assert.AssertionError({ message: "the configuration was accepted" });
}

function lines(text: string, environment?: Readonly<Record<string, string>>): string[] {
  return refuse(text, environment).message.split("\n");
}

test("all problems come in one error, in the order of the file, with line and column", () => {
  const text = `{
  // a comment
  "sandbox": {
    "limits": { "wallMs": "30s", "memoryBytes": 1 },
    "isolation": "none",
    "concurency": 3
  },
  "mcpServers": { "my server": { "command": "\${NOPE}" }, "x": {} },
  "policy": { "rules": [{ "tools": ["git*"] }] },
  "server": { "host": "0.0.0.0", "port": 65536 },
}`;
  const error = refuse(text);
  assert.equal(error.code, "CONFIG_INVALID");
  assert.deepEqual(error.details, {
    hint: "Correct the configuration and start again; glovebox.schema.json describes every key",
    line: 4,
    column: 27,
  });
  assert.deepEqual(error.message.split("\n"), [
    `${PATH}:4:27 sandbox.limits.wallMs: expected a whole number from 1 to 3600000; found "30s"`,
    `${PATH}:4:49 sandbox.limits.memoryBytes: expected a whole number from 8388608 to 4294967296; found 1`,
    `${PATH}:5:18 sandbox.isolation: expected one of "auto", "strict", "process"; found "none"`,
    `${PATH}:6:5 sandbox.concurency: unknown key; did you mean "concurrency"?`,
    `${PATH}:8:45 mcpServers["my server"].command: the environment variable NOPE is not set; ` +
      "set it, or write ${NOPE:-default}",
    `${PATH}:8:58 mcpServers.x: expected command (a server that Glovebox starts) or url (a server that is reached over HTTP)`,
    `${PATH}:9:25 policy.rules[0].decision: expected one of "allow", "ask", "deny"; found nothing`,
    `${PATH}:9:37 policy.rules[0].tools[0]: expected "*", "namespace.*" or "namespace.tool"; ` +
      'nothing else is a pattern; found "git*"',
    `${PATH}:10:23 server.host: expected a loopback host (127.0.0.1, ::1 or localhost): ` +
      'there is no remote mode yet; come in through a tunnel; found "0.0.0.0"',
    `${PATH}:10:42 server.port: expected a whole number from 0 to 65535; found 65536`,
  ]);
});

test("an unknown key names the nearest one of its own object, or all of them", () => {
  assert.deepEqual(
    lines('{ "mcpservers": {}, "sandbox": { "wallMs": 1 }, "analysis": { "rules": { "no-evil": "off" } } }'),
    [
      `${PATH}:1:3 mcpservers: unknown key; did you mean "mcpServers"?`,
      `${PATH}:1:34 sandbox.wallMs: unknown key; known keys here: engine, isolation, concurrency, queue, limits, networkPolicy, secrets`,
      `${PATH}:1:74 analysis.rules.no-evil: unknown key; did you mean "no-eval"?`,
    ],
  );
  assert.deepEqual(lines('{ "webhooks": {} }'), [
    `${PATH}:1:3 webhooks: unknown key; known keys here: $schema, mcpServers, pin, openapi, adapters, sandbox, egress, analysis, policy, quotas, catalog, audit, ledger, metrics, traces, anomalies, store, expose, clients, output, results, approvals, journal, server`,
  ]);
});

test("keys that are promised for later are unknown today", () => {
  assert.equal(lines('{ "webhooks": {} }').length, 1);
});

function unknownKeys(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1])));
}

test("twenty problems are listed and the rest is counted", () => {
  assert.equal(lines(unknownKeys(19)).length, 19);
  assert.equal(lines(unknownKeys(20)).length, 20);
  assert.deepEqual(lines(unknownKeys(21)).slice(20), ["… and 1 more"]);
  assert.deepEqual(lines(unknownKeys(10_000)).slice(20), ["… and 9980 more"]);
});

test("without a text the messages have the path only", () => {
  assert.throws(() => parseSettings({ server: 1 }, { folder: "/", path: "/glovebox.config.ts" }, {}), {
    message: "/glovebox.config.ts server: expected an object; found 1",
  });
});

test("what stands where a secret could stand is never shown", () => {
  const canary = "hunter2-canary";
  const text = JSON.stringify({
    mcpServers: {
      a: { command: 0, args: [canary, 1], env: { A: 12345678, B: [canary] }, url: `https://u:${canary}@h/` },
      b: { url: `ftp://${canary}` },
      c: { url: "https://h/", headers: { Authorization: `x\n${canary}`, B: `\${${canary} \${` } },
      d: canary,
    },
    store: { url: `postgres://u:${canary}@h/db` },
  });
  const { message } = refuse(text);
  assert.equal(message.includes(canary), false, message);
  assert.equal(message.includes("12345678"), false, message);
  assert.equal(message.split("\n").length, 10);
});

test("a variable is shown as it was written, never by its value", () => {
  const text = '{ "server": { "host": "${HOST}" }, "policy": { "profile": "${P}" } }';
  const { message } = refuse(text, { HOST: "canary.example.com", P: "canary" });
  assert.equal(message.includes("canary"), false, message);
  assert.match(message, /found "\$\{HOST\}"/);
});

test("a key cannot send commands to the terminal", () => {
  const [line] = lines(JSON.stringify({ "a\u001b[31m\u202e\u009b": 1 }));
  assert.equal(line?.startsWith(`${PATH}:1:2 ["a\\u001b[31m\\u202e\\u009b"]: unknown key`), true, line);
});

function onlyWith(key: string, needed: string): string {
  return `${key}: has an effect only together with ${needed}`;
}

test("keys that do not belong to the transport are refused, since nobody would read them", () => {
  const text = JSON.stringify({
    mcpServers: {
      a: { command: "a", headers: {} },
      b: { url: "https://h/", args: [], env: {}, cwd: "." },
      c: { command: "a", url: "https://h/" },
      d: { command: "a", type: "http" },
      e: { url: "https://h/", type: "stdio" },
    },
  });
  const found = lines(text).map((line) => line.replace(/^\S+ mcpServers\./, ""));
  assert.deepEqual(found, [
    onlyWith("a.headers", "url"),
    onlyWith("b.args", "command"),
    onlyWith("b.env", "command"),
    onlyWith("b.cwd", "command"),
    "c.url: has command too; keep one of the two",
    'd.type: "http" needs url, but command is given; leave type out',
    'e.type: "stdio" needs command, but url is given; leave type out',
  ]);
});

test("names and values that would break a header or an environment are refused", () => {
  const text = JSON.stringify({
    mcpServers: {
      a: { url: "https://h/", headers: { "A B": "x", Ok: "fine", C: "${LF}", "": "x" } },
      b: { command: "b\0", env: { "A=B": "x", OK: "line\nbreak", C: "\0" } },
      "\u0007": { command: "c" },
    },
  });
  const found = lines(text, { LF: "a\r\nEvil: 1" }).map((line) => line.replace(/^\S+ mcpServers/, ""));
  assert.deepEqual(found, [
    '.a.headers["A B"]: this is no name for an entry of headers',
    ".a.headers.C: contains a line break or NUL character, its variables included",
    '.a.headers[""]: this is no name for an entry of headers',
    ".b.command: expected a string without a NUL character; found a text",
    '.b.env["A=B"]: this is no name for an entry of env',
    ".b.env.C: expected a string without a NUL character; found a text",
    '["\\u0007"]: expected a name of 1 to 256 characters without control characters',
  ]);
});

test("whatever is given, the answer is settings or CONFIG_INVALID", () => {
  const entry = fc.dictionary(
    fc.constantFrom("command", "url", "type", "env", "args", "__proto__", "x"),
    fc.jsonValue(),
  );
  const section = fc.oneof(
    fc.jsonValue(),
    entry,
    fc.dictionary(fc.string(), entry),
    fc.constant({ rules: [{ id: [] }] }),
  );
  const keys = fc.constantFrom("mcpServers", "sandbox", "analysis", "policy", "store", "server", "constructor", "x");
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(keys, section)), (config) => {
      const text = JSON.stringify(config);
      try {
        assert.ok(Object.isFrozen(parseSettings(config, { folder: "/", path: PATH, text }, {})));
      } catch (error) {
        assert.ok(error instanceof GloveboxError && error.code === "CONFIG_INVALID", String(error));
      }
    }),
  );
});
