/** Input requests of servers of both eras: who is asked, and what is refused. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseConnectorId } from "../../domain/index.ts";
import type { InputRequest } from "../../domain/index.ts";
import { MAX_ROUNDS, answerInputs, createQuestions } from "./answer-inputs.ts";
import { InputRequired } from "./direct-calls.ts";

const id = parseConnectorId("shop") ?? assert.fail();
const questions = () => createQuestions({ id, clean: (text) => text });
const FORM = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const ACCEPT: InputRequest["answer"] = { action: "accept", content: { name: "Ada" } };
const accept: InputRequest["ask"] = async () => ACCEPT;
const elicit = { method: "elicitation/create", params: FORM };

describe("a question of a server up to 2025-11-25", () => {
  it("is asked while one call is open", async () => {
    const { during, answer } = questions();
    assert.deepEqual(await during(accept, () => answer(FORM)), ACCEPT);
  });
  it("is cancelled while no call or more than one is open, because it may belong to another person", async () => {
    const { during, answer } = questions();
    const refuse: InputRequest["ask"] = () => assert.fail("no person is asked");
    assert.deepEqual(await answer(FORM), { action: "cancel" });
    assert.deepEqual(await during(refuse, () => during(refuse, () => answer(FORM))), { action: "cancel" });
    assert.deepEqual(await during(accept, () => answer(FORM)), ACCEPT);
  });
  it("is refused if its form is not allowed", async () => {
    const { during, answer } = questions();
    await assert.rejects(
      during(accept, () => answer({ message: "x" })),
      /does not show this form/,
    );
  });
});

describe("a question of a server since 2026-07-28", () => {
  const run = (results: readonly unknown[], ask = accept) => {
    const repeats: unknown[] = [];
    const rest = [...results];
    const call = async (repeat?: unknown): Promise<unknown> => {
      repeats.push(repeat);
      const next = rest.length > 1 ? rest.shift() : rest[0];
      if (next instanceof Error) throw next;
      return next;
    };
    return { repeats, done: answerInputs(call, ask, questions()) };
  };
  it("is answered by repeating the call with the answers and the state", async () => {
    const { repeats, done } = run([new InputRequired({ who: elicit }, "half"), "done"]);
    assert.equal(await done, "done");
    assert.deepEqual(repeats, [undefined, { inputResponses: { who: ACCEPT }, requestState: "half" }]);
  });
  it("passes on that the person declined, without values", async () => {
    const { repeats, done } = run([new InputRequired({ who: elicit }, undefined), "done"], async () => ({
      action: "decline",
    }));
    await done;
    assert.deepEqual(repeats[1], { inputResponses: { who: { action: "decline" } } });
  });
  it("is refused for sampling, roots and unknown requests, with the cause", async () => {
    for (const [method, cause] of [
      ["sampling/createMessage", /language model \(sampling\), which Glovebox does not offer/],
      ["roots/list", /does not pass on/],
    ] as const) {
      const { done } = run([new InputRequired({ a: { method, params: {} } }, undefined)]);
      await assert.rejects(done, { code: "UPSTREAM_FAILED", message: cause });
    }
  });
  it("ends after too many rounds or with too many questions", async () => {
    const endless = run([new InputRequired({ who: elicit }, undefined)]);
    await assert.rejects(endless.done, { code: "UPSTREAM_FAILED", message: /10 times/ });
    assert.equal(endless.repeats.length, MAX_ROUNDS);
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`q${index}`, elicit]));
    await assert.rejects(run([new InputRequired(many, undefined)]).done, /9 questions at once/);
  });
});
