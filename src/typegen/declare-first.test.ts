/** Short declarations: the tool first, then the types it uses, each whole or not at all. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { declareToolFirst } from "./declare-tool.ts";
import { compile, toolOf } from "./fixtures/compile.ts";

const $defs = {
  Team: { type: "object", properties: { lead: { $ref: "#/$defs/User" }, deputy: { $ref: "#/$defs/User" } } },
  User: { type: "object", properties: { login: { type: "string" }, friend: { $ref: "#/$defs/User" } } },
};
const properties = { first: { $ref: "#/$defs/Team" }, second: { $ref: "#/$defs/Team" } };
const TOOL = toolOf("big.getTeams", {
  input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  output: { type: "object", properties, $defs },
});

const MEMBER = `declare const big: {
  /** ${TOOL.summary} (read) */
  getTeams(args: {
    id: string;
  }): Promise<{
    first?: big.Team;
    second?: big.Team;
  }>;
};`;
const TEAM = `  type Team = {
    lead?: big.User;
    deputy?: big.User;
  };`;
const USER = `  type User = {
    login?: string;
    friend?: big.User;
  };`;

describe("a tool that is declared first", () => {
  const whole = `${MEMBER}\ndeclare namespace big {\n${TEAM}\n${USER}\n}`;

  it("a tool that is declared first is followed by the types that it uses, nearest first", () => {
    assert.equal(declareToolFirst(TOOL, whole.length), whole);
    assert.equal(compile({ "api.d.ts": whole }), "");
  });
  it("omits whole types that do not fit", () => {
    const one = `${MEMBER}\ndeclare namespace big {\n${TEAM}\n}`;
    assert.equal(declareToolFirst(TOOL, whole.length - 1), one);
    assert.equal(declareToolFirst(TOOL, one.length), one);
    assert.equal(declareToolFirst(TOOL, 0), MEMBER);
  });
});
