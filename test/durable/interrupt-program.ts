/**
 * Runs one program in a real isolate, and again from every point at which it could have been interrupted: with the
 * deliveries until then, and a host that answers later calls in the same order.
 */

import { setTimeout as wait } from "node:timers/promises";

import { DEFAULT_LIMITS, parseConnectorId, parsePrincipalId } from "../../src/domain/index.ts";
import type { Reply } from "../../src/domain/index.ts";
import type { Delivery, GuestHost, Sandbox, SandboxResult, TapeStart } from "../../src/sandbox/index.ts";
import { programOf } from "../../src/sandbox/fixtures/test-sandbox.ts";

const TOOLS = ["look", "peek", "put", "keep", "pay", "fail"];
const NEVER = new AbortController().signal;

/** The deliveries of a whole run, and its result. */
export interface RecordedRun {
  readonly code: string;
  readonly start: TapeStart;
  readonly given: readonly Delivery[];
  /** By call number: the address and the arguments as a string. */
  readonly asked: ReadonlyMap<number, string>;
  readonly value: string;
  /** The log lines, in which programs print the time. */
  readonly logs: readonly string[];
}

/** Records the first run; responses arrive in any order. */
export async function recordRun(sandbox: Sandbox, code: string): Promise<RecordedRun> {
  const asked = new Map<number, string>();
  const host: GuestHost = {
    async call(address, args, id) {
      asked.set(id, `${String(address)} ${String(args)}`);
      await wait(id % 3);
      return answerTo(address, args);
    },
  };
  const { started, given, ran } = await runWithTape(sandbox, code, { host, past: [] });
  if (!started) throw new Error("The program did not start");
  return { code, start: started, given, asked, value: describe(ran), logs: logsOf(ran) };
}

/** Returns the differences in a run that was interrupted after `cut` deliveries; empty if there are none. */
export async function findDifferences(
  sandbox: Sandbox,
  recorded: RecordedRun,
  cut: number,
): Promise<readonly string[]> {
  const past = recorded.given.slice(0, cut);
  const order = recorded.given.slice(cut);
  const answered = new Set(past.flatMap(({ kind, id }) => (kind === "tick" ? [] : [id])));
  const conductor = createAnswerOrder(order);
  const wrong: string[] = [];
  const made = new Set<number>();
  const host: GuestHost = {
    async call(address, args, id) {
      const text = `${String(address)} ${String(args)}`;
      if (answered.has(id) || made.has(id)) wrong.push(`call ${id} is made again`);
      if (recorded.asked.get(id) !== text) wrong.push(`call ${id} is ${text}, not ${recorded.asked.get(id)}`);
      made.add(id);
      await conductor.turnOf(id);
      return answerTo(address, args);
    },
  };
  const { start, code } = recorded;
  const { ran } = await runWithTape(sandbox, code, { host, start, past, keep: (delivery) => conductor.note(delivery) });
  const value = describe(ran);
  if (value !== recorded.value) wrong.push(`${value} instead of ${recorded.value}`);
  const [logs, told] = [logsOf(ran).join(), recorded.logs.join()];
  // Earlier deliveries keep their recorded time; later ones have the current time.
  if (cut === recorded.given.length && logs !== told) wrong.push(`said ${logs} instead of ${told}`);
  return wrong.map((what) => `after ${cut} of ${recorded.given.length}: ${what}`);
}

interface SandboxInput {
  readonly host: GuestHost;
  readonly start?: TapeStart;
  readonly past: readonly Delivery[];
  readonly keep?: (delivery: Delivery) => void;
}

async function runWithTape(sandbox: Sandbox, code: string, { host, start, past, keep }: SandboxInput) {
  const given: Delivery[] = [];
  let started: TapeStart | undefined;
  const shop = parseConnectorId("shop");
  const principal = parsePrincipalId("agent");
  if (!shop || !principal) throw new TypeError("A test made a value that does not parse");
  const ran = await sandbox.run({
    program: programOf(code),
    namespaces: [{ name: "shop", connector: shop, summary: "", tools: TOOLS }],
    limits: DEFAULT_LIMITS,
    host,
    principal,
    signal: NEVER,
    tape: {
      ...(start && { start }),
      past,
      began: (at) => void (started = at),
      repeat: () => undefined,
      keep(delivery) {
        given.push(delivery);
        keep?.(delivery);
        return undefined;
      },
    },
  });
  return { started, given, ran };
}

/** Answers calls in the order of an earlier run. */
function createAnswerOrder(order: readonly Delivery[]) {
  const left = new Map(order.map((delivery, place) => [nameOf(delivery), place] as const));
  const waiting: { readonly id: number; readonly resolve: () => void }[] = [];
  const look = (): void => {
    for (const { id, resolve } of waiting) {
      const place = left.get(`call ${id}`);
      // A call without a response in the first run has none now: its program ends before.
      if (place !== undefined && [...left.values()].every((other) => other >= place)) resolve();
    }
  };
  return {
    turnOf: (id: number): Promise<void> =>
      new Promise((resolve) => {
        waiting.push({ id, resolve });
        look();
      }),
    note(delivery: Delivery): void {
      left.delete(nameOf(delivery));
      look();
    },
  };
}

function nameOf({ kind, id }: Delivery): string {
  return `${kind === "tick" ? "timer" : "call"} ${id}`;
}

function answerTo(address: unknown, args: unknown): Reply {
  const { n } = JSON.parse(String(args)) as { readonly n: number };
  if (address === "shop.fail") {
    return { ok: false, error: { code: "UPSTREAM_FAILED", message: "It failed", retry: false } };
  }
  return { ok: true, json: JSON.stringify({ n: n * 7 }) };
}

/** Describes any ending. */
function describe({ ending }: SandboxResult): string {
  return JSON.stringify(ending.kind === "failed" ? [ending.error.code, ending.error.message] : ending);
}

function logsOf({ logs }: SandboxResult): readonly string[] {
  return logs.map(({ level, text }) => `${level} ${text}`);
}
