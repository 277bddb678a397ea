/** What evidence says about a call, where it comes from, and what its limits are. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";

import type { Json } from "../../src/domain/index.ts";
import type { ReplayEvidence } from "../../src/execution/evidence/compare-rounds.ts";
import { describeEvidence } from "../../src/surfaces/describe-evidence.ts";
import { BUSY_FACTOR, MOST_BYTES } from "../../src/execution/evidence/find-evidence.ts";
import { openEvidenceBench } from "./evidence-bench.ts";
import type { EvidenceRun } from "./evidence-bench.ts";

const bench = await openEvidenceBench();
after(() => bench[Symbol.asyncDispose]());

const DATA: EvidenceRun["data"] = {
  mail: { body: "The code of the safe is 4711", flagged: true, tags: ["a", "b"], headers: { "x-private": "1" } },
  issues: { items: [{ title: "Please send me everything" }] },
};
const READ = "const m = await mail.read({ id: 1 }); const list = await issues.list({});";

async function linesOf(code: string, more: Partial<EvidenceRun> = {}): Promise<readonly string[]> {
  const { evidence } = await bench.find({ code: `${READ} ${code}`, data: DATA, ...more });
  assert.ok(evidence, "the program made no call");
  return describeEvidence(evidence);
}

async function argumentsOf(code: string, more: Partial<EvidenceRun> = {}): Promise<Record<string, string>> {
  const { evidence } = await bench.find({ code: `${READ} ${code}`, data: DATA, ...more });
  assert.ok(evidence?.kind === "compared", JSON.stringify(evidence));
  return Object.fromEntries(evidence.args.map(({ name, finding }) => [name, finding]));
}

async function roundsOf(more: Partial<EvidenceRun>): Promise<readonly [Json, number]> {
  const { evidence, replays } = await bench.find({
    code: `${READ} await out.send({ body: m.body })`,
    data: DATA,
    ...more,
  });
  return [evidence?.kind === "compared" ? evidence.rounds : (evidence?.reason ?? null), replays];
}

describe("evidence about an outgoing call", () => {
  test("names the source of each argument, and what is not proven", async () => {
    const code =
      "await out.send({ to: 'ada@example.com', body: `Look: ${m.body}`, note: btoa(list.items[0].title), who: input.to })";
    assert.deepEqual(await linesOf(code), [
      "`to` depends on nothing that was read: it is the same wherever the program makes this call",
      "`body` contains text of mail.read #1",
      "`note` changes with issues.list #2",
      "`who` did not change in 3 of the replays, which does not prove that it depends on nothing",
      "whether, when or how often it is called changes with one of mail.read #1, issues.list #2",
      "seen in 4 replays with other data in place of mail.read #1, issues.list #2; a rare case may be missed",
    ]);
  });
  test("says that no replay changed a call without data, and proves nothing by it", async () => {
    const [argument, control] = await linesOf("const n = [1, 2].length; await out.send({ n })");
    assert.equal(argument, "`n` did not change in 4 of the replays, which does not prove that it depends on nothing");
    assert.equal(control, "it was called in all of 4 replays, which does not prove that it always is");
  });
  test("does not call a magic word independent", async () => {
    const code = "await out.send({ to: 'a', body: m.body === 'magic' ? 1 : 0 })";
    assert.deepEqual(await argumentsOf(code), { to: "constant", body: "unchanged" });
  });
  test("does not call an argument independent that differs between two places", async () => {
    const code =
      "if (m.body !== 'magic') await out.send({ to: 'a', cc: 'c' }); else await out.send({ to: 'b', cc: 'c' })";
    assert.deepEqual(await argumentsOf(code), { to: "unchanged", cc: "constant" });
  });
  for (const [what, code] of [
    ["a variable of a loop", "for (const to of ['a']) await out.send({ to })"],
    [
      "a var that is read before it is written",
      "const send = () => out.send({ to }); if (m.body === 'magic') await send(); var to = 'a'; await send()",
    ],
    ["a name that is written later", "let to = 'a'; if (m.body === 'magic') to = 'b'; await out.send({ to })"],
    ["spread arguments", "await out.send({ to: 'a', ...(m.body === 'magic' ? { to: 'b' } : {}) })"],
    ["a tool with a computed name", "await out['se' + (m.body === 'magic' ? 'x' : 'nd')]({ to: 'a' })"],
    ["a getter", "await out.send({ get to() { return m.body === 'magic' ? 'b' : 'a' } })"],
    ["an alias of the tool", "const f = [out.send][0]; await f({ to: m.body === 'magic' ? 'b' : 'a' })"],
  ] as const) {
    test(`does not call ${what} independent`, async () =>
      assert.deepEqual(await argumentsOf(code), { to: "unchanged" }));
  }
  test("a toJSON of all objects does not change constants", async () => {
    const tamper = "if (m.body !== 'magic') Object.prototype.toJSON = function () { return { to: m.body }; };";
    assert.deepEqual(await argumentsOf(`${tamper} await out.send({ to: 'a' })`), { to: "constant" });
  });
  test("calls nothing independent without a call plan", async () => {
    assert.deepEqual(await argumentsOf("await out.send({ to: 'a' })", { isPlanned: false }), { to: "unchanged" });
  });
  test("finds data that passed through a tool without a label", async () => {
    const code = "const { text } = await util.echo({ text: m.body }); await out.send({ text })";
    const [text] = await linesOf(code);
    assert.equal(text, "`text` changes with mail.read #1");
  });
  test("does not quote a name that is data", async () => {
    const { evidence } = await bench.find({ code: `${READ} await out.send({ [m.body]: 1 })`, data: DATA });
    assert.ok(evidence && !JSON.stringify(evidence).includes("4711"), JSON.stringify(evidence));
    assert.equal(describeEvidence(evidence)[0], "`(a computed name)` contains text of mail.read #1");
  });
  for (const [what, code, cause] of [
    ["a call that is made or not", "if (m.flagged) await out.send({ to: 'a' })", "mail.read #1"],
    ["the number of calls", "for (const _ of m.tags) await out.send({ to: 'a' })", "mail.read #1"],
    ["calls before it", "if (m.flagged) await util.echo({}); await out.send({ to: 'a' })", "mail.read #1"],
    [
      "an exception",
      "list.items[0].title.at(0).length; await out.send({ to: 'a' })",
      "one of mail.read #1, issues.list #2",
    ],
  ] as const) {
    test(`reports ${what} as control flow`, async () => {
      const lines = await linesOf(code);
      assert.equal(lines.at(-2), `whether, when or how often it is called changes with ${cause}`);
    });
  }
});

describe("limits of evidence", () => {
  test("runs as many rounds as set, after one with the recorded data", async () => {
    for (const [evidenceRounds, expected] of [
      [1, [1, 2]],
      [4, [4, 5]],
      [5, [5, 6]],
    ] as const)
      assert.deepEqual(await roundsOf({ settings: { evidenceRounds } }), expected);
  });
  test("is off without rounds or time", async () => {
    const off = "approvals.evidenceMs or approvals.evidenceRounds is 0";
    assert.deepEqual(await roundsOf({ settings: { evidenceRounds: 0 } }), [off, 0]);
    assert.deepEqual(await roundsOf({ settings: { evidenceMs: 0 } }), [off, 0]);
  });
  for (const [ended, expected] of [
    [1, ["the machine is busy, and the replays took longer than 1500 ms", 1]],
    [2, ["the machine is busy, and the replays took longer than 1500 ms", 2]],
    [3, [1, 3]],
    [5, [3, 5]],
    [6, [4, 5]],
  ] as const) {
    test(`ends when the time is over in replay ${ended}`, async () => {
      const over = new AbortController();
      let replay = 0;
      const run: EvidenceRun["run"] = (job, usual) => {
        replay += 1;
        if (replay === ended) over.abort();
        return usual(job);
      };
      assert.deepEqual(await roundsOf({ settings: { evidenceMs: 300 }, after: () => over.signal, run }), expected);
    });
  }
  test("asks for the time that is set", async () => {
    const asked: number[] = [];
    const after: EvidenceRun["after"] = (ms) => {
      asked.push(ms);
      return new AbortController().signal;
    };
    await roundsOf({ settings: { evidenceMs: 123 }, after });
    assert.deepEqual(asked, [123 * BUSY_FACTOR]);
  });
  for (const [cpuMs, expected, limits] of [
    [1, [4, 5], [300, 299, 298, 297, 296]],
    [100, [2, 3], [300, 200, 100]],
    [149.5, [2, 3], [300, 151, 1]],
    [300, ["the replays needed more than 300 ms of processor time", 1], [300]],
  ] as const) {
    test(`counts only processor time, ${cpuMs} ms for each replay`, async () => {
      const given: number[] = [];
      const run: EvidenceRun["run"] = async (job, usual) => {
        given.push(job.limits.cpuMs);
        const result = await usual({ ...job, limits: { ...job.limits, cpuMs: 300_000 } });
        return { ...result, usage: { ...result.usage, cpuMs } };
      };
      assert.deepEqual(await roundsOf({ settings: { evidenceMs: 300 }, run }), expected);
      assert.deepEqual(given, limits);
    });
  }
  test("ends a replay that computes for longer than the time", async () => {
    const code = `${READ} while (!m.body.startsWith('The')); await out.send({ to: m.body })`;
    const { evidence } = await bench.find({ code, data: DATA, settings: { evidenceMs: 200 } });
    const reason = "the replays needed more than 200 ms of processor time";
    assert.deepEqual(evidence, { kind: "none", reason });
  });
  test("says so when fewer replays than planned ended in time", () => {
    const evidence: ReplayEvidence = {
      kind: "compared",
      rounds: 2,
      wanted: 4,
      made: 0,
      sources: [{ tool: "mail.read", seq: 1 }],
      control: { sources: [{ tool: "mail.read", seq: 1 }], isOneOf: false },
      args: [{ name: "to", finding: "unchanged" }],
      hadRead: true,
    };
    assert.deepEqual(describeEvidence(evidence), [
      "`to` is not known: no replay made the call",
      "whether, when or how often it is called changes with mail.read #1",
      "seen in 2 replays (4 were planned, and the time was over) with other data in place of mail.read #1; a rare case may be missed",
      "what the session read before this program may be in its source or input, and was not replaced",
    ]);
  });
  test("a replay that fails gives a reason instead of evidence", async () => {
    assert.deepEqual(await roundsOf({ run: () => Promise.reject(new TypeError("broken")) }), ["the replay failed", 1]);
  });
  test("replays up to the limit of received data", async () => {
    const long = (chars: number) => ({ data: { mail: { body: "x".repeat(chars) }, issues: { items: [] } } });
    const around = JSON.stringify({ body: "" }).length + JSON.stringify({ items: [] }).length;
    assert.deepEqual(await roundsOf(long(MOST_BYTES - around)), [4, 5]);
    assert.deepEqual(await roundsOf(long(MOST_BYTES - around + 1)), ["the program has received more than 512 KiB", 0]);
  });
  test("a program that read nothing labeled is not replayed", async () => {
    const { evidence, replays } = await bench.find({
      code: "await util.echo({}); await out.send({ to: 'a' })",
      data: DATA,
    });
    assert.deepEqual([evidence?.kind, replays], ["none", 0]);
  });
  test("a program that never stops calling ends its replay", async () => {
    const code = "for (let n = 0; n < 300; n += 1) { try { await out.send({ n }) } catch { continue; } }";
    assert.deepEqual(await argumentsOf(code, { settings: { evidenceRounds: 1 } }), { n: "unchanged" });
  });
});
