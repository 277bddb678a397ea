/** A few tasks of `npm run bench:agent`: Glovebox needs fewer tokens than plain MCP, and is never wrong without a word. */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";

import { playConversation } from "../../bench/agent/play.ts";
import { isCheaper, isRepaired, toTokens } from "../../bench/agent/report.ts";
import type { PlayedTask } from "../../bench/agent/report.ts";
import { hasSignature, readFields } from "../../bench/agent/signatures.ts";
import { CONVERSATIONS } from "../../bench/agent/tasks/index.ts";

const tasks = CONVERSATIONS.flatMap((conversation) => conversation.tasks);

/** New and known tools, a large result, a change, and mistakes. */
const PLAYED: readonly string[] = [
  "weather of three cities",
  "errors of a large log",
  "version of the package",
  "open orders of a customer",
  "a wrong argument name",
  "a positional argument",
  "a result taken for an array",
  "a change without await",
];

describe("the agent benchmark", () => {
  it("has at least 40 tasks, a third of them with a mistake", () => {
    const mistakes = tasks.filter(({ mistake }) => mistake !== undefined).length;
    assert.ok(tasks.length >= 40 && mistakes >= tasks.length / 3, `${tasks.length} tasks, ${mistakes} mistakes`);
    assert.equal(new Set(tasks.map(({ name }) => name)).size, tasks.length);
    for (const { title, tasks: own } of CONVERSATIONS) assert.equal(own.length, 10, title);
  });

  it("recognizes a signature by its arguments and its result, and not a call", () => {
    assert.ok(hasSignature("files.readTextFile(args: { path: string }): Promise<string>", "files.readTextFile"));
    assert.ok(!hasSignature("await files.readTextFile({ path: 'a' });", "files.readTextFile"));
    assert.ok(!hasSignature("files.readTextFile [read] Reads a file", "files.readTextFile"));
    assert.ok(!hasSignature("unreadTextFile(a: 1): 2", "files.readTextFile"));
  });

  it("reads the outermost fields of a type, without comments", () => {
    const type = "{ a: string; /** c: d; */ b?: Array<{ c: number; }>; }";
    assert.deepEqual(
      [...readFields(type)],
      [
        ["a", "string"],
        ["b?", "Array<{ c: number; }>"],
      ],
    );
  });
});

describe("tasks of a model", () => {
  let played: readonly PlayedTask[] = [];
  before(async () => {
    const chosen = PLAYED.flatMap((name) => tasks.filter((task) => task.name === name));
    played = await playConversation({ title: "A few", tasks: chosen });
  });

  it("are all played", () => {
    assert.deepEqual(
      played.map(({ task }) => task.name),
      PLAYED,
    );
  });

  it("need fewer tokens with Glovebox than with plain MCP, by text and by structured content", () => {
    const dear = played.filter((one) => !isCheaper(one)).map((one) => [one.task.name, toTokens(one)]);
    assert.deepEqual(dear, []);
  });

  it("end with the right answer, and mistakes are repaired by the program that the answer leads to", () => {
    const wrong = played.filter((one) => !isRepaired(one)).map(({ task, ours }) => [task.name, ours.last]);
    assert.deepEqual(wrong, []);
  });

  it("have no wrong answer without an error or a warning", () => {
    assert.deepEqual(
      played.filter(({ ours }) => ours.silent > 0).map(({ task }) => task.name),
      [],
    );
  });
});
