/**
 * The composition root: the only file that builds rooms and reads the environment.
 * Everything else is handed what it needs.
 */

import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

import { analyze, planCalls } from "./analysis/index.ts";
import { cleanText, openLedger } from "./audit/index.ts";
import type { AuditEntry, Ledger } from "./audit/index.ts";
import { openBridge } from "./bridge/index.ts";
import { checkProgram, openChecker } from "./checker/index.ts";
import type { Checker } from "./checker/index.ts";
import { createSearch, openCatalog, openHeldDefinitions, openShapes, watchTools } from "./catalog/index.ts";
import type { Catalog, Drift, HeldDefinitions, Shapes, ToolsWatch } from "./catalog/index.ts";
import { builtinSettings, findConfig, loadSettings, parseSettings, readTextFile } from "./config/index.ts";
import type { ApiSettings, GloveboxConfig, Settings, UpstreamSettings } from "./config/index.ts";
import {
  addRestart,
  createAdapterConnector,
  createMcpConnector,
  createOpenapiConnector,
  parseAdapters,
  parseVerdictText,
  toVerdictText,
  watchRestarts,
} from "./connectors/index.ts";
import type { Connector, EraVerdicts, McpConnectorOptions, OpenapiConnectorOptions } from "./connectors/index.ts";
import { parseExecutionId, parsePrincipalId, parseResultId, tightenLimits } from "./domain/index.ts";
import type {
  CatalogSnapshot,
  ConnectorId,
  EngineName,
  ExecutionId,
  PinMode,
  Principal,
  ResultId,
} from "./domain/index.ts";
import { openEgress } from "./egress/index.ts";
import {
  createBuiltins,
  createDescribe,
  createGuide,
  createRecord,
  keepAttachments,
  createCorridor,
  createResults,
} from "./execution/index.ts";
import type { Results, Rooms } from "./execution/index.ts";
import { decide } from "./policy/index.ts";
import { measureFamily, openReaper } from "./processes/index.ts";
import {
  confineEngine,
  createIsolateEngine,
  createQuickjsEngine,
  createWorkerdEngine,
  openSandbox,
} from "./sandbox/index.ts";
import type { Engine, Sandbox } from "./sandbox/index.ts";
import { openStore } from "./store/index.ts";
import type { Store } from "./store/index.ts";
import { createLibrary, findDemoUpstreams } from "./surfaces/index.ts";
import type { CliPowers, Gateway, Glovebox } from "./surfaces/index.ts";
import { declareApi } from "./typegen/index.ts";
import { fillTemplates, openVault } from "./vault/index.ts";
import type { Vault } from "./vault/index.ts";

export { defineConfig } from "./config/index.ts";
export { defineAdapter } from "./connectors/index.ts";
export type { GloveboxConfig } from "./config/index.ts";
export { GloveboxError } from "./domain/index.ts";
export type { Adapter, AdapterContext, ErrorCode, ExecutionResult, Json, Limits, PublicError } from "./domain/index.ts";
export type { Glovebox } from "./surfaces/index.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const MANIFEST = createRequire(import.meta.url)("../package.json") as { readonly version: string };
const TEXT_BYTES = 64 * 1024;
/** Where the command line leaves word for running gateways, and how often they look. */
const RESTARTS = "restarts";
const RESTART_LOOK_MS = 1000;
/** A program whose types take longer to strip than this was written to stall the gateway. */
const STRIP_MS = 500;

/** Opens Glovebox inside another program, from a configuration or the path of one. Close it when done. */
export async function createGlovebox(config: GloveboxConfig | string): Promise<Glovebox> {
  const settings =
    typeof config === "string"
      ? await findSettings(config)
      : parseSettings(config, { folder: process.cwd() }, process.env);
  return createLibrary(await openGateway(settings), createPrincipal("library", "service"));
}

