/** `glovebox doctor`: checks the installation and names the remedy for each problem. */

import type { LedgerVerdict } from "../../ledger/index.ts";
import type { Settings } from "../../config/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { ExecutionResult, IsolationLayer, Principal } from "../../domain/index.ts";
import type { ExportRow } from "../../store/index.ts";
import type { Gateway } from "../gateway.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers } from "./powers.ts";
import { countOf, printJson, printLine } from "./print.ts";

export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  readonly hint?: string;
}

/** For an upstream that is not ready and has not failed either. */
const SLOW_HINT = "It has not answered yet: run the same command by hand to find the cause, or wait and try again";

/** Larger ledgers are not verified here, because that takes too long. */
const MOST_CHECKED = 200_000;
/** Grace period for records that the check itself has just written. */
const BEHIND_MS = 10_000;
const SUSPECT_HINT = "Compare it with an export or a backup from elsewhere";
const EXPORT_HINT = "Glovebox retries automatically; check `audit.export`";

const SIGNS = { ok: "ok      ", warning: "warning ", failed: "FAILED  " } as const;

export async function doctorCommand(
  flags: { readonly config?: string; readonly json?: boolean },
  { powers, principal }: { powers: CliPowers; principal: Principal },
): Promise<number> {
  const checks = await examine(flags.config, powers, principal);
  const { stdout } = powers.terminal;
  if (flags.json) printJson(stdout, { version: powers.version, checks });
  else for (const check of checks) printLine(stdout, formatCheck(check));
  return checks.some(({ state }) => state === "failed") ? EXIT.failed : EXIT.done;
}

async function examine(config: string | undefined, powers: CliPowers, principal: Principal): Promise<readonly Check[]> {
  const node: Check = { name: "node", state: "ok", message: `Node ${powers.nodeVersion}` };
  const settings = await attempt("configuration", () => powers.loadSettings(config));
  if (!settings.ok) return [node, settings.check];
  const read: Check = { name: "configuration", state: "ok", message: describeSource(settings.value) };
  const opened = await attempt("store", () => powers.openGateway(settings.value));
  if (!opened.ok) return [node, read, opened.check];
  await using gateway = opened.value;
  const store: Check = { name: "store", state: "ok", message: settings.value.store.path };
  // Upstreams first: the self-test makes failed ones retry, which clears their cause.
  const upstreams = await examineUpstreams(gateway, principal);
  const sandbox = await examineSandbox(gateway, principal);
  return [node, read, store, ...sandbox, ...upstreams, ...(await examineLedger(settings.value, powers))];
}

/** Checks the ledger and the progress of its exports. */
async function examineLedger(settings: Settings, powers: CliPowers): Promise<readonly Check[]> {
  await using records = await powers.readRecords(settings);
  const reader = records.openReader();
  const last = await reader.last();
  const ledger = last > MOST_CHECKED ? describeLong(last) : describeLedger(await reader.verify());
  const rows = await reader.exports();
  const place = { last, now: powers.now() };
  const exports = settings.audit.exports.map(({ id }) => {
    const row = rows.find((one) => one.id === id);
    return describeExport(id, row, place);
  });
  return [ledger, ...exports];
}

function describeLedger(verdict: LedgerVerdict): Check {
  if (verdict.ok) return { name: "ledger", state: "ok", message: `${verdict.records} records, all intact` };
  return { name: "ledger", state: "failed", message: `record ${verdict.seq}: ${verdict.problem}`, hint: SUSPECT_HINT };
}

function describeLong(last: number): Check {
  return { name: "ledger", state: "ok", message: `${last} records; \`glovebox audit verify\` checks them` };
}

function describeExport(
  id: string,
  row: ExportRow | undefined,
  { last, now }: { readonly last: number; readonly now: number },
): Check {
  const { cursor = 0, failure = null, sentAt = null } = row ?? {};
  const message = `${cursor} of ${last} records sent`;
  if (failure === null && cursor < last && now - (sentAt ?? 0) > BEHIND_MS)
    return { name: `export ${id}`, state: "warning", message: `${message}; it is behind`, hint: EXPORT_HINT };
  if (failure === null) return { name: `export ${id}`, state: "ok", message };
  return { name: `export ${id}`, state: "failed", message: `${message}; ${failure}`, hint: EXPORT_HINT };
}

type Attempted<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly check: Check };

async function attempt<T>(name: string, act: () => Promise<T>): Promise<Attempted<T>> {
  try {
    return { ok: true, value: await act() };
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError)) throw thrown;
    const { hint } = thrown.details;
    return {
      ok: false,
      check: {
        name: thrown.code === "SANDBOX_UNAVAILABLE" ? "sandbox" : name,
        state: "failed",
        message: thrown.message,
        ...(hint !== undefined && { hint }),
      },
    };
  }
}

function describeSource({ source, upstreams }: Settings): string {
  const from = source.kind === "file" ? source.path : "built in, with the demo upstreams";
  return `${from} (${upstreams.size} upstreams)`;
}

/** A self-test in a real isolate, because nothing else proves that programs run. */
async function examineSandbox(gateway: Gateway, principal: Principal): Promise<readonly Check[]> {
  const result = await gateway.execute({ principal, source: "return 6 * 7" });
  const sandbox: Check =
    result.value === 42
      ? { name: "sandbox", state: "ok", message: `${result.engine} engine ran a program in ${result.stats.wallMs} ms` }
      : { name: "sandbox", state: "failed", message: result.error?.message ?? "a program returned the wrong result" };
  return [sandbox, describeIsolation(result.isolation), ...gateway.health().layers.map(toCheck)];
}

const LEVELS: Readonly<Record<ExecutionResult["isolation"], string>> = {
  strict: "strict: a fresh realm in a process with every layer of confinement",
  confined: "confined: a fresh realm in a process with some layers of confinement",
  process:
    "process: a fresh realm in a process without confinement; a flaw in the engine would reach what this account can",
};

function describeIsolation(level: ExecutionResult["isolation"]): Check {
  return { name: "isolation", state: level === "strict" ? "ok" : "warning", message: LEVELS[level] };
}

function toCheck({ name, present, message, hint }: IsolationLayer): Check {
  return { name: `layer ${name}`, state: present ? "ok" : "warning", message, ...(hint !== undefined && { hint }) };
}

async function examineUpstreams(gateway: Gateway, principal: Principal): Promise<readonly Check[]> {
  const { servers } = await gateway.search(principal, { limit: 1 });
  return servers.map(({ name, state, tools, cause, hint }) =>
    state === "ready"
      ? { name: `upstream ${name}`, state: "ok", message: countOf(tools, "tool"), ...(hint !== undefined && { hint }) }
      : { name: `upstream ${name}`, state: "failed", message: cause ?? state, hint: hint ?? SLOW_HINT },
  );
}

function formatCheck({ name, state, message, hint }: Check): string {
  return `${SIGNS[state]}${name}: ${message}${hint === undefined ? "" : `\n        hint: ${hint}`}`;
}
