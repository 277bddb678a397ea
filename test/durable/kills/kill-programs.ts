/** Generated programs for gateways that are killed, and the result of each without a kill. */

import { digestOf } from "../../../src/text/index.ts";
import { random, randomUuid, seedRandom } from "../../../guest/clock.ts";
import type { Digest } from "../../../src/domain/index.ts";
import type { TapeStart } from "../../../src/sandbox/index.ts";
import { makeProgram, numbersFrom } from "../generate-program.ts";
import { FACTOR } from "./mcp-shop-server.ts";

/** Their results depend on the order of responses, which only the journal has. */
export function isOrdered(seed: number): boolean {
  return seed % 3 === 0;
}

/** Half of the programs make only repeatable calls, so that no kill ends them. */
function isRepeatable(seed: number): boolean {
  return seed % 2 === 0;
}

/** Waiting for approvals takes longer than everything else, so only half of the programs need them. */
function needsApproval(seed: number): boolean {
  return seed % 4 < 2;
}

/** Its calls contain its number, so that the shop can attribute them. */
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

/** The digest in journals of a request as the shop records it. */
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

/** Runs the program in this process, without a gateway, from the same time and random seed. */
export async function computeExpectedValue(seed: number, start: TapeStart): Promise<unknown> {
  const foreseen = turn.then(() => runAlone(seed, start)); // all programs share one random generator
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
