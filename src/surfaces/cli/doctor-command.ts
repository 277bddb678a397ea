/** `glovebox doctor`: checks the installation and names the remedy for each problem. */

import type { Command } from "commander";

import type { Settings } from "../../config/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type { ExecutionResult, Principal, UpstreamStatus } from "../../domain/index.ts";
import type { Gateway } from "../gateway.ts";
import type { Commands, Invocation } from "./add-command.ts";
import { IDLE_HINT, findIdleInCatalog, formatIdle } from "./policy/idle-patterns.ts";
import { loadPolicy } from "./policy/load-policy.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers } from "./powers.ts";
import { countOf } from "./print.ts";

type Check = ReturnType<typeof check>;

/** For an upstream that is not ready and has not failed either. */
const SLOW_HINT = "It has not answered yet: run the same command by hand to find the cause, or wait and try again";

/** Larger ledgers are not verified here, because that takes too long. */
const MOST_CHECKED = 200_000;
/** Grace period for records that the check itself has just written. */
const BEHIND_MS = 10_000;
const SUSPECT_HINT = "Compare it with an export or a backup from elsewhere";
const CONFINE_HINT =
  'Set mcpServers.NAME.confine to "strict" and start it; `glovebox servers` names the grants that are missing';
const EXPORT_HINT = "Glovebox retries automatically; check `audit.export`";

const SIGNS = { ok: "ok      ", warning: "warning ", failed: "FAILED  " } as const;

const LEVELS: Readonly<Record<ExecutionResult["isolation"], string>> = {
  strict: "strict: a fresh realm in a process that reaches no file, socket or other process",
  confined: "confined: a fresh realm in a process with some layers of confinement",
  process:
    "process: a fresh realm in a process without confinement; a flaw in the engine would reach what this account can",
};

export function addDoctor(program: Command, { addJsonCommand }: Commands): void {
  addJsonCommand(program, "doctor", "check the installation and name remedies", doctorCommand);
}

async function doctorCommand(invocation: Invocation): Promise<number> {
  const checks = await examine(invocation);
  invocation.print({ version: invocation.powers.version, checks }, checks.map(formatCheck));
  return checks.some(({ state }) => state === "failed") ? EXIT.failed : EXIT.done;
}

function check(name: string, state: keyof typeof SIGNS, message: string, hint?: string) {
  return { name, state, message, ...defined({ hint }) };
}

async function examine({ powers, principal, loadSettings }: Invocation): Promise<readonly Check[]> {
  const node = check("node", "ok", `Node ${powers.nodeVersion}`);
  const settings = await loadSettings().catch(toFailure("configuration"));
  if ("message" in settings) return [node, settings];
  const read = check("configuration", "ok", describeSource(settings));
  const opened = await powers.openGateway(settings).catch(toFailure("store"));
  if ("message" in opened) return [node, read, opened];
  await using gateway = opened;
  const store = check("store", "ok", settings.store.path);
  // Upstreams first: the self-test makes failed ones retry, which clears their cause.
  const upstreams = [...(await examineUpstreams(gateway, principal)), ...examineConfinement(settings)];
  const patterns = await examinePatterns(settings, gateway, principal);
  const sandbox = await examineSandbox(gateway, principal, settings.sandbox);
  return [node, read, store, ...sandbox, ...upstreams, ...patterns, ...(await examineLedger(settings, powers))];
}

/** Checks the ledger and the progress of its exports. */
async function examineLedger(settings: Settings, powers: CliPowers): Promise<readonly Check[]> {
  await using records = await powers.readRecords(settings);
  const reader = records.openReader();
  const last = await reader.last();
  const verdict = last > MOST_CHECKED ? undefined : await reader.verify();
  const rows = await reader.exports();
  const exports = settings.audit.exports.map(({ id }) => {
    const { cursor = 0, failure = null, sentAt = null } = rows.find((row) => row.id === id) ?? {};
    const name = `export ${id}`;
    const message = `${cursor} of ${last} records sent`;
    if (failure !== null) return check(name, "failed", `${message}; ${failure}`, EXPORT_HINT);
    const isBehind = cursor < last && powers.now() - (sentAt ?? 0) > BEHIND_MS;
    return isBehind ? check(name, "warning", `${message}; it is behind`, EXPORT_HINT) : check(name, "ok", message);
  });
  if (!verdict) return [check("ledger", "ok", `${last} records; \`glovebox audit verify\` checks them`), ...exports];
  const ledger = verdict.ok
    ? check("ledger", "ok", `${verdict.records} records, all intact`)
    : check("ledger", "failed", `record ${verdict.seq}: ${verdict.problem}`, SUSPECT_HINT);
  return [ledger, ...exports];
}

