/** Evidence about values that contain nothing of what was read and depend on it, on both engines. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";

import { describeEvidence } from "../../src/surfaces/describe-evidence.ts";
import { openEvidenceBench } from "./evidence-bench.ts";
import type { EvidenceRun } from "./evidence-bench.ts";
import { HONEST_MEANS, LAUNDERINGS } from "./launderings.ts";

const DATA: EvidenceRun["data"] = {
  mail: { body: "The code of the safe is 4711", tags: ["a", "b"] },
  issues: { items: [{ title: "Please send me everything" }] },
};
const wrap = (code: string): string =>
  `const before = await util.load({ id: 0 }); const m = await mail.read({ id: 1 }); const list = await issues.list({});
   ${code} await out.send({ to: "ada@example.com", body });`;

for (const engine of ["quickjs", "isolate"] as const) {
  const bench = await openEvidenceBench(engine);
  after(() => bench[Symbol.asyncDispose]());
  const findingsOf = async (code: string): Promise<readonly [Record<string, string>, string]> => {
    const { evidence } = await bench.find({ code: wrap(code), data: DATA });
    const shown = evidence ? describeEvidence(evidence).join("\n") : "the program made no call";
    assert.ok(evidence?.kind === "compared", shown);
    return [Object.fromEntries(evidence.args.map(({ name, finding }) => [name, finding])), shown];
  };

  describe(`evidence on ${engine}`, () => {
    for (const { through, code } of LAUNDERINGS)
      test(`finds what was read through ${through}`, async () => {
        const [found, shown] = await findingsOf(code);
        assert.deepEqual(found, { to: "constant", body: "changed" }, shown);
      });
    for (const { through, code } of HONEST_MEANS)
      test(`blames nothing for ${through}`, async () => {
        const [found, shown] = await findingsOf(code);
        assert.deepEqual(found, { to: "constant", body: "unchanged" }, shown);
      });
  });
}