/** The command line. Ends the process with the exit code of the command. */
export async function main(argv: readonly string[]): Promise<void> {
  endWithLauncher();
  const { createTerminal, runCli } = await import("./surfaces/cli/index.ts");
  const powers: CliPowers = {
    version: MANIFEST.version,
    nodeVersion: process.versions.node,
    terminal: createTerminal(process),
    webFolder: join(HERE, "web"),
    loadSettings: findSettings,
    openGateway,
    openVault: openVaultAlone,
    openLedger: openLedgerAlone,
    openHeld: openHeldAlone,
    requestRestart,
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
  const launcher = process.env["GLOVEBOX_LAUNCHER"];
  if (launcher === undefined) return;
  const endIfAlone = (): void => void (process.ppid === Number(launcher) || process.exit(1));
  endIfAlone(); // it may have been killed before we came to watch it
  setInterval(endIfAlone, 250).unref();
}

async function findSettings(explicit: string | undefined): Promise<Settings> {
  const cwd = process.cwd();
  const named = process.env["XDG_CONFIG_HOME"] ?? "";
  // The standard says that a relative or empty value counts as none.
  const configHome = isAbsolute(named) ? named : join(homedir(), ".config");
  const path = await findConfig({ cwd, userConfigFolder: join(configHome, "glovebox"), explicit });
  if (path !== undefined) return loadSettings(path, process.env);
  return builtinSettings(findDemoUpstreams(process.execPath, cwd), cwd);
}

interface Parts {
  readonly settings: Settings;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly sandbox: Sandbox;
  /** Absent when nothing is to be learned. */
  readonly shapes?: Shapes;
  readonly results: Results;
  readonly watch: ToolsWatch;
  readonly checker: Checker;
  close(): Promise<void>;
}

/** Opens every room in the order of who needs whom, and closes them in the other. */
async function openGateway(settings: Settings): Promise<Gateway> {
  const engine = await confineEngine(chooseEngine(settings.sandbox.engine), settings.sandbox.isolation);
  await using opened = new AsyncDisposableStack();
  const keeper = opened.use(openReaper());
  const store = opened.use(await openStore({ path: settings.store.path, now: Date.now }));
  const ledger = opened.use(await openLedger({ store, now: Date.now }));
  const vault = opened.use(createVault(settings, store, ledger));
  const egress = opened.use(openEgress({ fetch: globalThis.fetch }));
  const verdicts = createVerdicts(store);
  const shared = { keeper, egress, verdicts, now: Date.now, environment: process.env, clean: cleanServerText };
  const adapters = await parseAdapters(settings.adapters, [...settings.upstreams.keys(), ...settings.apis.keys()]);
  const connectors = [
    ...[...settings.upstreams].map(([id, upstream]) =>
      createMcpConnector({ ...shared, id, settings: toConnectorSettings(id, upstream, vault) }),
    ),
    ...[...settings.apis].map(([id, api]) =>
      createOpenapiConnector({ ...shared, id, settings: toApiSettings(id, api, vault), readFile: readDocument }),
    ),
    ...[...adapters].map(([id, adapter]) =>
      createAdapterConnector({ ...shared, id, adapter, lend: (name) => vault.lend(name, `upstream ${id}`) }),
    ),
  ];
  for (const connector of connectors) opened.use(connector);
  const shapes = settings.catalog.learn ? opened.use(await learnShapes(store, ledger)) : undefined;
  const pins = {
    store: store.pins,
    record: (entry: AuditEntry) => ledger.write(entry),
    modeOf: (id: ConnectorId) => pinModeOf(settings, id),
  };
  startEagerly(connectors, settings);
  opened.use(watchRestarts({ connectors, read: () => store.meta.get(RESTARTS), everyMs: RESTART_LOOK_MS }));
  const catalog = opened.use(openCatalog({ connectors, now: Date.now, clean: cleanDescription, pins }));
  const { concurrency, queue, limits } = settings.sandbox;
  const sandbox = opened.use(
    openSandbox({ engine, keeper, concurrency, queue, limits, now: Date.now, seed: createSeed }),
  );
  const results = createResults({ store: store.results, now: Date.now, createId: createResultId, ...settings.results });
  const watch = opened.use(watchTools(catalog, connectors));
  const checker = opened.use(openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily }));
  const rooms = opened.move();
  const close = (): Promise<void> => rooms.disposeAsync();
  const kept = { results, watch, ...(shapes && { shapes }) };
  return createGateway({ settings, store, ledger, catalog, sandbox, checker, close, ...kept });
}

function learnShapes(store: Store, ledger: Ledger): Promise<Shapes> {
  const record = (drift: Drift) => ledger.write({ actor: "gateway", action: "shape.drifted", ...drift });
  return openShapes({ store: store.shapes, now: Date.now, record });
}

/** All at once, and nobody waits: the catalog shares these attempts, and a failure is in the upstream's state. */
function startEagerly(connectors: readonly Connector[], { upstreams }: Settings): void {
  const eager = connectors.filter(({ id }) => upstreams.get(id)?.start === "eager");
  for (const connector of eager) connector.tools().catch(() => undefined);
}

/** Which protocol era each upstream spoke last time. */
function createVerdicts({ meta }: Store): EraVerdicts {
  return {
    get: async (id) => parseVerdictText(await meta.get(`era:${id}`)),
    set: (id, verdict) => meta.set(`era:${id}`, toVerdictText(verdict)),
  };
}

/** There is no falling back: whoever named an engine gets it or an error. */
function chooseEngine(name: EngineName): Engine {
  switch (name) {
    case "isolate":
      return createIsolateEngine(process.execPath);
    case "quickjs":
      return createQuickjsEngine(process.execPath);
    case "workerd":
      return createWorkerdEngine();
    default:
      return name satisfies never;
  }
}

