/** Opens every room of a gateway and connects them. */

import { hostname } from "node:os";

import { planCalls } from "./analysis/index.ts";
import { createDescribe, createProgramNetwork } from "./builtins/index.ts";
import { createSearch, openCatalog, openShapes, watchTools } from "./catalog/index.ts";
import { openChecker } from "./checker/index.ts";
import { checkUnrestricted, followRules, readTextFile } from "./config/index.ts";
import type { Settings } from "./config/index.ts";
import { createUpstreams, resolveTemplates, watchRestarts, watchSecrets } from "./connectors/index.ts";
import { defined, tightenLimits } from "./domain/index.ts";
import type { CatalogSnapshot, ChildKeeper, EngineName, Limits, Principal } from "./domain/index.ts";
import { openMessageLine } from "./egress/index.ts";
import type { Egress } from "./egress/index.ts";
import {
  closeOrphans,
  createExecutions,
  createHistory,
  createResults,
  keepJournals,
  showReplay,
} from "./execution/index.ts";
import type { ExecutionDeps, KeptExecution, ReplayResult } from "./execution/index.ts";
import { recordStart, startExports, startRetention } from "./ledger/index.ts";
import type { LedgerEntry } from "./ledger/index.ts";
import { createClientApprovals, createLabeler, openFlows, openPolicy } from "./policy/index.ts";
import type { Policy } from "./policy/index.ts";
import { hasEnded, measureFamily, nameProcess, openReaper, watchFamily } from "./processes/index.ts";
import { confineEngine, createEngine, openSandbox, timebox } from "./sandbox/index.ts";
import type { Sandbox } from "./sandbox/index.ts";
import type { Gateway } from "./surfaces/index.ts";
import { openFeed, openTelemetry } from "./telemetry/index.ts";
import type { Feed, Telemetry } from "./telemetry/index.ts";
import { NEVER, pollEvery } from "./timing/index.ts";
import { createProgramSecrets, watchKey } from "./vault/index.ts";
import { createRooms, networkOf } from "./create-rooms.ts";
import type { Parts } from "./create-rooms.ts";
import { VERSION, cleanDescription, createHostPowers, createResultId, createSeed, drawHex } from "./host-powers.ts";
import type { HostPowers } from "./host-powers.ts";
import {
  APPROVALS_KEY,
  createDeskFor,
  leaseOf,
  openEgressFor,
  openHeld,
  openQueue,
  openRecords,
} from "./open-records.ts";
import type { Records } from "./open-records.ts";

/** How often a gateway polls the store for requests of the command line, and its rule file. */
const POLL_MS = 1_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

export interface GatewayOptions {
  /** Must be true for a configuration that gives programs the whole network. */
  readonly unrestrictedNetwork?: boolean;
  /** True for a process that stays: it recovers executions that other processes left. */
  readonly lasting?: boolean;
  /** By default new ones, which no other gateway shares. */
  readonly host?: HostPowers;
}

/** Opens every room after those that it needs, and closes them in reverse order. */
export async function openGateway(settings: Settings, options: GatewayOptions = {}): Promise<Gateway> {
  const { host = createHostPowers() } = options;
  checkUnrestricted(settings, options.unrestrictedNetwork === true, host.warn);
  const { engine: engineName, isolation, ...sandboxSettings } = settings.sandbox;
  const engine = await confineEngine(createEngine(engineName, process.execPath), isolation);
  await using opened = new AsyncDisposableStack();
  const keeper = opened.use(openReaper());
  const feed = await openFeed(settings, { now: Date.now, report: host.report });
  const records = opened.use(await openRecords(settings, host, defined({ onCommitted: feed?.committed })));
  const { store, ledger, vault } = records;
  await recordLife(settings, records, opened);
  const policy = opened.use(await openPolicyFor(settings, records, host));
  await vault.ready();
  await vault.known(); // masks every secret that is set
  opened.use(watchKey({ vault, everyMs: POLL_MS, warn: host.warn }));
  const egress = opened.use(openEgressFor(settings, records, host));
  const telemetry = await openObservers(settings, { records, egress, host, feed, opened });
  const upstreams = await openUpstreams(settings, { records, egress, keeper, host });
  const { connectors } = upstreams;
  for (const connector of connectors) opened.use(connector);
  const shapes = settings.catalog.learn ? opened.use(await openShapesFor(records)) : undefined;
  upstreams.startEager();
  opened.use(watchRestarts({ connectors, values: store.meta, everyMs: POLL_MS }));
  opened.use(watchSecrets({ borrowers: upstreams.borrowers, list: () => vault.list(), everyMs: POLL_MS }));
  const labelsOf = createLabeler(settings, settings.policy.labels);
  const pins = { store: store.pins, record: (entry: LedgerEntry) => ledger.write(entry), modeOf: upstreams.pinModeOf };
  const catalog = opened.use(openCatalog({ connectors, now: Date.now, clean: cleanDescription, pins, labelsOf }));
  const sandbox = opened.use(openSandbox({ ...sandboxSettings, engine, keeper, now: Date.now, seed: createSeed }));
  const approvals = opened.use(await openQueue(settings, records, host));
  const seal = await vault.openSeal();
  const journalSettings = { ...settings.journal, store: store.journals, seal, now: Date.now, report: host.report };
  const journals = opened.use(keepJournals(journalSettings));
  const approvedAt = { read: () => store.meta.get(APPROVALS_KEY), everyMs: POLL_MS };
  const watch = opened.use(watchTools(catalog, connectors, approvedAt));
  const checker = opened.use(openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily }));
  const tokenKey = seal.derive("tokens of programs");
  const metrics = await telemetry.openMetrics({
    build: { version: VERSION, engine: sandbox.engine, isolation: sandbox.isolation },
    sandbox: () => sandbox.load(),
    upstreams: () => catalog.statuses(),
    checkerStarts: () => checker.stats().starts,
  });
  const clientOptions = { approvals, seal, hide: host.mask.hide, isEnabled: settings.approvals.elicitation };
  const rooms = { records, store, ledger, catalog, policy, sandbox, checker, egress, telemetry, approvals, journals };
  const parts = {
    ...rooms,
    settings,
    host,
    watch,
    isLasting: options.lasting === true,
    ...defined({ shapes, metrics, clientApprovals: createClientApprovals(clientOptions) }),
    results: createResults({ ...settings.results, store: store.results, now: Date.now, createId: createResultId }),
    flows: await openFlows({ mode: settings.policy.flows, store: store.labels, now: Date.now }),
    secrets: createProgramSecrets({ grants: settings.sandbox.secrets, vault, ledger, tokenKey, mask: host.mask }),
  };
  const resources = opened.move();
  return createGateway({ ...parts, close: () => resources.disposeAsync() });
}

