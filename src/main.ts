/**
 * The composition root: the only file that builds rooms and reads the environment.
 * Everything else is handed what it needs.
 */

import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

import { analyze } from "./analysis/index.ts";
import { cleanText, digestOf, openLedger } from "./audit/index.ts";
import type { Ledger } from "./audit/index.ts";
import { openBridge } from "./bridge/index.ts";
import { createSearch, findNearest, openCatalog } from "./catalog/index.ts";
import type { Catalog } from "./catalog/index.ts";
import { builtinSettings, findConfig, loadSettings, parseSettings } from "./config/index.ts";
import type { GloveboxConfig, Settings, Template, UpstreamSettings } from "./config/index.ts";
import { createMcpConnector } from "./connectors/index.ts";
import { parseConnectorId, parseExecutionId, parsePrincipalId, tightenLimits } from "./domain/index.ts";
import type { ConnectorId, ExecutionId, ExecutionResult, Json, Limits, Principal } from "./domain/index.ts";
import { openEgress } from "./egress/index.ts";
import { execute } from "./execution/index.ts";
import type { Rooms } from "./execution/index.ts";
import { decide } from "./policy/index.ts";
import { openReaper } from "./processes/index.ts";
import { confineEngine, createIsolateEngine, openSandbox } from "./sandbox/index.ts";
import type { Sandbox } from "./sandbox/index.ts";
import { openStore } from "./store/index.ts";
import type { Store } from "./store/index.ts";
import type { CliPowers, Gateway, Terminal } from "./surfaces/index.ts";
import { declareApi, describeTools } from "./typegen/index.ts";
import { openVault } from "./vault/index.ts";
import type { Vault } from "./vault/index.ts";

export { defineConfig } from "./config/index.ts";
export type { GloveboxConfig } from "./config/index.ts";
export { GloveboxError } from "./domain/index.ts";
export type { ErrorCode, ExecutionResult, Json, Limits, PublicError } from "./domain/index.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const VERSION = String((require("../package.json") as { readonly version: unknown }).version);
const NEAREST = 3;
/** A program whose types take longer to strip than this was written to stall the gateway. */
const STRIP_MS = 500;
const DESCRIPTION_BYTES = 64 * 1024;

/** The library: `docs/guide/library.md`. */
export interface Glovebox extends AsyncDisposable {
  execute(request: {
    readonly code: string;
    readonly input?: Json;
    readonly limits?: Partial<Limits>;
    readonly signal?: AbortSignal;
  }): Promise<ExecutionResult>;
  search(request: { readonly query?: string; readonly limit?: number }): ReturnType<Gateway["search"]>;
  describe(request: {
    readonly names: readonly string[];
    readonly detail?: "brief" | "types" | "full";
  }): Promise<string>;
  close(): Promise<void>;
}

/** Opens Glovebox inside another program, from a configuration or the path of one. Close it when done. */
export async function createGlovebox(config: GloveboxConfig | string): Promise<Glovebox> {
  const settings =
    typeof config === "string"
      ? await findSettings(config)
      : parseSettings(config, { folder: process.cwd() }, process.env);
  const gateway = await openGateway(settings);
  const principal = createPrincipal("library", "service");
  return {
    execute: (request) => gateway.execute({ ...request, principal }),
    search: (request) => gateway.search(principal, request),
    describe: ({ names, detail = "types" }) => gateway.describe(principal, names, detail),
    close: () => gateway.close(),
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}

/** The command line. Ends the process with the exit code of the command. */
export async function main(argv: readonly string[]): Promise<void> {
  endWithLauncher();
  const { runCli } = await import("./surfaces/cli/index.ts");
  const powers: CliPowers = {
    version: VERSION,
    nodeVersion: process.versions.node,
    terminal: createTerminal(),
    webFolder: join(HERE, "web"),
    loadSettings: findSettings,
    openGateway,
    openVault: openVaultAlone,
    report: reportIncident,
    createToken: () => randomBytes(24).toString("base64url"),
  };
  const principal = createPrincipal("operator", "operator");
  process.exitCode = await runCli(argv, { powers, principal, agent: createPrincipal("local", "agent") });
  // Output may still be on its way to a pipe; everything else is closed by now.
  process.stdout.write("", () => process.exit());
}

/** An older Node starts us as its child; when that launcher is killed, nobody waits for us any more. */
function endWithLauncher(): void {
  const launcher = Number(process.env["GLOVEBOX_LAUNCHER"]);
  if (launcher !== process.ppid) return;
  setInterval(() => process.ppid === launcher || process.exit(1), 250).unref();
}

function createTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    stdin,
    stdout,
    stderr,
    cwd: process.cwd(),
    onInterrupt(listener) {
      const first = (): void => {
        process.once("SIGINT", () => process.exit(130));
        listener();
      };
      process.once("SIGINT", first);
      process.once("SIGTERM", first);
      return () => {
        process.removeListener("SIGINT", first);
        process.removeListener("SIGTERM", first);
      };
    },
  };
}

