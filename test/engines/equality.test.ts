/**
 * Programs do the same on two engines: the same value, calls and logs, byte for byte. Every difference between `isolate`
 * and `quickjs` is listed by name, and each is guarded or documented in docs/reference/engines.md.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { analyze } from "../../src/analysis/index.ts";
import { DEFAULT_LIMITS } from "../../src/domain/index.ts";
import type { Program } from "../../src/domain/index.ts";
import { readPrograms } from "./corpus.ts";
import type { CorpusProgram } from "./corpus.ts";
import { readDifferences } from "./differences.ts";
import { openGuarded } from "./run-guarded.ts";
import { openRunner } from "./run-programs.ts";
import type { Outcome, Runner } from "./run-programs.ts";

/** `all`, or one of so many programs beside those with a known difference. */
const SHARE = process.env["EQUALITY_PROGRAMS"] === "all" ? 1 : 25;
/** Steps at which programs are made to change their engine. */
const SWITCHES = [0, 1, 2, 5, 11];

const differences = readDifferences();
const known = new Map(differences.flatMap(({ programs, ...one }) => programs.map((name) => [name, one] as const)));
const all = readPrograms();
const chosen = all.filter(({ name }, index) => known.has(name) || index % SHARE === 0);

function routeOf({ code, namespaces }: CorpusProgram): Program["route"] {
  const surface = { namespaces: [] };
  const analyzed = analyze(code, surface, { limits: DEFAULT_LIMITS, enabled: false, blockOnError: false, rules: {} });
  assert.ok(analyzed.ok || namespaces.length > 0, code);
  return analyzed.ok ? analyzed.program.route : undefined;
}

describe("the equality corpus", () => {
  const expected = new Map<string, Outcome>();
  const runners: Runner[] = [];
  const isAsExpected = (program: CorpusProgram, outcome: Outcome): boolean =>
    JSON.stringify(outcome) === JSON.stringify(expected.get(program.name));
  before(async () => {
    const reference = await openRunner("isolate");
    runners.push(reference);
    for (const program of chosen) expected.set(program.name, await reference.run(program));
  });
  after(async () => {
    for (const runner of runners) await runner[Symbol.asyncDispose]();
  });

  test("the corpus has at least 2,000 programs with names of their own", () => {
    assert.ok(all.length >= 2_000, `${all.length} programs`);
    assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  });

  test("every listed difference is of a program in the corpus", () => {
    const names = new Set(all.map(({ name }) => name));
    assert.deepEqual(
      [...known.keys()].filter((name) => !names.has(name)),
      [],
    );
  });

  test("programs do the same on isolate and quickjs, except for the listed differences", async (context) => {
    const candidate = await openRunner("quickjs");
    runners.push(candidate);
    const [unlisted, gone]: [string[], string[]] = [[], []];
    for (const program of chosen) {
      const isEqual = isAsExpected(program, await candidate.run(program));
      if (isEqual === known.has(program.name)) (isEqual ? gone : unlisted).push(program.name);
    }
    context.diagnostic(`${chosen.length} of ${all.length} programs, ${known.size} with a listed difference`);
    assert.deepEqual({ unlisted, gone }, { unlisted: [], gone: [] });
  });

  test("programs do the same on isolate and auto, except for the documented differences", async () => {
    const candidate = await openRunner("auto");
    runners.push(candidate);
    const different: string[] = [];
    for (const program of chosen) {
      if (isAsExpected(program, await candidate.run(program, routeOf(program)))) continue;
      if (known.get(program.name)?.handling !== "documented") different.push(program.name);
    }
    assert.deepEqual(different, []);
  });

  test("programs that are made to change their engine do the same, except for the documented differences", async () => {
    const different: string[] = [];
    for (const [index, step] of SWITCHES.entries()) {
      const candidate = await openRunner("auto", step);
      runners.push(candidate);
      for (const program of chosen.filter((_, at) => at % SWITCHES.length === index)) {
        if (isAsExpected(program, await candidate.run(program, routeOf(program)))) continue;
        if (known.get(program.name)?.handling !== "documented") different.push(`${program.name}, step ${step}`);
      }
    }
    assert.deepEqual(different, []);
  });

  test("a program that differs in QuickJS asks for V8 first, or its text does, or the difference is documented", async () => {
    const run = openGuarded();
    const wrong: string[] = [];
    for (const program of chosen) {
      const { hasAsked, ...outcome } = await run(program);
      const isEqual = isAsExpected(program, outcome);
      const handling = known.get(program.name)?.handling;
      const isHandled = {
        guarded: hasAsked || isEqual,
        static: routeOf(program) === "isolate",
        documented: !hasAsked && !isEqual,
        none: isEqual || hasAsked,
      };
      if (!isHandled[handling ?? "none"]) wrong.push(`${handling}: ${program.name}`);
    }
    assert.deepEqual(wrong, []);
  });

  test("docs/reference/engines.md has one row for every difference, with its handling", () => {
    const text = readFileSync(new URL("../../docs/reference/engines.md", import.meta.url), "utf8");
    const rows = [...text.matchAll(/^\| `([a-z-]+)` \| (static|guarded|documented) \|/gm)].map(
      ([, name, handling]) => ({ name, handling }),
    );
    assert.deepEqual(
      rows,
      differences.map(({ name, handling }) => ({ name, handling })),
    );
  });
});
