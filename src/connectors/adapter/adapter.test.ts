/** Adapters as their authors write them: their tools, and what a call may return, throw and take. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { parseConnectorId } from "../../domain/index.ts";
import type { Adapter, ConnectorId, UpstreamSettings } from "../../domain/index.ts";
import { openEgress } from "../../egress/index.ts";
import { Secret } from "../../vault/index.ts";
import type { Connector } from "../connector.ts";
import { createAdapterConnector } from "./adapter-connector.ts";
import { defineAdapter } from "./define-adapter.ts";
import { parseAdapters } from "./parse-adapters.ts";

function toId(name: string): ConnectorId {
  const id = parseConnectorId(name);
  assert.ok(id !== undefined);
  return id;
}

function connect(adapter: Adapter): Connector {
  const lend = async (name: string): Promise<Secret> => new Secret(`value-of-${name}`);
  return createAdapterConnector({
    id: toId(adapter.name),
    adapter,
    now: () => 5,
    clean: (text) => text.replaceAll("\x1b", ""),
    lend,
    egress: openEgress(),
  });
}

const signal = (): AbortSignal => AbortSignal.timeout(5000);

/** A tool that takes anything and runs this. */
const withRun = (run: (args: object, context: { readonly signal: AbortSignal }) => unknown): Connector =>
  connect(defineAdapter({ name: "it", tools: { go: { description: "Goes.", input: { type: "object" }, run } } }));

const go = (run: Parameters<typeof withRun>[0]): Promise<unknown> =>
  withRun(run)
    .call("go", {}, { signal: signal() })
    .then(({ value }) => value);

test("a tool lists its zod or JSON Schema, and its effect as a claim", async () => {
  const adapter = defineAdapter({
    name: "it",
    tools: {
      find: {
        description: "Finds.",
        input: z.object({ word: z.string(), most: z.int().min(1).max(9).default(3) }),
        output: z.array(z.string()),
        effect: "read",
        run: ({ word, most }) => Array<string>(most).fill(word),
      },
      drop: { description: "Drops.", input: { type: "object" }, effect: "destroy", run: () => null },
      put: { description: "Puts.", input: { type: "object" }, effect: "write", run: () => null },
      odd: { description: "Odd.", input: { type: "object" }, run: () => null },
    },
  });
  const connector = connect(adapter);
  const [find, ...others] = await connector.tools();
  assert.deepEqual(find, {
    name: "find",
    description: "Finds.",
    input: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { word: { type: "string" }, most: { default: 3, type: "integer", minimum: 1, maximum: 9 } },
      required: ["word"],
    },
    output: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "array",
      items: { type: "string" },
    },
    annotations: { readOnly: true },
  });
  assert.deepEqual(
    others.map(({ name, output, annotations }) => [name, output, annotations]),
    [
      ["drop", null, { readOnly: false, destructive: true }],
      ["put", null, { readOnly: false, destructive: false }],
      ["odd", null, {}],
    ],
  );
  assert.deepEqual(connector.status(), { name: "it", state: "ready", transport: "adapter", tools: 4, since: 5 });
  const called = await connector.call("find", { word: "a" }, { signal: signal() });
  assert.deepEqual(called, { value: ["a", "a", "a"], attachments: [] });
});

test("arguments that only zod refuses never reach the tool", async () => {
  let runs = 0;
  const even = z.object({ n: z.number().refine(async (n) => n % 2 === 0, "must be even") });
  const connector = connect(
    defineAdapter({ name: "it", tools: { go: { description: "Goes.", input: even, run: () => (runs += 1) } } }),
  );
  await assert.rejects(connector.call("go", { n: 1 }, { signal: signal() }), {
    code: "TOOL_ARGUMENTS_INVALID",
    message: "it.go: n: must be even",
  });
  assert.equal(runs, 0);
  assert.equal((await connector.call("go", { n: 2 }, { signal: signal() })).value, 1);
});

