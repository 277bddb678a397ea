/** How many calls a program begins with that nothing it reads can change. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import { parseJavascript } from "../parse-javascript.ts";
import { readSyntax } from "../program-syntax.ts";
import { readTree } from "../read-tree.ts";
import { countStart } from "./find-start.ts";

const connector = parseConnectorId("mail") ?? assert.fail();
const namespaces = [{ name: "mail", connector, summary: "", tools: ["send", "list"] }];

function count(source: string): number {
  const parsed = parseJavascript(source);
  assert.ok(parsed.ok, source);
  const tree = readTree(parsed.root);
  return countStart(
    readSyntax({ source, tree, api: { namespaces }, sourceBytes: source.length, toAuthor: (at) => at }),
  );
}

const SEND = 'await mail.send({ to: ["a"], text: "hello", n: 1, more: { ok: true, none: null } });';

test("countStart counts whole statements that only call a tool with constants", () => {
  for (const [source, expected] of [
    [SEND + SEND, 2],
    [`const x = await mail.list(); ${SEND} let y = (await mail.list({})); if (x) ${SEND}`, 3],
    [`${SEND} const n = 1; ${SEND}`, 2],
    [`const text = "a", to = ["b"]; ${SEND} await mail.send({ text, to, more: [to] });`, 2],
    [`${SEND} const n = m; const m = 1; ${SEND}`, 1],
    [`${SEND} let text = "a"; await mail.send({ text });`, 1],
    [SEND.repeat(21), 20],
    ["", 0],
  ] as const)
    assert.equal(count(source), expected, source);
});

test("countStart stops at everything that runs code of the program, reads a value or may not run", () => {
  for (const part of [
    "const { x } = await mail.list();",
    "const [x] = await mail.list();",
    "var x = await mail.list();",
    "using x = await mail.list();",
    "await using x = await mail.list();",
    "const x = await mail.list(), y = 1;",
    "mail.list();",
    "const x = mail.list();",
    "await mail.list().then((x) => x);",
    "await (await mail.list()).x;",
    "await mail?.list();",
    "await mail.list?.();",
    'await mail["list"]();',
    "await mail.list({}, {});",
    "await mail.list(...[]);",
    "await mail.list(5);",
    "await mail.send({ text: `${1}` });",
    "await mail.send({ text: name });",
    "await mail.send({ text: -x });",
    "await mail.send({ ...{} });",
    "await mail.send({ ['a']: 1 });",
    "await mail.send({ get a() { return 1 } });",
    "await mail.send({ a() {} });",
    "await mail.send({ name });",
    "await mail.send({ __proto__: null });",
    'await mail.send({ "__proto__": null });',
    "await mail.send({ text: /x/ });",
    "await mail.send({ n: 1n });",
    "await mail.send({ list: [, 1] });",
    "await other.send({});",
    "await send({});",
    "{ await mail.send({}); }",
    "if (true) await mail.send({});",
    "try { await mail.send({}) } finally {}",
    "for (const x of [1]) await mail.send({});",
    "x: await mail.send({});",
  ])
    assert.equal(count(`${SEND} ${part} ${SEND}`), 1, part);
  assert.equal(count(`const mail = { send() {} }; ${SEND}`), 0);
  assert.equal(count(`${SEND} const mail = 1;`), 0);
  assert.equal(count(`await mail.send({ text: ${JSON.stringify("x".repeat(2_000))} });`), 0);
});
