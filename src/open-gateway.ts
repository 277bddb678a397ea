/** Opens every room of the gateway and puts them together. */

import { createRequire } from "node:module";

import { pollEvery } from "./timing/index.ts";
import { planCalls } from "./analysis/index.ts";
import type { LedgerEntry, Ledger } from "./ledger/index.ts";
import { createDescribe, createProgramNetwork } from "./builtins/index.ts";
import { createSearch, openCatalog, openShapes, watchTools } from "./catalog/index.ts";
import type { Drift, SearchRequest, SearchResult, Shapes } from "./catalog/index.ts";
import { openChecker } from "./checker/index.ts";
import { followRules, readTextFile } from "./config/index.ts";
import type { Settings } from "./config/index.ts";
import { createUpstreams, watchRestarts, watchSecrets } from "./connectors/index.ts";
import { tightenLimits } from "./domain/index.ts";
import type { CatalogSnapshot, ChildKeeper, EngineName, Limits, Principal } from "./domain/index.ts";
import { closeOrphans, createExecutions, createHistory } from "./execution/index.ts";
import type { ExecutionsOptions } from "./execution/index.ts";
import { createLabeler, findServerPlaces, openPolicy } from "./policy/index.ts";
import type { Flows, Policy } from "./policy/index.ts";
import { hasEnded, measureFamily, openReaper, watchFamily } from "./processes/index.ts";
import {
  confineEngine,
  createIsolateEngine,
  createQuickjsEngine,
  createWorkerdEngine,
  openSandbox,
} from "./sandbox/index.ts";
import type { Engine } from "./sandbox/index.ts";
import { openStore } from "./store/index.ts";
import type { Store } from "./store/index.ts";
import type { Gateway } from "./surfaces/index.ts";
import { createKeyLook, createProgramSecrets } from "./vault/index.ts";
import type { Vault } from "./vault/index.ts";
import { checkUnrestricted, networkOf, openEgressOf } from "./create-network.ts";
import { createRooms } from "./create-rooms.ts";
import type { Parts } from "./create-rooms.ts";
import { cleanDescription, createSeed, mask, reportIncident, warnOperator } from "./host-powers.ts";
import { recordStart, startExports, startRetention } from "./keep-ledger.ts";
import { leaseOf } from "./open-logins.ts";
import { openDesk } from "./open-approvals.ts";
import { openKept } from "./open-kept.ts";
import { openFeed, openMetrics, openWatchers } from "./open-watching.ts";
import { APPROVALS, createVault, hideSecrets, openHeld, openLedgerOf } from "./open-records.ts";

const MANIFEST = createRequire(import.meta.url)("../package.json") as { readonly version: string };
/** How often a running gateway looks for word from the command line, and at its rule file. */
const LOOK_MS = 1000;

/** As the command line prints it and `/health` says it. */
export const VERSION = MANIFEST.version;

/** What an operator says beside the configuration. */
export interface OpenFlags {
  /** Must be true for a configuration that gives programs the whole network. */
  readonly unrestrictedNetwork?: boolean;
  /** True for a process that stays: it goes on with executions that others left. */
  readonly lasting?: boolean;
}