async function findSettings(explicit: string | undefined): Promise<Settings> {
  const cwd = process.cwd();
  const configHome = process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
  const path = await findConfig({ cwd, userConfigFolder: join(configHome, "glovebox"), explicit });
  return path === undefined ? builtinSettings(findDemoUpstreams(cwd), cwd) : loadSettings(path, process.env);
}

/** Two servers that need nothing from outside, so that a first program works before anything is configured. */
function findDemoUpstreams(cwd: string): ReadonlyMap<ConnectorId, UpstreamSettings> {
  const extension = extname(fileURLToPath(import.meta.url));
  const scripts: [string, readonly string[]][] = [
    ["inventory", [join(HERE, "surfaces", "demo", `inventory${extension}`)]],
  ];
  try {
    scripts.unshift([
      "everything",
      [require.resolve("@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
    ]);
  } catch {
    // A production install has no test servers; the one of ours is always there.
  }
  return new Map(
    scripts.map(([name, args]) => [
      parseConnectorId(name) ?? unreachable(),
      { transport: "stdio", command: process.execPath, args, env: {}, cwd, startMs: 30_000 },
    ]),
  );
}

/** Opens every room in the order of who needs whom, and closes them in the other. */
async function openGateway(settings: Settings): Promise<Gateway> {
  const engine = await confineEngine(createIsolateEngine(process.execPath), settings.sandbox.isolation);
  await using opened = new AsyncDisposableStack();
  const reaper = opened.use(openReaper());
  const store = opened.use(await openStore({ path: settings.store.path, now: Date.now }));
  const ledger = opened.use(await openLedger({ store, now: Date.now }));
  const vault = opened.use(createVault(settings, store, ledger));
  const egress = opened.use(openEgress({ fetch: globalThis.fetch }));
  const connectors = [...settings.upstreams].map(([id, upstream]) =>
    opened.use(
      createMcpConnector({
        id,
        settings: toConnectorSettings(id, upstream, vault),
        keeper: reaper,
        egress,
        now: Date.now,
        clean: (text) => cleanText(text, { maxBytes: DESCRIPTION_BYTES, paths: true }),
        environment: process.env,
      }),
    ),
  );
  const catalog = opened.use(openCatalog({ connectors, now: Date.now, clean: cleanDescription }));
  const { concurrency, queue, limits } = settings.sandbox;
  const sandbox = opened.use(
    openSandbox({ engine, keeper: reaper, concurrency, queue, limits, now: Date.now, seed: createSeed }),
  );
  const close = opened.move();
  return createGateway({ settings, store, ledger, catalog, sandbox, close: () => close.disposeAsync() });
}

interface Parts {
  readonly settings: Settings;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly sandbox: Sandbox;
  close(): Promise<void>;
}

function createGateway(parts: Parts): Gateway {
  const { settings, store, catalog, sandbox } = parts;
  const startedAt = Date.now();
  const rooms = createRooms(parts);
  return {
    execute: async ({ code, limits, ...request }) =>
      execute(
        {
          signal: new AbortController().signal,
          ...request,
          source: code,
          limits: tightenLimits(settings.sandbox.limits, limits ?? {}),
        },
        rooms,
      ),
    search: async (_principal, query) => {
      const found = createSearch(await catalog.takeSnapshot())(query);
      return { ...found, servers: catalog.statuses() };
    },
    describe: async (_principal, names, detail) => {
      const snapshot = await catalog.takeSnapshot();
      return describeTools(snapshot, names, { detail, findNearest: (name) => findNearest(snapshot, name, NEAREST) })
        .declarations;
    },
    executions: async (limit) =>
      (await store.executions.list({ limit })).map(({ id, principal, startedAt: began, ending }) => ({
        id,
        principal,
        startedAt: began,
        endedAt: ending?.endedAt ?? null,
        state: ending?.state ?? "running",
        errorCode: ending?.errorCode ?? null,
      })),
    health: () => ({
      version: VERSION,
      engine: sandbox.engine,
      isolation: sandbox.isolation,
      layers: sandbox.layers,
      upstreams: catalog.statuses(),
      startedAt,
    }),
    close: () => parts.close(),
    [Symbol.asyncDispose]: () => parts.close(),
  };
}

/** The corridor's rooms, each with what it needs and nothing more. */
function createRooms({ settings, store, ledger, catalog, sandbox }: Parts): Rooms {
  return {
    engine: sandbox.engine,
    isolation: sandbox.isolation,
    report: reportIncident,
    async open({ principal, source }) {
      const execution = {
        id: createExecutionId(),
        principal: principal.id,
        source: digestOf(source),
        startedAt: Date.now(),
      };
      const detail = { source: execution.source };
      await ledger.write({ actor: principal.id, action: "execution.opened", subject: execution.id, detail });
      await store.executions.open({ ...execution, sourceText: source });
      return execution;
    },
    snapshot: () => catalog.takeSnapshot(),
    declare: declareApi,
    analyze: ({ source, limits, analysis = true }, surface) =>
      analyze(source, surface, {
        ...settings.analysis,
        enabled: settings.analysis.enabled && analysis,
        limits,
        timebox,
      }),
    bridge: (execution, snapshot, { principal, limits }, signal) =>
      openBridge({
        execution: execution.id,
        principal,
        snapshot,
        limits,
        signal,
        ledger,
        decide: (call, tool) => decide({ call, tool, principal, ...settings.policy }),
        invoke: (tool, args, callSignal) => catalog.connectorOf(tool).call(tool.origin.remoteName, args, callSignal),
        report: reportIncident,
      }),
    run: (job) => sandbox.run(job),
    async close(execution, result) {
      const { state, error } = result;
      const detail = { state, calls: result.calls.length, ...(error && { code: error.code }) };
      await ledger.write({ actor: execution.principal, action: "execution.closed", subject: execution.id, detail });
      await store.executions.close(execution.id, {
        endedAt: Date.now(),
        state,
        result: JSON.stringify(result),
        ...(error && { errorCode: error.code }),
      });
    },
  };
}

/** Ends work that takes too long, also inside WebAssembly: the engine's own watchdog interrupts the thread. */
function timebox<R>(work: () => R): R {
  return runInNewContext("work()", { work }, { timeout: STRIP_MS }) as R;
}

/** The details of an internal fault are for the operator's log; whoever asked gets the id. */
function reportIncident(thrown: unknown): string {
  const incident = `in_${randomBytes(6).toString("hex")}`;
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  process.stderr.write(`incident ${incident}: ${cleanText(text, { maxBytes: DESCRIPTION_BYTES })}\n`);
  return incident;
}

function createVault(settings: Settings, store: Store, ledger: Ledger): Vault {
  const environmentKey = process.env["GLOVEBOX_ENCRYPTION_KEY"];
  const folder = settings.store.path === ":memory:" ? settings.folder : dirname(settings.store.path);
  return openVault({
    store,
    ledger,
    keyFile: join(folder, "glovebox.key"),
    random: randomBytes,
    ...(environmentKey !== undefined && { environmentKey }),
  });
}

/** For the commands that only deal with secrets: no upstream is started. */
async function openVaultAlone(settings: Settings): Promise<Vault> {
  const store = await openStore({ path: settings.store.path, now: Date.now });
  const ledger = await openLedger({ store, now: Date.now });
  const vault = createVault(settings, store, ledger);
  const close = async (): Promise<void> => {
    await vault.close();
    await ledger.close();
    await store.close();
  };
  return { ...vault, close, [Symbol.asyncDispose]: close };
}

function toConnectorSettings(id: ConnectorId, upstream: UpstreamSettings, vault: Vault) {
  const { startMs } = upstream;
  const resolve = (templates: Readonly<Record<string, Template>>) => () => fillTemplates(templates, id, vault);
  if (upstream.transport === "http") {
    return { kind: "http" as const, url: upstream.url, resolveHeaders: resolve(upstream.headers), startMs };
  }
  const { command, args, cwd, env } = upstream;
  return { kind: "stdio" as const, command, args, cwd, resolveEnv: resolve(env), startMs };
}

/** Secrets are lent at the moment an upstream starts, to that upstream alone. */
async function fillTemplates(
  templates: Readonly<Record<string, Template>>,
  id: ConnectorId,
  vault: Vault,
): Promise<Record<string, string>> {
  const entries = Object.entries(templates).map(async ([key, parts]): Promise<[string, string]> => {
    const texts = parts.map(async (part) =>
      typeof part === "string" ? part : (await vault.lend(part.secret, `upstream ${id}`)).reveal(),
    );
    return [key, (await Promise.all(texts)).join("")];
  });
  return Object.fromEntries(await Promise.all(entries));
}

function createExecutionId(): ExecutionId {
  return parseExecutionId(`ex_${randomBytes(12).toString("hex")}`) ?? unreachable();
}

/** Four 32-bit numbers, which is what the guest's generator takes. */
function createSeed(): readonly number[] {
  const bytes = randomBytes(16);
  return [0, 4, 8, 12].map((offset) => bytes.readUInt32LE(offset));
}

function cleanDescription(text: string): string {
  return cleanText(text, { maxBytes: DESCRIPTION_BYTES });
}

function createPrincipal(name: string, kind: Principal["kind"]): Principal {
  return { id: parsePrincipalId(name) ?? unreachable(), kind, groups: [] };
}

function unreachable(): never {
  throw new TypeError("A constant of this file is malformed");
}