function createGateway(parts: Parts): Gateway {
  const { settings, store, ledger, catalog, sandbox, results, shapes } = parts;
  const { engine, isolation, layers } = sandbox;
  const startedAt = Date.now();
  const takeShaped = async (): Promise<CatalogSnapshot> => {
    const plain = await catalog.takeSnapshot();
    return shapes?.addTo(plain) ?? plain;
  };
  const describe = createDescribe(takeShaped, results);
  const rooms = createRooms(parts, describe);
  const { limits } = settings.sandbox;
  return {
    ...createCorridor({ rooms, store: store.executions, results, limits, now: Date.now }),
    expose: settings.expose,
    onToolsChanged: (listener) => parts.watch.onToolsChanged(listener),
    takeSnapshot: () => catalog.takeSnapshot(),
    plan: async ({ code, limits: wanted = {}, signal = new AbortController().signal, ...request }) => {
      const snapshot = await catalog.takeSnapshot();
      const asked = { ...request, signal, source: code, limits: tightenLimits(limits, wanted) };
      const analyzed = rooms.analyze(asked, declareApi(snapshot));
      if (!analyzed.ok) return analyzed;
      const { calls, findings } = analyzed.program;
      return { ok: true, plan: planCalls(calls, snapshot), findings };
    },
    search: async (_principal, query) => {
      const found = createSearch(await catalog.takeSnapshot())(query);
      return { ...found, servers: catalog.statuses() };
    },
    describe,
    held: openHeld(store, ledger),
    executions: async (limit) =>
      (await store.executions.list({ limit })).map(({ id, principal, startedAt: began, ending }) => ({
        id,
        principal,
        startedAt: began,
        endedAt: ending?.endedAt ?? null,
        state: ending?.state ?? "running",
        errorCode: ending?.errorCode ?? null,
      })),
    health: () => ({ version: MANIFEST.version, engine, isolation, layers, upstreams: catalog.statuses(), startedAt }),
    close: () => parts.close(),
    [Symbol.asyncDispose]: () => parts.close(),
  };
}

/** The corridor's rooms, each with what it needs and nothing more. */
function createRooms(parts: Parts, describe: Gateway["describe"]): Rooms {
  const { settings, store, ledger, catalog, sandbox, checker, results, shapes } = parts;
  const { engine, isolation } = sandbox;
  const report = reportIncident;
  return {
    ...createRecord({ store, ledger, now: Date.now, createId: createExecutionId }),
    engine,
    isolation,
    report,
    snapshot: () => catalog.takeSnapshot(),
    declare: declareApi,
    analyze: ({ source, limits, analysis = true }, surface) =>
      analyze(source, surface, {
        ...settings.analysis,
        enabled: settings.analysis.enabled && analysis,
        limits,
        timebox,
      }),
    check: (program, { analysis = true, types = true }, snapshot) =>
      checkProgram(program, declareApi(snapshot), {
        checker,
        guide: createGuide(snapshot),
        level: settings.analysis.enabled && analysis && types ? settings.analysis.types : "off",
        blocks: settings.analysis.blockOnError,
      }),
    keepValue: (owner, value) => results.keepValue(owner, value),
    bridge: ({ execution, opened }, snapshot, { principal, limits, program, analysis = true, onEvent }, signal) =>
      openBridge({
        ...(onEvent && { onEvent }),
        builtins: createBuiltins({
          search: async (request) => createSearch(snapshot)(request),
          describe: async (names, detail) => (await describe(principal, names, detail)).declarations,
          read: async (handle, query) => (await results.read(principal.id, handle, query)).value,
        }),
        execution: execution.id,
        opened,
        principal,
        snapshot,
        limits,
        signal,
        ledger,
        report,
        ...(program && settings.analysis.enabled && analysis && { plan: planCalls(program.calls, snapshot) }),
        decide: (call, tool) => decide({ call, tool, principal, ...settings.policy }),
        invoke: async (tool, args, options) => {
          const called = await catalog.connectorOf(tool).call(tool.origin.remoteName, args, options);
          shapes?.observe(tool, called.value);
          const owner = { principal: principal.id, execution: execution.id };
          return keepAttachments(called, limits.resultBytes, (file) => results.keepFile(owner, file));
        },
      }),
    run: (job) => sandbox.run(job),
  };
}

