/** The whole network needs a confirmation and is warned about. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { checkUnrestricted } from "./check-unrestricted.ts";
import { parseSettings } from "./parse-settings.ts";

const UNRESTRICTED = { networkPolicy: { mode: "unrestricted" } };

function check(config: object, isConfirmed: boolean): readonly string[] {
  const warnings: string[] = [];
  const settings = parseSettings(config, { folder: "/" }, {});
  checkUnrestricted(settings, isConfirmed, ({ message }) => warnings.push(message));
  return warnings;
}

test("an unrestricted network of programs is refused without a confirmation", () => {
  assert.throws(() => check({ sandbox: UNRESTRICTED }, false), {
    code: "CONFIG_INVALID",
    message: "sandbox.networkPolicy is unrestricted and was not confirmed",
  });
});

test("a confirmed unrestricted network is accepted with a warning", () => {
  assert.deepEqual(check({ sandbox: UNRESTRICTED }, true), [
    "programs may send requests to every public host (sandbox.networkPolicy is unrestricted)",
  ]);
});

test("an unrestricted network of one upstream is refused too, and named", () => {
  const config = { mcpServers: { one: { url: "https://example.com/mcp", ...UNRESTRICTED } } };
  assert.throws(() => check(config, false), /mcpServers\.one\.networkPolicy is unrestricted and was not confirmed/);
  assert.match(check(config, true)[0] ?? "", /^an upstream may send requests to every public host/);
});

test("a restricted network needs no confirmation and no warning", () => {
  assert.deepEqual(check({ sandbox: { networkPolicy: { mode: "blocked" } } }, false), []);
});
