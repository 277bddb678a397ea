/**
 * QuickJS programs share an instance that is reset between them. After every program, whatever it did, all memory that
 * the next one gets is equal to the image.
 */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { PRESSURE_ATTACKS } from "./attacks/pressure.ts";
import { REALM_ATTACKS } from "./attacks/realm.ts";
import { TAMPER_ATTACKS } from "./attacks/tamper.ts";
import { parseBadSources, parseCorpus, toProgram } from "./fixtures/corpus.ts";
import type { Proof, ProofRequest } from "./fixtures/prove-reset.ts";
import { makeUntidyProgram } from "./fixtures/untidy-programs.ts";

/** Set `RESET_PROGRAMS=10000` for a longer run. */
const PROGRAMS = Number(process.env["RESET_PROGRAMS"] ?? 500);
/** The engine's flags, so that the stack of the process ends where it does in a child. */
const FLAGS = ["--no-warnings", "--stack-size=3900", "--expose-gc"];
/** Programs of the corpus may be endless. Most that cannot be interrupted are ended from outside, with their memory. */
const HOSTILE = { wallMs: 200, patienceMs: 2_000 };
/** Untidy programs end by themselves, also on a busy machine. */
const UNTIDY = { wallMs: 120_000, patienceMs: 240_000 };
/** Enough to prove something; on a busy machine more programs reach their time limit, which drops the instance. */
const LEAST_REUSED = 20;
const NOTHING_HERE = { port: 9, file: "/nothing" };
/** Opens one more realm, so that the memory after the last program is compared too. */
const LAST = "return 1";

type Outcome = Proof | "killed";
type Patience = typeof HOSTILE;

class Prover {
  #process: ChildProcess | undefined;

  async prove(code: string, { wallMs, patienceMs }: Patience): Promise<Outcome> {
    const process = (this.#process ??= fork(fileURLToPath(new URL("./fixtures/prove-reset.ts", import.meta.url)), {
      execArgv: FLAGS,
    }));
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const timer = setTimeout(() => {
      this.end();
      resolve("killed");
    }, patienceMs);
    const gone = (): void => reject(new Error(`The process ended with the program ${code}`));
    process.once("exit", gone);
    process.once("message", (proof) => resolve(parseProof(proof)));
    process.send({ code, wallMs } satisfies ProofRequest);
    return promise.finally(() => {
      clearTimeout(timer);
      process.off("exit", gone).removeAllListeners("message");
    });
  }

  end(): void {
    this.#process?.removeAllListeners("exit").kill("SIGKILL");
    this.#process = undefined;
  }
}

function parseProof(message: unknown): Proof {
  return message as Proof;
}

async function proveAll(prover: Prover, programs: readonly string[], patience: Patience): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const program of [...programs, LAST]) outcomes.push(await prover.prove(program, patience));
  return outcomes;
}

function summarize(programs: readonly string[], outcomes: readonly Outcome[]) {
  const proofs = outcomes.filter((outcome) => outcome !== "killed");
  return {
    differing: outcomes.flatMap((outcome, index) =>
      outcome !== "killed" && outcome.differsAt !== null ? [`${outcome.differsAt} after: ${programs[index - 1]}`] : [],
    ),
    reused: proofs.filter(({ isReused }) => isReused).length,
    killed: outcomes.length - proofs.length,
    endings: Object.groupBy(proofs, ({ ending }) => ending),
  };
}

describe("the memory of the next program", () => {
  const prover = new Prover();
  after(() => prover.end());

  test("every program of the escape corpus leaves the memory of the image to the next program", async (context) => {
    const { prelude, cases } = parseCorpus();
    const attacks = [...REALM_ATTACKS, ...TAMPER_ATTACKS, ...PRESSURE_ATTACKS];
    const programs = [
      ...cases.map(({ code }) => toProgram(prelude, code, NOTHING_HERE)),
      ...parseBadSources().map(({ code }) => toProgram(prelude, `const read = () => "";\n${code}`, NOTHING_HERE)),
      ...attacks.map(({ code }) => toProgram("", code, NOTHING_HERE)),
    ];
    const { differing, reused, killed } = summarize(programs, await proveAll(prover, programs, HOSTILE));
    context.diagnostic(`${programs.length} programs, ${reused} in a reset instance, ${killed} ended from outside`);
    assert.deepEqual(differing, []);
    assert.ok(reused > LEAST_REUSED, `${reused} of ${programs.length}`);
  });

  test(`${PROGRAMS} untidy programs leave the memory of the image to the next program`, async (context) => {
    const programs = Array.from({ length: PROGRAMS }, (_, seed) => makeUntidyProgram(seed));
    const { differing, reused, killed, endings } = summarize(programs, await proveAll(prover, programs, UNTIDY));
    const counts = Object.entries(endings).map(([ending, proofs]) => `${ending}: ${proofs?.length}`);
    context.diagnostic(`${reused} in a reset instance, ${killed} ended from outside; endings ${counts.join(", ")}`);
    assert.deepEqual(differing, []);
    assert.ok(reused > PROGRAMS / 2, `${reused} of ${PROGRAMS}`);
  });
});