/** Records the start now and the end when `opened` is disposed. */
async function recordLife(
  { source, folder: _, ...sections }: Settings,
  { store, ledger, seed }: Records,
  opened: AsyncDisposableStack,
): Promise<void> {
  const closed = { actor: "gateway", action: "gateway.closed", subject: VERSION, detail: {} };
  // A store that is unavailable must not keep a gateway from ending.
  opened.defer(async () => void (await ledger.write(closed).catch(() => undefined)));
  await closeOrphans({ store, ledger, hasEnded });
  await recordStart({ store, ledger, version: VERSION, source: source.kind, sections, seed, process: nameProcess() });
}

/** The rules of the configuration and of its rule file, if it names one. */
function openPolicyFor({ policy }: Settings, { store, ledger }: Records, { warn }: HostPowers): Promise<Policy> {
  const ids = new Set(policy.rules.map(({ id }) => id));
  return openPolicy({
    settings: policy,
    ...defined({ file: policy.file === undefined ? undefined : followRules(policy.file, ids) }),
    everyMs: POLL_MS,
    record: (entry) => ledger.write(entry),
    meta: store.meta,
    warn,
  });
}

interface ObservedParts {
  readonly records: Records;
  readonly egress: Egress;
  readonly host: HostPowers;
  readonly feed: Feed | undefined;
  readonly opened: AsyncDisposableStack;
}

/** Exports of the ledger, its retention and telemetry. */
async function openObservers(settings: Settings, parts: ObservedParts): Promise<Telemetry> {
  const { records, egress, host, feed, opened } = parts;
  const { ledger, vault } = records;
  const { audit } = settings;
  const resolve = (templates: Parameters<typeof resolveTemplates>[0], purpose: string) =>
    resolveTemplates(templates, vault, purpose);
  const common = { ...records, version: VERSION, now: Date.now, resolveTemplates: resolve };
  const exporter = opened.use(
    startExports({
      ...common,
      destinations: audit.exports,
      holder: nameProcess(),
      hasEnded,
      origin: { host: hostname(), pid: process.pid },
      openMessages: openMessageLine,
      fetchFrom: (origin) => egress.fetchFrom(origin, { maxBytes: MAX_RESPONSE_BYTES, mayBePrivate: true }),
    }),
  );
  ledger.onAppended(() => exporter.wake());
  const { retention } = settings.ledger;
  opened.use(startRetention({ ...common, retention, exports: audit.exports.map(({ id }) => id) }));
  const collector = process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const createTraceId = (): string => drawHex(16);
  return opened.use(await openTelemetry(feed, { ...common, settings, egress, collector, createTraceId, ...host }));
}

interface UpstreamParts {
  readonly records: Records;
  readonly egress: Egress;
  readonly keeper: ChildKeeper;
  readonly host: HostPowers;
}

function openUpstreams(
  settings: Settings,
  { records: { store, ledger, vault }, egress, keeper, host: { mask } }: UpstreamParts,
): ReturnType<typeof createUpstreams> {
  const powers = { egress, keeper, vault, mask, watchFamily, now: Date.now, environment: process.env };
  return createUpstreams({
    ...powers,
    settings,
    values: store.meta,
    holdLease: leaseOf(store),
    readDocument: (path, maxBytes) => readTextFile(path, { maxBytes, kind: "an OpenAPI document" }),
    record: (entry) => void ledger.write(entry, "batched").catch(() => undefined),
  });
}

