/** Which answers of a person are sent to a server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseApprovalId } from "../../domain/index.ts";
import type { JsonObject } from "../../domain/index.ts";
import { known } from "../rules/fixtures/decision-case.ts";
import { checkAnswer } from "./check-answer.ts";

const ID = known(parseApprovalId(`ir_${"0".repeat(24)}`));
const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5 },
    color: { type: "string", enum: ["red", "blue"] },
    age: { type: "integer", minimum: 1, maximum: 9 },
    share: { type: "number" },
    agreed: { type: "boolean" },
    tags: { type: "array", minItems: 1, items: { type: "string", enum: ["a", "b"] } },
  },
  required: ["name"],
};
const check = (content: unknown, schema: JsonObject = SCHEMA) =>
  checkAnswer({ id: ID, args: { mode: "form", server: "s", message: "m", schema } }, content);

describe("checkAnswer", () => {
  it("returns values that fit the form", () => {
    const answer = { name: "Ada", color: "red", age: 9, share: 0.5, agreed: false, tags: ["b"] };
    assert.deepEqual(check(answer), answer);
    assert.deepEqual(check({ name: "Ada" }), { name: "Ada" });
  });
  it("refuses what does not fit, and names the field but never the value", () => {
    for (const [content, problem] of [
      [{}, /name is missing/],
      [undefined, /glovebox answer/],
      [{ name: "A" }, /name has a length/],
      [{ name: "s3cret" }, /name has a length/],
      [{ name: 7 }, /name must be a string/],
      [{ name: "Ada", color: "green" }, /color must be one of the choices/],
      [{ name: "Ada", age: 1.5 }, /age must be an integer/],
      [{ name: "Ada", age: 10 }, /age is outside/],
      [{ name: "Ada", share: "1" }, /share must be a number/],
      [{ name: "Ada", agreed: "yes" }, /agreed must be true or false/],
      [{ name: "Ada", tags: [] }, /tags has a number of choices/],
      [{ name: "Ada", tags: ["c"] }, /tags must be a list of the choices/],
      [{ name: "Ada", constructor: "x" }, /"constructor" is not a field/],
    ] as const) {
      assert.throws(() => check(content), { code: "REQUEST_INVALID", message: problem });
    }
    assert.throws(
      () => check({ name: "s3cret" }),
      (error: Error) => !error.message.includes("s3cret"),
    );
  });
  it("sends nothing with a visited address", () => {
    const args = { mode: "url", server: "s", message: "m", url: "https://a.example/" };
    assert.deepEqual(checkAnswer({ id: ID, args }, { name: "Ada" }), {});
  });
});