/** Opens every room in the order of who needs whom, and closes them in the other. */
export async function openGateway(settings: Settings, flags: OpenFlags = {}): Promise<Gateway> {
  checkUnrestricted(settings, flags.unrestrictedNetwork === true, warnOperator);
  const engine = await confineEngine(chooseEngine(settings.sandbox.engine), settings.sandbox.isolation);
  await using opened = new AsyncDisposableStack();
  const keeper = opened.use(openReaper());
  const store = opened.use(await openStore({ path: settings.store.path, now: Date.now }));
  let note = (): void => undefined;
  const feed = await openFeed(settings);
  const heard = { onAppended: () => note(), ...(feed && { onCommitted: feed.committed }) };
  const { ledger, signer, seed } = await openLedgerOf(settings, store, heard);
  opened.use(ledger);
  opened.defer(() => recordEnd(ledger));
  await closeOrphans({ store, ledger, hasEnded });
  await recordStart(settings, { store, ledger, version: VERSION, seed });
  const policy = opened.use(await openPolicyOf(settings, store, ledger));
  const vault = opened.use(createVault(settings, store, ledger));
  await vault.ready();
  await hideSecrets(vault);
  opened.use(pollEvery(LOOK_MS, createKeyLook({ vault, warn: warnOperator })));
  const egress = opened.use(openEgressOf(settings, vault));
  const around = { store, ledger, signer, egress, vault, version: VERSION };
  const exporter = opened.use(startExports(settings, around));
  note = () => exporter.wake();
  opened.use(startRetention(settings, around));
  const watchers = opened.use(await openWatchers(settings, feed, around));
  const parts = { keeper, egress, store, vault, ledger };
  const upstreams = await openUpstreams(settings, parts);
  const { connectors, borrowers, pinModeOf } = upstreams;
  for (const connector of connectors) opened.use(connector);
  const shapes = settings.catalog.learn ? opened.use(await learnShapes(store, ledger)) : undefined;
  const pins = {
    store: store.pins,
    record: (entry: LedgerEntry) => ledger.write(entry),
    modeOf: pinModeOf,
  };
  upstreams.startEager();
  opened.use(watchRestarts({ connectors, values: store.meta, everyMs: LOOK_MS }));
  opened.use(watchSecrets({ borrowers, list: () => vault.list(), everyMs: LOOK_MS }));
  const labelsOf = createLabeler({ places: findServerPlaces(settings), rules: settings.policy.labels });
  const catalog = opened.use(openCatalog({ connectors, now: Date.now, clean: cleanDescription, pins, labelsOf }));
  const { concurrency, queue, limits } = settings.sandbox;
  const sandbox = opened.use(
    openSandbox({ engine, keeper, concurrency, queue, limits, now: Date.now, seed: createSeed }),
  );
  const kept = await openKept(settings, parts, opened);
  const watch = opened.use(
    watchTools(catalog, connectors, { read: () => store.meta.get(APPROVALS), everyMs: LOOK_MS }),
  );
  const checker = opened.use(openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily }));
  const metrics = await openMetrics(settings, { version: VERSION, watchers, sandbox, catalog, checker });
  const rooms = opened.move();
  const close = (): Promise<void> => rooms.disposeAsync();
  const tokenKey = (await vault.openSeal()).derive("tokens of programs");
  const secrets = createProgramSecrets({ grants: settings.sandbox.secrets, vault, ledger, mask, tokenKey });
  const more = { ...kept, isLasting: flags.lasting === true, watch, watchers, secrets, ...(shapes && { shapes }) };
  const whole = { settings, store, ledger, catalog, policy, sandbox, checker, egress, close, ...more };
  return { ...createGateway(whole), ...metrics };
}

function openUpstreams(
  settings: Settings,
  parts: Pick<Parts, "store" | "ledger" | "egress"> & { readonly vault: Vault; readonly keeper: ChildKeeper },
): ReturnType<typeof createUpstreams> {
  const { store, ledger } = parts;
  return createUpstreams({
    ...parts,
    settings,
    mask,
    watchFamily,
    values: store.meta,
    holdLease: leaseOf(store),
    environment: process.env,
    readDocument: (path, maxBytes) => readTextFile(path, { maxBytes, kind: "an OpenAPI document" }),
    record: (entry) => void ledger.write(entry, "batched").catch(() => undefined),
    now: Date.now,
  });
}

/** The rules of the configuration and of its rule file, if it names one. */
function openPolicyOf({ policy }: Settings, store: Store, ledger: Ledger): Promise<Policy> {
  const file =
    policy.file === undefined ? undefined : followRules(policy.file, new Set(policy.rules.map(({ id }) => id)));
  return openPolicy({
    settings: policy,
    ...(file && { file }),
    everyMs: LOOK_MS,
    record: (entry) => ledger.write(entry),
    meta: store.meta,
    warn: warnOperator,
  });
}

/** A store that is away must not keep a gateway from ending. */
async function recordEnd(ledger: Ledger): Promise<void> {
  await ledger
    .write({ actor: "gateway", action: "gateway.closed", subject: VERSION, detail: {} })
    .catch(() => undefined);
}

function learnShapes(store: Store, ledger: Ledger): Promise<Shapes> {
  const record = (drift: Drift) => ledger.write({ actor: "gateway", action: "shape.drifted", ...drift });
  return openShapes({ store: store.shapes, now: Date.now, record });
}