test("a result is the output of its zod schema, or an error that names the mismatch", async () => {
  const output = z.object({
    at: z.string(),
    n: z
      .number()
      .refine(async (n) => n % 2 === 0, "must be even")
      .default(4),
  });
  const returning = (value: unknown, schema: z.ZodType = output): Promise<unknown> =>
    connect(
      defineAdapter({
        name: "it",
        tools: { go: { description: "Goes.", input: { type: "object" }, output: schema, run: () => value } },
      }),
    )
      .call("go", {}, { signal: signal() })
      .then((called) => called.value);
  assert.deepEqual(await returning({ at: new Date(0), more: 1 }), { at: "1970-01-01T00:00:00.000Z", n: 4 });
  assert.deepEqual(await returning({ a: 1, more: 1 }, z.looseObject({ a: z.number() })), { a: 1, more: 1 });
  const invalid = (message: string): object => ({ code: "UPSTREAM_RESULT_INVALID", message });
  await assert.rejects(
    returning({ at: "now", n: 3 }),
    invalid("it.go: the result does not match the output schema: n: must be even"),
  );
  await assert.rejects(
    returning({ a: 1, more: 1 }, z.strictObject({ a: z.number() })),
    invalid('it.go: the result does not match the output schema: Unrecognized key: "more"'),
  );
  await assert.rejects(returning({ at: 1n }), invalid('it.go: the result is not JSON: "at" is a bigint'));
});

test("a result is JSON, or an error that names what is not", async () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const deep = Array.from({ length: 100_000 }).reduce<unknown[]>((inner) => [inner], []);
  const bad: readonly (readonly [unknown, string])[] = [
    [{ a: 1n }, '"a" is a bigint'],
    [() => 1, "the value is a function"],
    [{ a: Symbol("s") }, '"a" is a symbol'],
    [[Number.NaN], '"0" is NaN'],
    [new Map([["a", 1]]), "the value is a Map or a Set"],
    [circle, "it is circular, too deep or cannot be serialized"],
    [deep, "it is circular, too deep or cannot be serialized"],
  ];
  for (const [value, why] of bad) {
    await assert.rejects(
      go(() => value),
      { code: "UPSTREAM_RESULT_INVALID", message: `it: the result is not JSON: ${why}` },
    );
  }
  assert.equal(await go(() => undefined), null);
  assert.deepEqual(await go(async () => ({ a: undefined, at: new Date(0), list: [1, "x", null] })), {
    at: "1970-01-01T00:00:00.000Z",
    list: [1, "x", null],
  });
});

test("an error of a tool is its failure, cleaned and cut", async () => {
  const failing = (thrown: unknown): Promise<unknown> => go(() => Promise.reject(thrown));
  await assert.rejects(failing(new Error("no \x1bpaper")), { code: "UPSTREAM_FAILED", message: "it: no paper" });
  await assert.rejects(failing("plain"), { message: "it: plain" });
  await assert.rejects(failing({ odd: true }), { message: "it: the tool failed without a message" });
  await assert.rejects(failing(new Error("x".repeat(10_000))), { message: `it: ${"x".repeat(2048)}` });
});

test("a tool that answers without a promise may fail too, and is not run for a call that has ended", async () => {
  const throwing = (): never => {
    throw new Error("at once");
  };
  await assert.rejects(go(throwing), { code: "UPSTREAM_FAILED", message: "it: at once" });
  let runs = 0;
  const counting = withRun(() => (runs += 1));
  await assert.rejects(counting.call("go", {}, { signal: AbortSignal.abort() }), { code: "REQUEST_CANCELLED" });
  assert.deepEqual([runs, (await counting.call("go", {}, { signal: signal() })).value], [0, 1]);
});

test("a secret is lent to the call, and an error of that call does not show it", async () => {
  const adapter = defineAdapter({
    name: "it",
    tools: {
      tell: { description: "Tells.", input: {}, run: async (_, { secret }) => (await secret("TOKEN")).length },
      leak: {
        description: "Leaks.",
        input: {},
        run: async (_, { secret }) => Promise.reject(Error(await secret("TOKEN"))),
      },
      wrong: { description: "Asks wrongly.", input: {}, run: (_, { secret }) => secret("no name") },
    },
  });
  const call = (name: string): Promise<unknown> => connect(adapter).call(name, {}, { signal: signal() });
  assert.deepEqual(await call("tell"), { value: "value-of-TOKEN".length, attachments: [] });
  await assert.rejects(call("leak"), { code: "UPSTREAM_FAILED", message: "it: [secret]" });
  await assert.rejects(call("wrong"), {
    message: "it: a secret's name may only contain letters, digits and underscores",
  });
});

