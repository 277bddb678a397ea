/** One program for each way in which the scenario tests use programs, and the reasons why some replays differ. */

import type { EngineName, Json, Limits } from "../../src/domain/index.ts";
import { REASONS } from "./difference-reasons.ts";
import type { Reason } from "./difference-reasons.ts";

export interface Sample {
  readonly code: string;
  readonly input?: Json;
  readonly limits?: Partial<Limits>;
  readonly dryRun?: boolean;
  /** Its approvals are rejected; otherwise all of them are approved. */
  readonly isRejected?: boolean;
  /** It is cancelled when it makes a call. */
  readonly isCancelled?: boolean;
  /** The expected state or error code. */
  readonly ending: "completed" | "paused" | "PROGRAM_THREW" | (string & {});
  /** By default, the replay is the same on every engine. */
  readonly reason?: (recordedOn: EngineName, shownOn: EngineName) => Reason | undefined;
}

const always = (reason: Reason) => (): Reason => reason;
/** Between QuickJS and the V8 engines. */
const betweenKinds = (reason: Reason) => (one: EngineName, other: EngineName) =>
  (one === "quickjs") === (other === "quickjs") ? undefined : reason;

/** Keyed by subject. The tools are those of the shop. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  "random values and time": {
    code: `
      console.log("begin", Date.now(), Math.random());
      const made = await shop.put({ n: Math.floor(Math.random() * 1e6) });
      return { made, at: new Date().toISOString(), id: crypto.randomUUID(), random: Math.random() };`,
    ending: "completed",
  },
  "parallel calls": {
    code: `
      const all = await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? shop.look({ n }) : shop.keep({ n }))));
      const settled = await Promise.allSettled([shop.look({ n: 5 }), shop.fail({ n: 6 })]);
      const first = await Promise.any([shop.fail({ n: 7 }), shop.look({ n: 8 })]);
      return [all, settled.map(({ status }) => status), first, await Promise.race([shop.look({ n: 9 }), 1])];`,
    ending: "completed",
  },
  timers: {
    code: `
      const ticks = [];
      for (const ms of [9, 3, 6]) setTimeout(() => ticks.push([ms, Date.now()]), ms);
      await new Promise((done) => setTimeout(done, 30));
      return ticks;`,
    ending: "completed",
  },
  "calls that are not awaited": {
    code: `void shop.put({ n: 1 }).catch(() => 0); return "gone";`,
    ending: "completed",
  },
  "an input and types": {
    code: `interface Order { readonly n: number }\nconst { n } = input as Order;\nreturn (await shop.look({ n })).n as number;`,
    input: { n: 3 },
    ending: "completed",
  },
  "every level of the log": {
    code: `for (const level of ["log", "info", "warn", "error", "debug"]) console[level](level, { a: [1, "x"] }, null);`,
    ending: "completed",
  },
  "strings of every kind": {
    code: `return ["\\u0000", "é", "\\ud83d\\ude00", "\\u2028", -0, 1e21, 0.1 + 0.2];`,
    ending: "completed",
  },
  "a large result": {
    code: `return Array.from({ length: 500 }, (_, n) => ({ n, text: "x".repeat(20) }));`,
    limits: { outputBytes: 2_000 },
    ending: "completed",
  },
  "a dry run": {
    code: `return [await shop.look({ n: 1 }), await shop.put({ n: 2 })];`,
    dryRun: true,
    ending: "completed",
  },
  "a person who approves": {
    code: `console.log(Math.random()); const [a, b] = await Promise.all([shop.pay({ n: 1 }), shop.look({ n: 2 })]); return [a, b, Date.now()];`,
    ending: "completed",
  },
  "a person who rejects": {
    code: `return await shop.pay({ n: 3 }).catch(({ name, code, message }) => [name, code, message]);`,
    isRejected: true,
    ending: "completed",
  },
  "an error of the program": {
    code: `await shop.look({ n: 1 });\nthrow new TypeError("no");`,
    ending: "PROGRAM_THREW",
  },
  "a thrown value that is not an error": { code: `throw { a: 1 };`, ending: "PROGRAM_THREW" },
  "an error of the engine": {
    code: `const nothing = JSON.parse("null");\nreturn nothing.field;`,
    ending: "PROGRAM_THREW",
    reason: betweenKinds(REASONS.engineWords),
  },
  "a tool that fails": { code: `await shop.fail({ n: 1 });`, ending: "UPSTREAM_FAILED" },
  "a result that cannot be serialized": {
    code: `const a = {}; a.a = a; return a;`,
    ending: "PROGRAM_RESULT_UNSERIALIZABLE",
  },
  "no network": { code: `await fetch("http://127.0.0.1/");`, ending: "EGRESS_DENIED" },
  "too many calls": {
    code: `for (const n of [1, 2, 3]) await shop.look({ n });`,
    limits: { calls: 2 },
    ending: "LIMIT_CALLS",
  },
  "too much output": { code: `console.log("x".repeat(5_000));`, limits: { outputBytes: 2_000 }, ending: "LIMIT_SIZE" },
  "too much time": {
    code: `let n = 1; while (n > 0) n = (n % 7) + 1;`,
    limits: { wallMs: 300 },
    ending: "LIMIT_TIME",
    reason: always(REASONS.cutOff),
  },
  "a cancel": {
    code: `console.log("begun"); await shop.look({ n: 1 }); await new Promise(() => setTimeout(() => 0, 20_000));`,
    isCancelled: true,
    ending: "REQUEST_CANCELLED",
    reason: always(REASONS.cutOff),
  },
  "no program": { code: `const = 1`, ending: "PROGRAM_SYNTAX", reason: always(REASONS.neverBegan) },
};
