/** Generated programs that launder data: no argument that depends on data is reported as independent of it. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";

import type { ReplayEvidence } from "../../src/execution/evidence/compare-rounds.ts";
import { describeEvidence } from "../../src/surfaces/describe-evidence.ts";
import { openEvidenceBench } from "./evidence-bench.ts";
import { createChoices, generateData, generateFlow } from "./generate-flow.ts";
import type { GeneratedFlow } from "./generate-flow.ts";

const PROGRAMS = Number(process.env["EVIDENCE_PROGRAMS"] ?? 100);

const bench = await openEvidenceBench();
after(() => bench[Symbol.asyncDispose]());

/** Of a linear congruential generator, so that every run has the same programs. */
function drawNumbers(seed: number, count: number): readonly number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state >>> 8;
  });
}

/** What is false about the evidence; empty if nothing is. */
function findFalse({ args, control }: GeneratedFlow, evidence: ReplayEvidence | undefined): readonly string[] {
  if (!evidence) return control === "none" ? ["the program made no call"] : [];
  if (evidence.kind === "none") return [evidence.reason];
  const missed = control === "data" && !evidence.control ? ["the call itself"] : [];
  const wrong = Object.entries(args).flatMap(([name, depends]) => {
    const finding = evidence.args.find((one) => one.name === name)?.finding ?? "absent";
    const isFalse = depends === "none" ? finding === "changed" : finding === "constant" || finding === "absent";
    const isMissed = depends === "data" && evidence.made > 0 && finding !== "changed";
    return isFalse || isMissed ? [`${name} (${depends}) is reported as ${finding}`] : [];
  });
  return [...missed, ...wrong];
}

describe("evidence about generated programs", () => {
  test(`is true of ${PROGRAMS} programs that launder what they read`, async () => {
    const seen = { changed: 0, unchanged: 0, constant: 0 };
    const counts = { changed: 0, missed: 0 };
    for (let program = 1; program <= PROGRAMS; program += 1) {
      const flow = generateFlow(drawNumbers(program * 7_919, 40));
      const data = generateData(createChoices(drawNumbers(program * 104_729, 60)));
      const { evidence } = await bench.find({ code: flow.code, data });
      const shown = `program ${program}\n${flow.code}\n${evidence ? describeEvidence(evidence).join("\n") : ""}`;
      assert.deepEqual(findFalse(flow, evidence), [], shown);
      if (evidence?.kind !== "compared") continue;
      for (const { name, finding } of evidence.args) {
        seen[finding] += 1;
        if (flow.args[name] === "count") counts[finding === "changed" ? "changed" : "missed"] += 1;
      }
    }
    assert.ok(counts.changed > 8 * counts.missed, JSON.stringify(counts));
    for (const [finding, count] of Object.entries(seen)) assert.ok(count >= PROGRAMS / 5, `${finding}: ${count}`);
  });
  test("calls nothing independent without a call plan", async () => {
    for (let program = 1; program <= 10; program += 1) {
      const flow = generateFlow(drawNumbers(program * 7_919, 40));
      const data = generateData(createChoices(drawNumbers(program * 104_729, 60)));
      const { evidence } = await bench.find({ code: flow.code, data, isPlanned: false });
      const args = evidence?.kind === "compared" ? evidence.args : [];
      assert.ok(!args.some(({ finding }) => finding === "constant"), flow.code);
    }
  });
});
