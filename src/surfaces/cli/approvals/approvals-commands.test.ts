/** At a terminal a person is asked; a script is not; and what was decided is told together with what came of it. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";

import { digestOf } from "../../../text/index.ts";
import { findChange } from "../../../catalog/index.ts";
import { createDesk } from "../../../policy/approvals/create-desk.ts";
import {
  OPERATOR,
  TOOL,
  changeTool,
  executionOf,
  memoryRules,
  openQueue,
} from "../../../policy/approvals/fixtures/open-queue.ts";
import type { Queue } from "../../../policy/approvals/fixtures/open-queue.ts";
import { AGENT } from "../../../policy/rules/fixtures/decision-case.ts";
import { createPrint } from "../add-command.ts";
import { decide } from "./approvals-commands.ts";
import type { Decider } from "./approvals-commands.ts";

/** What the command line has, with a person at it who types `answer`; without one it is a script. */
function contextOf({ approvals, store, clock }: Queue, answer?: string) {
  const stdin = Object.assign(new PassThrough(), answer === undefined ? {} : { isTTY: true });
  stdin.end(answer === undefined ? "" : `${answer}\n`);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const decider: Decider = {
    principal: OPERATOR,
    print: createPrint({ stdout }, {}),
    terminal: {
      stdin,
      stdout,
      stderr,
      cwd: "/",
      platform: "linux",
      start: ["node", "glovebox.js"],
      onInterrupt: () => () => undefined,
    },
    openWithoutPolicy: async () => ({
      openDesk: async () =>
        createDesk({
          approvals,
          store,
          rules: memoryRules().rules,
          hide: (text) => text,
          findChange: (asked) => findChange(store.pins, asked),
        }),
      [Symbol.asyncDispose]: async () => undefined,
    }),
    // Every poll takes a second of this clock, so that the test does not wait.
    powers: { now: () => (clock.at += 1_000) },
  };
  const read = (stream: PassThrough): string => String(stream.read() ?? "");
  return { decider, stdout: () => read(stdout), stderr: () => read(stderr) };
}

async function openPaused() {
  const queue = await openQueue(":memory:", { at: 1 }, { expiryMs: 1e9 });
  const opening = { id: executionOf(1), principal: AGENT.id, source: digestOf("x"), sourceText: "x", startedAt: 1 };
  await queue.store.executions.open(opening);
  return { queue, asked: await queue.request() };
}

describe("approve at a terminal", () => {
  for (const [answer, state, code] of [
    ["n", "pending", 1],
    ["", "pending", 1],
    ["yesterday", "pending", 1],
    ["y", "approved", 0],
    ["YES", "approved", 0],
  ] as const)
    test(`approve with the answer ${JSON.stringify(answer)} leaves the approval ${state}`, async () => {
      const { queue, asked } = await openPaused();
      await using _ = queue;
      const { decider, stderr } = contextOf(queue, answer);
      assert.equal(await decide(decider, asked.id, { verdict: "approve" }), code);
      assert.equal((await queue.approvals.find(asked.id))?.state, state);
      assert.match(stderr(), /"amount": 5[^]*Approve, for this call only\? \[y\/N\] /);
    });

  test("approve --yes neither shows nor asks, and a script sees the call without a prompt", async () => {
    const { queue, asked } = await openPaused();
    await using _ = queue;
    const typed = contextOf(queue, "n");
    assert.equal(await decide(typed.decider, asked.id, { verdict: "approve", yes: true }), 0);
    assert.equal(typed.stderr(), "");
    const second = await queue.request({ seq: 2 });
    const script = contextOf(queue);
    assert.equal(await decide(script.decider, second.id, { verdict: "approve" }), 0);
    assert.match(script.stderr(), /"amount": 5/);
    assert.doesNotMatch(script.stderr(), /\[y\/N\]/);
  });
});

test("approve warns if the tool has changed since, and not if another tool has", async () => {
  const { queue, asked } = await openPaused();
  await using _ = queue;
  const shown = async (): Promise<string> => {
    const { decider, stderr } = contextOf(queue, "n");
    await decide(decider, asked.id, { verdict: "approve" });
    return stderr();
  };
  await changeTool(queue, "shop", digestOf("another"));
  assert.doesNotMatch(await shown(), /warning/);
  await changeTool(queue, "shop", TOOL.digest);
  assert.match(await shown(), /\nwarning: since 1970-\S+ the server shop defines [^]*`glovebox servers`[^]*\[y\/N\] /);
});

describe("the outcome", () => {
  test("approve prints the state of the execution: running, waiting for others or for a gateway, ended, unknown", async () => {
    const { queue, asked } = await openPaused();
    await using _ = queue;
    const other = await queue.request({ seq: 2 });
    const unknown = await queue.request({ execution: 2 });
    const outcomeOf = async (id: string) => {
      const { decider, stdout } = contextOf(queue);
      await decide(decider, id, { verdict: "reject", note: "no", yes: true });
      return stdout().split("\n")[1];
    };
    const end = (state: "paused" | "completed") =>
      queue.store.executions.close(executionOf(1), { endedAt: 2, state, result: "{}" });
    const third = await queue.request({ seq: 3 });
    assert.equal(await outcomeOf(third.id), `${executionOf(1)}: running`);
    await end("paused");
    assert.equal(await outcomeOf(asked.id), `${executionOf(1)}: paused: 1 more of its calls wait for approval`);
    assert.match((await outcomeOf(other.id)) ?? "", /: paused: no gateway has resumed it yet; /);
    const last = await queue.request({ seq: 4 });
    await end("completed");
    assert.equal(await outcomeOf(last.id), `${executionOf(1)}: completed`);
    assert.equal(await outcomeOf(unknown.id), `${executionOf(2)}: is no longer known`);
  });
});
