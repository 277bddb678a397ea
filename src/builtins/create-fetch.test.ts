/** What rules are asked on the way of a request: its own address in one spelling, and wherever it is led. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { GloveboxError, parseRuleId } from "../domain/index.ts";
import type { Decision, JsonObject } from "../domain/index.ts";

import { createFetch } from "./create-fetch.ts";
import type { FetchStep } from "./create-fetch.ts";

const WRITTEN = "HTTP://A.example/x";
const SAME: FetchStep = { url: "http://a.example/x", method: "GET", redirects: 0 };
const LED: FetchStep = { url: "http://b.example/", method: "GET", redirects: 1 };

function toDecision(kind: Decision["kind"]): Decision {
  const rule = parseRuleId("house-rule");
  assert.ok(rule !== undefined);
  return kind === "allow" ? { kind, rule } : { kind, rule, reason: `house-rule says ${kind}` };
}

/** What comes of a request that takes these steps, when rules say so about each address. */
async function take(steps: readonly FetchStep[], said: Readonly<Record<string, Decision["kind"]>>): Promise<unknown> {
  const asked: JsonObject[] = [];
  const { answer } = createFetch({
    send: async ({ onStep }) => {
      for (const step of steps) onStep(step);
      return { url: "", status: 200, statusText: "", redirected: false, headers: [], body: new Uint8Array() };
    },
    check: () => undefined,
  });
  const decide = (args: JsonObject): Decision => {
    asked.push(args);
    const { url } = args;
    return toDecision((typeof url === "string" ? said[url] : undefined) ?? "allow");
  };
  const spend = <T>(work: () => T): T => work();
  const options = { signal: new AbortController().signal, onSent: () => undefined, spend, decide };
  try {
    await answer({ url: WRITTEN, text: "kept" }, options);
    assert.deepEqual([...new Set(asked.map(({ text }) => text))], ["kept"]);
    return "sent";
  } catch (thrown) {
    return thrown instanceof GloveboxError ? [thrown.code, thrown.message] : thrown;
  }
}

test("fetch sends a request that rules allow at every step", async () => {
  assert.equal(await take([SAME, LED], {}), "sent");
});

test("fetch refuses a spelling with a stricter decision, and sends one that was approved", async () => {
  const refusal = (kind: string): unknown => [
    "POLICY_DENIED",
    `The request goes to http://a.example: house-rule says ${kind}`,
  ];
  assert.deepEqual(await take([SAME], { [SAME.url]: "deny" }), refusal("deny"));
  assert.deepEqual(await take([SAME], { [SAME.url]: "ask" }), refusal("ask"));
  assert.deepEqual(await take([SAME], { [WRITTEN]: "ask", [SAME.url]: "deny" }), refusal("deny"));
  assert.equal(await take([SAME], { [WRITTEN]: "ask", [SAME.url]: "ask" }), "sent");
  assert.equal(await take([SAME], { [WRITTEN]: "ask" }), "sent");
});

test("fetch refuses a redirect unless rules allow it", async () => {
  for (const kind of ["ask", "deny"] as const) {
    const refusal = ["POLICY_DENIED", `A redirect leads to http://b.example: house-rule says ${kind}`];
    assert.deepEqual(await take([SAME, LED], { [LED.url]: kind }), refusal);
    assert.deepEqual(await take([SAME, LED], { [WRITTEN]: "ask", [LED.url]: kind }), refusal);
  }
});
