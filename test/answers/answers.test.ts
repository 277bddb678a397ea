/** No program gets a wrong answer silently: it is refused or gets a finding, and right programs that look alike run. */

import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";

import { runSample } from "../types/corpus.ts";
import { FILES, RULES, openAnswers, readRight, readWrong, toVerdict } from "./corpus.ts";

/** Rules about a result that is already there: a right one has no finding of theirs. */
const ANSWER_RULES: ReadonlySet<string> = new Set(["undefined-result", "joined-object", "lost-entries"]);

const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-answers-")));
const glovebox = await openAnswers(folder);
after(async () => {
  await glovebox.close();
  rmSync(folder, { recursive: true });
});

for (const prefix of FILES) {
  describe(`the programs of ${prefix}wrong.txt and ${prefix}right.txt`, () => {
    it("tells what is wrong with every wrong program before anything is changed", async () => {
      const missed: unknown[] = [];
      for (const sample of readWrong(prefix)) {
        const { outcome, line, words, effects } = toVerdict(await runSample(glovebox, sample, folder));
        const isTold = outcome === sample.outcome && line === sample.line && sample.expected.test(words);
        if (!isTold || effects.length > 0) missed.push([sample.code, { outcome, line, words, effects }]);
      }
      assert.deepEqual(missed, []);
    });
    it("completes every right program without a finding about its answer", async () => {
      const troubled: unknown[] = [];
      for (const sample of readRight(prefix)) {
        const result = await runSample(glovebox, sample, folder);
        const said = result.findings.filter(({ rule }) => RULES.has(rule));
        const isSilent = said.every(({ rule, severity }) => severity !== "error" && !ANSWER_RULES.has(rule));
        if (result.state !== "completed" || !isSilent)
          troubled.push([sample.name, sample.code, result.error, result.findings]);
      }
      assert.deepEqual(troubled, []);
    });
  });
}