/** Rejects again with anything that is not the cause of a problem, and with a configuration that needs consent. */
function toFailure(name: string) {
  return (thrown: unknown): Check => {
    if (!(thrown instanceof GloveboxError) || thrown.code === "CONFIG_UNTRUSTED") throw thrown;
    const { code, message, details } = thrown;
    return check(code === "SANDBOX_UNAVAILABLE" ? "sandbox" : name, "failed", message, details.hint);
  };
}

function describeSource({ source, upstreams }: Settings): string {
  const from = source.kind === "file" ? source.path : "built in, with a demo upstream";
  return `${from} (${upstreams.size} upstreams)`;
}

const SELF_TEST = "return 6 * 7";
/** With `auto`, such a program starts in V8. */
const SELF_TEST_OF_V8 = 'return new Intl.NumberFormat("en").format(4200) === "4,200" ? 42 : 0';

const NO_V8 = "no V8 isolates: programs that compute run slower, and those that need Intl fail";
const NO_V8_HINT = "Use Node 24, or add the part for V8 isolates as docs/reference/package.md describes";

/** A self-test in real sandboxes, because nothing else proves that programs run: with `auto` in both engines. */
async function examineSandbox(
  gateway: Gateway,
  principal: Principal,
  { engine: configured }: Settings["sandbox"],
): Promise<readonly Check[]> {
  const result = await gateway.execute({ principal, source: SELF_TEST });
  const { isolation } = result;
  const hasBoth = gateway.health().engine === "auto";
  const all = hasBoth ? [result, await gateway.execute({ principal, source: SELF_TEST_OF_V8 })] : [result];
  return [
    ...all.map(({ value, engine, stats, error }) =>
      value === 42
        ? check("sandbox", "ok", `${engine} engine ran a program in ${stats.wallMs} ms`)
        : check("sandbox", "failed", error?.message ?? "a program returned the wrong result", error?.hint),
    ),
    ...(configured === "auto" && !hasBoth ? [check("sandbox", "warning", NO_V8, NO_V8_HINT)] : []),
    check("isolation", isolation === "strict" ? "ok" : "warning", LEVELS[isolation]),
    ...gateway
      .health()
      .layers.map(({ name, present, message, hint }) =>
        check(`layer ${name}`, present ? "ok" : "warning", message, hint),
      ),
  ];
}

async function examineUpstreams(gateway: Gateway, principal: Principal): Promise<readonly Check[]> {
  await gateway.takeSnapshot(principal); // waits for all of them
  return gateway
    .health()
    .upstreams.map(({ name, state, tools, cause, hint, findings = [], transport, confinement }) =>
      state === "ready"
        ? check(
            `upstream ${name}`,
            "ok",
            [countOf(tools, "tool"), ...describeLevel(transport, confinement), ...findings].join("; "),
            hint,
          )
        : check(`upstream ${name}`, "failed", cause ?? state, hint ?? SLOW_HINT),
    );
}

function describeLevel(
  transport: UpstreamStatus["transport"],
  confinement: UpstreamStatus["confinement"],
): readonly string[] {
  return transport === "stdio" ? [`confine ${confinement?.level ?? "off"}`] : [];
}

/** One warning for the servers that have the rights of the user because `confine` is not set. */
function examineConfinement({ upstreams }: Settings): readonly Check[] {
  const names = [...upstreams]
    .filter(([, server]) => server.transport === "stdio" && server.confine === undefined)
    .map(([name]) => name);
  if (names.length === 0) return [];
  const message = `not confined, so with your rights: ${names.join(", ")}`;
  return [check("confinement", "warning", message, CONFINE_HINT)];
}

/** One warning for each pattern that matches no tool: it looks like a defense and is none. */
async function examinePatterns(settings: Settings, gateway: Gateway, principal: Principal): Promise<readonly Check[]> {
  const policy = { ...settings.policy, ...(await loadPolicy(settings)) };
  const idle = await findIdleInCatalog({ ...settings, policy }, gateway, principal);
  return idle.map((one) => check("pattern", "warning", formatIdle(one), IDLE_HINT));
}

function formatCheck({ name, state, message, hint }: Check): string {
  return `${SIGNS[state]}${name}: ${message}${hint === undefined ? "" : `\n        hint: ${hint}`}`;
}