test("a call ends with its time limit, its program or the gateway, and aborts the tool's signal", async () => {
  const heard: string[] = [];
  const waiting = withRun((_, { signal: given }) => {
    given.addEventListener("abort", () => heard.push("abort"));
    return new Promise(() => undefined);
  });
  await assert.rejects(waiting.call("go", {}, { signal: AbortSignal.timeout(20) }), { code: "UPSTREAM_TIMEOUT" });
  await assert.rejects(waiting.call("go", {}, { signal: AbortSignal.abort() }), { code: "REQUEST_CANCELLED" });
  const last = waiting.call("go", {}, { signal: signal() });
  setTimeout(() => void waiting.close(), 20);
  await assert.rejects(last, { code: "UPSTREAM_UNREACHABLE" });
  await assert.rejects(waiting.call("go", {}, { signal: signal() }), { code: "UPSTREAM_UNREACHABLE" });
  await assert.rejects(waiting.tools(), { code: "UPSTREAM_UNREACHABLE" });
  assert.deepEqual([heard.length >= 2, waiting.status().state], [true, "closed"]);
});

test("a tool name that objects inherit is not found", async () => {
  await assert.rejects(withRun(() => 1).call("toString", {}, { signal: signal() }), {
    message: "it: the adapter has no such tool",
  });
});

test("a schema that JSON Schema cannot express is refused when the adapter is defined", () => {
  const input = z.object({ at: z.date() });
  assert.throws(() => defineAdapter({ name: "it", tools: { go: { description: "", input, run: () => 1 } } }), {
    code: "CONFIG_INVALID",
    message: "The input of it.go cannot be written as JSON Schema",
  });
});

const source = (value: unknown, pin?: "approve"): UpstreamSettings["adapters"][number] => ({
  place: "adapters[0]",
  load: async () => value,
  pin,
  network: { tools: [] },
});
const named = (name: string): Adapter => defineAdapter({ name, tools: {} });

test("an adapter is found as itself, as a named export and as a default export, once each", async () => {
  const [one, two] = [named("one"), named("two")];
  assert.deepEqual(
    [...(await parseAdapters([source(one)], []))],
    [["one", { adapter: one, pin: undefined, network: { tools: [] } }]],
  );
  const module = { default: one, one, two, other: 5 };
  assert.deepEqual(
    [...(await parseAdapters([source(module, "approve")], []))].map(([name, { pin }]) => [name, pin]),
    [
      ["one", "approve"],
      ["two", "approve"],
    ],
  );
});

test("an object that is not an adapter, has no name or a name in use is refused as CONFIG_INVALID", async () => {
  const mark = "glovebox.adapter";
  const bad: readonly (readonly [unknown, string])[] = [
    [{}, "it exports no adapter; create one with defineAdapter"],
    [null, "it exports no adapter; create one with defineAdapter"],
    [{ kind: mark }, "the adapter has no name or no tools"],
    [{ kind: mark, name: "x", tools: { a: { run: 1 } } }, 'the tool "a" was not made by defineAdapter'],
    [named("a\nb"), "the adapter's name is not a string of 1 to 256 plain characters"],
    [named("taken"), 'another upstream is also called "taken"'],
  ];
  for (const [value, why] of bad) {
    await assert.rejects(parseAdapters([source(value)], [toId("taken")]), {
      code: "CONFIG_INVALID",
      message: `adapters[0]: ${why}`,
    });
  }
  await assert.rejects(parseAdapters([source(named("one")), source(named("one"))], []), { code: "CONFIG_INVALID" });
  const broken = { ...source(0), load: () => Promise.reject(new Error("boom")) };
  await assert.rejects(parseAdapters([broken], []), {
    message: "adapters[0]: the module could not be loaded: Error: boom",
  });
});
