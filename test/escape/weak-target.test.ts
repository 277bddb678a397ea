/** Runs the same programs against a target without a sandbox: most must succeed, or the corpus would prove nothing. */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { plantCanaries } from "./fixtures/canaries.ts";
import { parseCorpus, toProgram } from "./fixtures/corpus.ts";
import type { Oracle } from "./fixtures/corpus.ts";

const TEETH = ["leak", "ambient", "path", "pollute", "state"] as const satisfies readonly Oracle[];
/** Of the cases whose success is visible without exceeding a limit. */
const LEAST_SHARE = 0.6;

interface Answer {
  readonly id: string;
  readonly said: readonly string[];
  readonly logs: readonly string[];
  readonly polluted: string;
}

type Sign = (answer: Answer) => boolean;
const hasCanary: Sign = ({ said }) => said.some((text) => /\b(?:HC|CE|CF|CN)-/.test(text));

/** How each oracle shows that a program succeeded. */
const SIGNS: Readonly<Record<(typeof TEETH)[number], Sign>> = {
  leak: hasCanary,
  ambient: hasCanary,
  path: ({ said }) => said.some((text) => /file:\/\/|node:internal|weak-target/.test(text)),
  pollute: ({ polluted }) => polluted === "yes",
  state: ({ said }) => said[1] === "P",
};

test("at least three in five of the quiet attacks succeed where objects are shared", async (context) => {
  await using canaries = await plantCanaries();
  const { prelude, cases } = parseCorpus();
  const chosen = cases.flatMap(({ id, oracle, code }) => {
    const tooth = TEETH.find((name) => name === oracle);
    return tooth ? [{ id, sign: SIGNS[tooth], program: toProgram(prelude, code, canaries) }] : [];
  });
  const target = fork(new URL("fixtures/weak-target.mjs", import.meta.url), {
    env: { ...process.env, WEAK_CANARY: "HC-weak" },
    execArgv: ["--no-warnings"],
  });
  context.after(() => target.kill("SIGKILL"));
  target.send(chosen.map(({ id, program }) => ({ id, program })));
  const [answers] = (await once(target, "message")) as [readonly Answer[]];

  const broken = chosen.filter(({ id, sign }) => answers.some((answer) => answer.id === id && sign(answer)));
  const held = chosen.filter((attack) => !broken.includes(attack)).map(({ id }) => id);
  context.diagnostic(`${broken.length} of ${chosen.length} break the weak target; it holds against ${held.join(" ")}`);
  assert.ok(broken.length >= chosen.length * LEAST_SHARE, `only ${broken.length} of ${chosen.length}`);
});
