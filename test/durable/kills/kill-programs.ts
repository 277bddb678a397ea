/** Generated programs for gateways that are killed, and what each comes to when nothing disturbs it. */

import { digestOf } from "../../../src/text/index.ts";
import { random, randomUuid, seedRandom } from "../../../guest/clock.ts";
import type { Digest } from "../../../src/domain/index.ts";
import type { TapeStart } from "../../../src/sandbox/index.ts";
import { makeProgram, numbersFrom } from "../generate-program.ts";
import { FACTOR } from "./mcp-shop-server.ts";

/** What these come to depends on the order of answers, which only their journal knows. */
export function isOrdered(seed: number): boolean {
  return seed % 3 === 0;
}

/** The other half makes only calls that may be made again, so that no kill ends it. */
function isRepeatable(seed: number): boolean {
  return seed % 2 === 0;
}

/** Whoever waits for people takes longer than all others together: every other program does not. */
function needsApproval(seed: number): boolean {
  return seed % 4 < 2;
}

/** Its calls carry its own number, by which the shop tells programs apart. */
export function makeKillProgram(seed: number): string {
  const code = makeProgram(numbersFrom(1_000 + seed), { isOrdered: isOrdered(seed) });
  const own = code.replaceAll("({ n:", `({ p: ${seed}, n:`);
  const gentle = isRepeatable(seed) ? rename(own, { put: "keep", pay: "peek", fail: "miss" }) : own;
  return `// program ${seed}\n${needsApproval(seed) ? gentle : rename(gentle, { pay: "put", peek: "look" })}`;
}

function rename(code: string, names: Readonly<Record<string, string>>): string {
  return Object.entries(names).reduce((text, [from, to]) => text.replaceAll(`shop.${from}(`, `shop.${to}(`), code);
}

export function seedOf(source: string): number {
  return Number(/^\/\/ program (\d+)\n/.exec(source)?.[1]);
}

/** Of a request as the shop has it, as journals have it. */
export function digestOfRequest(request: string): Digest {
  const [operation, p, n] = request.split(" ");
  return digestOf(`shop.${operation}\n{"p":${p},"n":${n}}`);
}

type Argument = { readonly n: number };
const answer = async ({ n }: Argument): Promise<Argument> => ({ n: n * FACTOR });
const fail = async (): Promise<never> => {
  throw Object.assign(new Error("It failed"), { code: "UPSTREAM_FAILED" });
};
const SHOP = { look: answer, peek: answer, put: answer, pay: answer, keep: answer, fail, miss: fail };

let turn: Promise<unknown> = Promise.resolve();

/** Runs it here, without a gateway, from the same beginning of chance and time. */
export async function computeExpectedValue(seed: number, start: TapeStart): Promise<unknown> {
  const foreseen = turn.then(() => runAlone(seed, start)); // chance is one row of numbers for all
  turn = foreseen.catch(() => undefined);
  return foreseen;
}

async function runAlone(seed: number, { seed: chance, atMs }: TapeStart): Promise<unknown> {
  seedRandom(chance);
  const own = {
    shop: SHOP,
    Math: { floor: Math.floor, random },
    Date: { now: () => atMs },
    crypto: { randomUUID: randomUuid },
    setTimeout: (done: () => void) => setImmediate(done),
    console: { log: () => undefined },
  };
  const run = new AsyncFunction(...Object.keys(own), makeKillProgram(seed));
  return await run(...Object.values(own));
}

const AsyncFunction = (async () => undefined).constructor as new (
  ...parts: readonly string[]
) => (...args: readonly unknown[]) => Promise<unknown>;
