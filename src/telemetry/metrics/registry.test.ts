/** The text format, and that no name can make it large or invalid. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { createRegistry } from "./registry.ts";

test("createRegistry renders counters, histograms and readings in order of creation", () => {
  const registry = createRegistry(10);
  const count = registry.counter("calls_total", "Calls.");
  const time = registry.histogram("call_seconds", "Time.", [0.1, 1]);
  registry.read("queue", "Waiting.", { type: "gauge", samples: () => [{ labels: {}, value: 7 }] });
  count({ tool: "a" });
  count({ tool: "a" }, 2);
  count({ tool: "b" });
  for (const seconds of [0.1, 0.5, 2]) time({}, seconds);
  assert.deepEqual(registry.render().split("\n"), [
    "# HELP calls_total Calls.",
    "# TYPE calls_total counter",
    'calls_total{tool="a"} 3',
    'calls_total{tool="b"} 1',
    "# HELP call_seconds Time.",
    "# TYPE call_seconds histogram",
    'call_seconds_bucket{le="0.1"} 1',
    'call_seconds_bucket{le="1"} 2',
    'call_seconds_bucket{le="+Inf"} 3',
    "call_seconds_sum 2.6",
    "call_seconds_count 3",
    "# HELP queue Waiting.",
    "# TYPE queue gauge",
    "queue 7",
    "",
  ]);
});

test("createRegistry counts series above the maximum as other", () => {
  const count = (tools: number): string[] => {
    const registry = createRegistry(4);
    const add = registry.counter("n", "N.");
    for (let index = 0; index < tools; index += 1) add({ tool: `t${index}` });
    return registry.render().split("\n").slice(2, -1);
  };
  const three = ['n{tool="t0"} 1', 'n{tool="t1"} 1', 'n{tool="t2"} 1'];
  assert.deepEqual(count(3), three);
  assert.deepEqual(count(4), [...three, 'n{tool="other"} 1']);
  assert.deepEqual(count(5), [...three, 'n{tool="other"} 2']);
});

test("createRegistry escapes label values", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const registry = createRegistry(4);
      registry.counter("n", "N.")({ tool: text });
      const lines = registry.render().split("\n");
      assert.equal(lines.length, 4);
      const written = /^n\{tool="((?:[^"\\\n]|\\[\\"n])*)"\} 1$/s.exec(lines[2] ?? "")?.[1];
      const read = written?.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
      assert.equal(read, text);
    }),
  );
});