function openShapesFor({ store, ledger }: Records): ReturnType<typeof openShapes> {
  return openShapes({
    store: store.shapes,
    now: Date.now,
    record: (drift) => ledger.write({ actor: "gateway", action: "shape.drifted", ...drift }),
  });
}

type TakeView = (principal: Principal) => Promise<CatalogSnapshot>;

function createGateway(parts: Parts & { readonly records: Records; readonly metrics?: () => string }): Gateway {
  const { settings, host, records, store, catalog, policy, sandbox, approvals } = parts;
  const { engine, isolation, layers } = sandbox;
  const takeView: TakeView = async (principal) => policy.view(await catalog.takeSnapshot(), principal);
  const startedAt = Date.now();
  const describe = openDescribe(parts, takeView);
  const deps = createRooms(parts, describe);
  const { limits } = settings.sandbox;
  const executions = createExecutions(deps);
  const history = createHistory({ store, engine, isolation, now: Date.now });
  const polling = pollEvery(
    POLL_MS,
    async () => void (await Promise.all([executions.cancelRequested(), deps.noteHeld()])),
  );
  const recovered = executions.recover().catch(host.report);
  const stopListening = approvals.onDecided(({ execution }) => void executions.resumeIfDecided(execution));
  const close = async (): Promise<void> => {
    stopListening();
    await polling[Symbol.asyncDispose]();
    await executions.stop();
    await recovered; // so that even a short command closes lost executions
    await parts.close();
  };
  return {
    ...executions,
    expose: settings.expose,
    escapeHtml: settings.output.escapeHtml,
    patienceMs: settings.clients.patienceMs,
    ...defined({ clientApprovals: parts.clientApprovals, metrics: parts.metrics }),
    onToolsChanged: (listener) => {
      const stops = [parts.watch.onToolsChanged(listener), policy.onChange(listener)];
      return () => stops.forEach((stop) => stop());
    },
    takeSnapshot: takeView,
    plan: createPlan(deps, takeView, limits),
    search: async (principal, query) => {
      const found = createSearch(await takeView(principal))(query);
      const tools = found.tools.map((tool) => ({ ...tool, summary: host.mask.hide(tool.summary) }));
      return { ...found, tools, servers: catalog.statuses() };
    },
    describe,
    held: openHeld(records),
    approvals: createDeskFor(approvals, records, host),
    executions: async (limit) => history.list({ limit }),
    health: () => ({ version: VERSION, engine, isolation, layers, upstreams: catalog.statuses(), startedAt }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Learned result shapes are for readers and not for the check of programs. */
function openDescribe(
  { settings, host, catalog, results, shapes, flows, secrets, egress }: Parts,
  takeView: TakeView,
): Gateway["describe"] {
  return createDescribe({
    takeSnapshot: async (principal) => {
      const snapshot = await takeView(principal);
      return shapes?.addTo(snapshot) ?? snapshot;
    },
    summarizeResult: (principal, handle) => results.summarize(principal, handle),
    takeIn: (principal, sources) => flows.takeIn(principal, sources),
    statuses: () => catalog.statuses(),
    hasNetwork: createProgramNetwork({ egress, ...networkOf(settings) }).has(),
    grantsOf: (principal) => secrets.grantsOf(principal),
    hide: host.mask.hide,
  });
}

/** Returns what a program can call, from its source alone. */
function createPlan(
  deps: Pick<ExecutionDeps, "analyze" | "declare">,
  takeView: TakeView,
  limits: Limits,
): Gateway["plan"] {
  return async ({ limits: wanted = {}, signal = NEVER, ...request }) => {
    const snapshot = await takeView(request.principal);
    const analyzed = deps.analyze(
      { ...request, signal, limits: tightenLimits(limits, wanted) },
      deps.declare(snapshot),
    );
    if (!analyzed.ok) return analyzed;
    const { calls, findings } = analyzed.program;
    return { ok: true, plan: planCalls(calls, snapshot), findings };
  };
}

/** Opens a sandbox and nothing else: no store, no upstream, no network. */
export async function replayRecording(
  { sandbox: { isolation }, analysis }: Settings,
  kept: KeptExecution,
  request: Parameters<typeof showReplay>[1],
  { mask, report }: HostPowers,
): Promise<ReplayResult> {
  await using keeper = openReaper();
  const openFor = async (name: EngineName, limits: Limits): Promise<Sandbox> => {
    const engine = await confineEngine(createEngine(name, process.execPath), isolation);
    return openSandbox({ engine, keeper, concurrency: 1, queue: 1, limits, now: Date.now, seed: createSeed });
  };
  const options = { openSandbox: openFor, analysis: { ...analysis, timebox }, report, hide: mask.hide };
  return await showReplay(kept, request, options);
}
