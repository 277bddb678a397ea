/** `glovebox usage`: what was used, from the ledger. */

import type { Command } from "commander";

import { isJsonObject } from "../../domain/index.ts";
import { HOUR_MS } from "../../timing/index.ts";
import type { LedgerLine } from "../gateway.ts";
import { sumUsage } from "../sum-usage.ts";
import { parseCount } from "./add-command.ts";
import type { Commands, Invocation } from "./add-command.ts";

const USUAL_HOURS = 24;
const BUCKETS = 48;
const CHARACTERS_PER_TOKEN = 4;

export function addUsage(program: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(program, "usage", "sum executions, calls, errors, times and tokens of the last hours", usage).option(
    "--hours <number>",
    `until now (default ${USUAL_HOURS})`,
    parseCount,
  );
}

async function usage({ flags, powers, readWithoutPolicy, print }: Invocation<{ readonly hours?: number }>) {
  await using stored = await readWithoutPolicy();
  const reader = stored.openReader();
  const records = async (query: Parameters<typeof reader.search>[0]) =>
    (await reader.search(query)).flatMap((record) => parseLine(record) ?? []);
  const until = powers.now();
  const range = { since: until - (flags.hours ?? USUAL_HOURS) * HOUR_MS, until, buckets: BUCKETS };
  const summed = await sumUsage(records, range);
  const { totals, tools, anomalies } = summed;
  const toTokens = (characters: number): string =>
    Math.round(characters / CHARACTERS_PER_TOKEN).toLocaleString("en-US");
  print(summed, [
    `${totals.executions} executions, ${totals.failed} failed; median ${totals.p50Ms} ms, 95 % within ${totals.p95Ms} ms`,
    `${totals.calls} calls, ${totals.callErrors} errors, ${totals.asked} waited for a person`,
    `${toTokens(totals.readCharacters)} tokens were read by programs, ${toTokens(totals.returnedCharacters)} were returned`,
    ...tools.map(
      ({ tool, calls, errors, p95Ms }) => `  ${tool}: ${calls} calls, ${errors} errors, 95 % within ${p95Ms} ms`,
    ),
    ...anomalies.map(({ at, kind, subject }) => `  ! ${new Date(at).toISOString()} ${kind}: ${subject}`),
  ]);
}

/** Nothing for a damaged record: `audit verify` reports it. */
function parseLine(record: Readonly<Record<string, unknown>>): LedgerLine | undefined {
  const { seq, at, actor, action, subject, detail, previous, digest } = record;
  const texts = [actor, action, subject, previous, digest];
  const isWhole = typeof seq === "number" && typeof at === "number" && texts.every((text) => typeof text === "string");
  if (!isWhole || !isJsonObject(detail)) return undefined;
  const [who = "", what = "", about = "", before = "", own = ""] = texts.map(String);
  return { seq, at, actor: who, action: what, subject: about, detail, previous: before, digest: own };
}
