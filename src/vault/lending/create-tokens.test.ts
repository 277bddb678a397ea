/** Tokens: the same whenever they are asked for, another one for everything else. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseExecutionId } from "../../domain/index.ts";
import type { ExecutionId } from "../../domain/index.ts";
import { name } from "../fixtures/set-up.ts";
import { createTokens } from "./open-lending.ts";

const execution = (digit: string): ExecutionId => {
  const id = parseExecutionId(`ex_${digit.repeat(24)}`);
  assert.ok(id);
  return id;
};
const KEY = Buffer.alloc(32, 7);

test("a token depends on the execution, the name and the key only", () => {
  const tokenOf = createTokens(KEY);
  const token = tokenOf(execution("a"), name("KEY"));
  assert.match(token, /^glovebox-secret-[0-9a-f]{32}$/);
  assert.equal(createTokens(Buffer.alloc(32, 7))(execution("a"), name("KEY")), token);
  const others = [
    tokenOf(execution("b"), name("KEY")),
    tokenOf(execution("a"), name("KEY2")),
    createTokens(Buffer.alloc(32, 8))(execution("a"), name("KEY")),
  ];
  assert.equal(new Set([token, ...others]).size, 4);
});