/** There is no falling back: whoever named an engine gets it or an error. */
export function chooseEngine(name: EngineName): Engine {
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

function search(snapshot: CatalogSnapshot, query: SearchRequest): SearchResult {
  const found = createSearch(snapshot)(query);
  return { ...found, tools: found.tools.map((tool) => ({ ...tool, summary: mask.hide(tool.summary) })) };
}

/** What was learned of results is for those who read, and not for the check of programs. */
function openDescribe(
  { settings, catalog, results, shapes, flows, secrets, egress }: Parts,
  takeView: (principal: Principal) => Promise<CatalogSnapshot>,
): Gateway["describe"] {
  return createDescribe({
    takeSnapshot: async (principal) => {
      const plain = await takeView(principal);
      return shapes?.addTo(plain) ?? plain;
    },
    summarizeResult: (principal, handle) => results.summarize(principal, handle),
    takeIn: (principal, sources) => flows.takeIn(principal, sources),
    statuses: () => catalog.statuses(),
    hasNetwork: createProgramNetwork({ egress, ...networkOf(settings) }).has(),
    grantsOf: (principal) => secrets.grantsOf(principal),
    hide: mask.hide,
  });
}

function createGateway(parts: Parts): Gateway {
  const { settings, store, ledger, catalog, policy, sandbox, results, flows } = parts;
  const { engine, isolation, layers } = sandbox;
  const takeView = async (principal: Principal): Promise<CatalogSnapshot> =>
    policy.view(await catalog.takeSnapshot(), principal);
  const startedAt = Date.now();
  const takeIn: Flows["takeIn"] = (principal, sources) => flows.takeIn(principal, sources);
  const sourcesOf: Flows["sourcesOf"] = (execution) => flows.sourcesOf(execution);
  const describe = openDescribe(parts, takeView);
  const rooms = createRooms(parts, describe);
  const { limits } = settings.sandbox;
  const kept = { store, hasEnded, results };
  const executions = createExecutions({ rooms, ...kept, limits, now: Date.now, takeIn, sourcesOf });
  const history = createHistory({ store, engine, isolation, now: Date.now });
  const watch = pollEvery(
    LOOK_MS,
    async () => void (await Promise.all([executions.cancelRequested(), rooms.noteHeld()])),
  );
  const recovered = executions.recover().catch(reportIncident);
  const forget = parts.approvals.onDecided(({ execution }) => void executions.resumeIfDecided(execution));
  const close = async (): Promise<void> => {
    forget();
    await watch[Symbol.asyncDispose]();
    await executions.stop();
    await recovered; // a command that is over in a moment gives lost executions their end, too
    await parts.close();
  };
  return {
    ...executions,
    expose: settings.expose,
    escapeHtml: settings.output.escapeHtml,
    patienceMs: settings.clients.patienceMs,
    ...(parts.questions && { questions: parts.questions }),
    onToolsChanged: (listener) => {
      const forgets = [parts.watch.onToolsChanged(listener), policy.onChange(listener)];
      return () => forgets.forEach((forget) => forget());
    },
    takeSnapshot: takeView,
    plan: createPlan(rooms, takeView, limits),
    search: async (principal, query) => ({ ...search(await takeView(principal), query), servers: catalog.statuses() }),
    describe,
    held: openHeld(store, ledger),
    approvals: openDesk(parts.approvals, store),
    executions: async (limit) => history.list({ limit }),
    health: () => ({ version: VERSION, engine, isolation, layers, upstreams: catalog.statuses(), startedAt }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What a program can call, told from its text alone. */
function createPlan(
  rooms: Pick<ExecutionsOptions["rooms"], "analyze" | "declare">,
  takeView: (principal: Principal) => Promise<CatalogSnapshot>,
  limits: Limits,
): Gateway["plan"] {
  return async ({ code, limits: wanted = {}, signal = new AbortController().signal, ...request }) => {
    const snapshot = await takeView(request.principal);
    const asked = { ...request, signal, source: code, limits: tightenLimits(limits, wanted) };
    const analyzed = rooms.analyze(asked, rooms.declare(snapshot));
    if (!analyzed.ok) return analyzed;
    const { calls, findings } = analyzed.program;
    return { ok: true, plan: planCalls(calls, snapshot), findings };
  };
}