function pinModeOf({ pins }: Settings, id: ConnectorId): PinMode {
  return pins.byServer.get(id) ?? pins.usual;
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

interface Records {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly close: () => Promise<void>;
}

/** For the commands that only look at what is kept: no upstream is started. */
async function openRecords(settings: Settings): Promise<Records> {
  const store = await openStore({ path: settings.store.path, now: Date.now });
  const ledger = await openLedger({ store, now: Date.now });
  const close = async (): Promise<void> => {
    await ledger.close();
    await store.close();
  };
  return { store, ledger, close };
}

/** Closing it closes the store behind it. */
async function openLedgerAlone(settings: Settings): Promise<Ledger> {
  const { ledger, close } = await openRecords(settings);
  return { ...ledger, close, [Symbol.asyncDispose]: close };
}

/** What servers wait for, without starting one. Closing it closes the ledger and the store behind it. */
async function openHeldAlone(settings: Settings): Promise<HeldDefinitions & AsyncDisposable> {
  const { store, ledger, close } = await openRecords(settings);
  return { ...openHeld(store, ledger), [Symbol.asyncDispose]: close };
}

function openHeld(store: Store, ledger: Ledger): HeldDefinitions {
  return openHeldDefinitions({
    store: store.pins,
    record: (entry) => ledger.write(entry),
    clean: cleanDescription,
    now: Date.now,
  });
}

/** Written to the ledger first, like everything that a person does to a running gateway. */
async function requestRestart(settings: Settings, upstream: ConnectorId, actor: string): Promise<void> {
  const { store, ledger, close } = await openRecords(settings);
  try {
    await ledger.write({ actor, action: "upstream.restart", subject: upstream, detail: {} });
    await store.meta.set(RESTARTS, addRestart(await store.meta.get(RESTARTS), upstream, Date.now()));
  } finally {
    await close();
  }
}

/** Closing it closes the ledger and the store behind it. */
async function openVaultAlone(settings: Settings): Promise<Vault> {
  const { store, ledger, close: closeRecords } = await openRecords(settings);
  const vault = createVault(settings, store, ledger);
  const close = (): Promise<void> => vault.close().then(closeRecords);
  return { ...vault, close, [Symbol.asyncDispose]: close };
}

/** Secrets are lent when an upstream starts, to that upstream alone. */
function toConnectorSettings(
  id: ConnectorId,
  upstream: UpstreamSettings,
  vault: Vault,
): McpConnectorOptions["settings"] {
  const purpose = `upstream ${id}`;
  if (upstream.transport !== "stdio") {
    const { transport: kind, url, headers, startMs } = upstream;
    return { kind, url, startMs, resolveHeaders: () => fillTemplates(headers, vault, purpose) };
  }
  const { command, args, cwd, env, startMs } = upstream;
  return { kind: "stdio", command, args, cwd, startMs, resolveEnv: () => fillTemplates(env, vault, purpose) };
}

/** As for MCP servers: what the document and its API need is lent when the document is read. */
function toApiSettings(id: ConnectorId, api: ApiSettings, vault: Vault): OpenapiConnectorOptions["settings"] {
  const { headers, auth, ...rest } = api;
  const fill = (templates: ApiSettings["auth"]) => () => fillTemplates(templates, vault, `upstream ${id}`);
  const holdsSecret = (name: string): boolean => headers[name]?.some((part) => typeof part !== "string") ?? false;
  const secretHeaders = Object.keys(headers).filter(holdsSecret);
  return { ...rest, resolveHeaders: fill(headers), resolveAuth: fill(auth), secretHeaders };
}

function readDocument(path: string, maxBytes: number): Promise<string> {
  return readTextFile(path, { maxBytes, kind: "an OpenAPI document" });
}

/** Ends work that takes too long, also inside WebAssembly: the engine's own watchdog interrupts the thread. */
function timebox<R>(work: () => R): R {
  return runInNewContext("work()", { work }, { timeout: STRIP_MS }) as R;
}

/** The details of an internal fault are for the operator's log; whoever asked gets the id. */
function reportIncident(thrown: unknown): string {
  const incident = `in_${randomBytes(6).toString("hex")}`;
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  process.stderr.write(`incident ${incident}: ${cleanText(text, { maxBytes: TEXT_BYTES })}\n`);
  return incident;
}

function cleanDescription(text: string): string {
  return cleanText(text, { maxBytes: TEXT_BYTES });
}

/** What a server writes about its own troubles may hold paths of this machine. */
function cleanServerText(text: string): string {
  return cleanText(text, { maxBytes: TEXT_BYTES, paths: true });
}

/** Four 32-bit numbers, which is what the guest's generator takes. */
function createSeed(): readonly number[] {
  const bytes = randomBytes(16);
  return [0, 4, 8, 12].map((offset) => bytes.readUInt32LE(offset));
}

function createResultId(): ResultId {
  return parseResultId(`rs_${randomBytes(12).toString("hex")}`) ?? unreachable();
}

function createExecutionId(): ExecutionId {
  return parseExecutionId(`ex_${randomBytes(12).toString("hex")}`) ?? unreachable();
}

function createPrincipal(name: string, kind: Principal["kind"]): Principal {
  return { id: parsePrincipalId(name) ?? unreachable(), kind, groups: [] };
}

function unreachable(): never {
  throw new TypeError("A constant of this file is malformed");
}
