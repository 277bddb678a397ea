/** Which patterns are reported because they match no known tool. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { findIdlePatterns } from "./find-idle-patterns.ts";
import type { PatternSettings } from "./find-idle-patterns.ts";
import { rule } from "./rules/fixtures/decision-case.ts";

const TOOLS = [{ address: "myBank.transferFunds", server: "my bank", remoteName: "transfer_funds" }];

function settingsOf(...tools: readonly string[]): PatternSettings {
  const rate = { tools, calls: 1, windowMs: 1000, per: "total" } as const;
  return {
    policy: {
      rules: [rule("house", "deny", { tools }), rule("all", "ask")],
      effects: new Map(tools.map((pattern) => [pattern, "read"])),
      labels: [{ tools, add: ["private"], remove: [] }],
    },
    quotas: { rates: [rate], prices: new Map(tools.map((pattern) => [pattern, 1])) },
  };
}

it("findIdlePatterns reports every setting with a pattern that matches no tool", () => {
  const idle = findIdlePatterns(settingsOf("myBank.transferFund"), { tools: TOOLS, unlisted: [] });
  assert.deepEqual(
    idle.map(({ setting, pattern }) => `${setting} ${pattern}`),
    ["rule house", "policy.effects", "policy.labels[0]", "quotas.rates[0]", "quotas.prices"].map(
      (setting) => `${setting} myBank.transferFund`,
    ),
  );
});

it("findIdlePatterns reports no pattern that matches a tool by any of its names", () => {
  const patterns = ["*", "myBank.*", "my bank.*", "myBank.transferFunds", "my bank.transfer_funds", "*.transfer*"];
  assert.deepEqual(findIdlePatterns(settingsOf(...patterns), { tools: TOOLS, unlisted: [] }), []);
});

it("findIdlePatterns does not judge patterns for a server that has not listed its tools", () => {
  const settings = settingsOf("shop.pay", "shops.pay");
  const idle = findIdlePatterns(settings, { tools: TOOLS, unlisted: ["shop"] });
  assert.deepEqual(new Set(idle.map(({ pattern }) => pattern)), new Set(["shops.pay"]));
  const wild = settingsOf("myBank.delete*", "*.delete*");
  const patternsOf = (unlisted: readonly string[]) =>
    new Set(findIdlePatterns(wild, { tools: TOOLS, unlisted }).map(({ pattern }) => pattern));
  assert.deepEqual(patternsOf(["shop"]), new Set(["myBank.delete*"]));
  assert.deepEqual(patternsOf([]), new Set(["myBank.delete*", "*.delete*"]));
});
