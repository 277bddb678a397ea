/** Messages about a wrong configuration: the position, the key, what was expected, what was found. */

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

test("one error lists all problems in the order of the file, with line and column", () => {
  const text = `{
  // a comment
  "sandbox": {
    "limits": { "wallMs": "30s", "memoryBytes": 1 },
    "isolation": "none",
    "concurency": 3
  },
  "mcpServers": { "my server": { "command": "\${NOPE}" }, "x": {} },
  "policy": { "rules": [{ "tools": ["git*"] }] },
  "server": { "host": "a:b/c", "port": 65536 },
}`;
  const error = refuse(text);
  assert.equal(error.code, "CONFIG_INVALID");
  assert.deepEqual(error.details, {
    hint: "Correct the configuration and start again. glovebox.schema.json describes every key",
    line: 4,
    column: 27,
  });
  assert.deepEqual(error.message.split("\n"), [
    `${PATH}:4:27 sandbox.limits.wallMs: expected an integer from 1 to 3600000; found "30s"`,
    `${PATH}:4:49 sandbox.limits.memoryBytes: expected an integer from 8388608 to 4294967296; found 1`,
    `${PATH}:5:18 sandbox.isolation: expected one of "auto", "strict", "process"; found "none"`,
    `${PATH}:6:5 sandbox.concurency: unknown key; did you mean "concurrency"?`,
    `${PATH}:8:45 mcpServers["my server"].command: the environment variable NOPE is not set; ` +
      "set it, or write ${NOPE:-default}",
    `${PATH}:8:58 mcpServers.x: expected command (Glovebox starts the server) or url (the server is reached over HTTP)`,
    `${PATH}:9:25 policy.rules[0].decision: expected one of "allow", "ask", "deny"; found nothing`,
    `${PATH}:9:37 policy.rules[0].tools[0]: expected "*", "namespace.*", "namespace.tool", "namespace.delete*" or "*.delete*"; found "git*"`,
    `${PATH}:10:23 server.host: expected an address or a host name without a port; found "a:b/c"`,
    `${PATH}:10:40 server.port: expected an integer from 0 to 65535; found 65536`,
  ]);
});

test("the message about an unknown key suggests the nearest key of its object, or lists all", () => {
  assert.deepEqual(
    lines('{ "mcpservers": {}, "sandbox": { "wallMs": 1 }, "analysis": { "rules": { "no-evil": "off" } } }'),
    [
      `${PATH}:1:3 mcpservers: unknown key; did you mean "mcpServers"?`,
      `${PATH}:1:34 sandbox.wallMs: unknown key; known keys here: engine, isolation, concurrency, queue, limits, networkPolicy, secrets`,
      `${PATH}:1:74 analysis.rules.no-evil: unknown key; did you mean "no-eval"?`,
    ],
  );
  assert.deepEqual(lines('{ "webhooks": {} }'), [
    `${PATH}:1:3 webhooks: unknown key; known keys here: $schema, mcpServers, pin, openapi, adapters, sandbox, egress, analysis, policy, quotas, profiles, catalog, audit, ledger, metrics, traces, anomalies, store, expose, clients, output, results, executions, approvals, journal, skills, server`,
  ]);
});

test("keys of planned features are still unknown", () => {
  assert.equal(lines('{ "webhooks": {} }').length, 1);
});

function unknownKeys(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1])));
}

test("an error lists twenty problems and counts the rest", () => {
  assert.equal(lines(unknownKeys(19)).length, 19);
  assert.equal(lines(unknownKeys(20)).length, 20);
  assert.deepEqual(lines(unknownKeys(21)).slice(20), ["… and 1 more"]);
  assert.deepEqual(lines(unknownKeys(10_000)).slice(20), ["… and 9980 more"]);
});

test("messages about a configuration object have only the path", () => {
  assert.throws(() => parseSettings({ server: 1 }, { folder: "/", path: "/glovebox.config.ts" }, {}), {
    message: "/glovebox.config.ts server: expected an object; found 1",
  });
});

test("messages never show values that could be secrets", () => {
  const canary = "hunter2-canary";
  const text = JSON.stringify({
    mcpServers: {
      a: { command: 0, args: [canary, 1], env: { A: 12345678, B: [canary] }, url: `https://u:${canary}@h/` },
      b: { url: `ftp://${canary}` },
      c: { url: "https://h/", headers: { Authorization: `x\n${canary}`, B: `\${${canary} \${` } },
      d: canary,
    },
    store: { url: `postgres://u:${canary}@h/db` },
    approvals: { notify: { webhook: { url: `hooks/${canary}` } } },
  });
  const { message } = refuse(text);
  assert.equal(message.includes(canary), false, message);
  assert.equal(message.includes("12345678"), false, message);
  assert.equal(message.split("\n").length, 11);
});

test("messages show a variable reference, never its value", () => {
  const text = '{ "server": { "host": "${HOST}" }, "policy": { "profile": "${P}" } }';
  const { message } = refuse(text, { HOST: "canary example", P: "canary" });
  assert.equal(message.includes("canary"), false, message);
  assert.match(message, /found "\$\{HOST\}"/);
});

test("messages escape control characters in keys", () => {
  const [line] = lines(JSON.stringify({ "a\u001b[31m\u202e\u009b": 1 }));
  assert.equal(line?.startsWith(`${PATH}:1:2 ["a\\u001b[31m\\u202e\\u009b"]: unknown key`), true, line);
});

function onlyWith(key: string, needed: string): string {
  return `${key}: has an effect only together with ${needed}`;
}

test("keys that have no effect for the transport are refused", () => {
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
    "c.url: cannot be used together with command; remove one of them",
    'd.type: "http" needs url, but the entry has command; remove type',
    'e.type: "stdio" needs command, but the entry has url; remove type',
  ]);
});

test("names and values that are invalid in a header or environment are refused", () => {
  const text = JSON.stringify({
    mcpServers: {
      a: { url: "https://h/", headers: { "A B": "x", Ok: "fine", C: "${LF}", "": "x" } },
      b: { command: "b\0", env: { "A=B": "x", OK: "line\nbreak", C: "\0" } },
      "\u0007": { command: "c" },
    },
  });
  const found = lines(text, { LF: "a\r\nEvil: 1" }).map((line) => line.replace(/^\S+ mcpServers/, ""));
  assert.deepEqual(found, [
    '.a.headers["A B"]: not a valid name for an entry of headers',
    ".a.headers.C: contains a line break or NUL character, or a variable in it does",
    '.a.headers[""]: not a valid name for an entry of headers',
    ".b.command: expected a string without a NUL character; found a string",
    '.b.env["A=B"]: not a valid name for an entry of env',
    ".b.env.C: expected a string without a NUL character; found a string",
    '["\\u0007"]: expected a name of 1 to 256 characters without control characters',
  ]);
});

test("parseSettings returns settings or throws CONFIG_INVALID for any input", () => {
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
