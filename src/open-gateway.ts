/** Opens every room of a gateway and connects them. */

import { homedir, hostname } from "node:os";
import { planCalls } from "./analysis/index.ts";
import { createDiscovery, createGuide, createProgramBridges, createProgramNetwork } from "./builtins/index.ts";
import { openCatalog, openShapes, watchTools } from "./catalog/index.ts";
import { checkProgram, openChecker } from "./checker/index.ts";
import { checkUnrestricted, createOwnMask, createReachCheck, followRuleFiles, readTextFile } from "./config/index.ts";
import type { Settings } from "./config/index.ts";
import { createUpstreams, resolveTemplates, watchRestarts, watchSecrets } from "./connectors/index.ts";
import { defined } from "./domain/index.ts";
import type { ChildKeeper } from "./domain/index.ts";
import { openMessageLine } from "./egress/index.ts";
import type { Egress } from "./egress/index.ts";
import { closeOrphans, connectRooms, createControl, createResults } from "./execution/index.ts";
import { keepRecords, openExecutions, showReplay } from "./execution/index.ts";
import type { KeptExecution, ReplayResult } from "./execution/index.ts";
import { isLocalClient, openIdentity } from "./identity/index.ts";
import { createPreview, recordLife, startExports, startRetention } from "./ledger/index.ts";
import { createClientApprovals, openFlows, openPolicy, openQuotas, reviewTools, stateTool } from "./policy/index.ts";
import { hasEnded, measureFamily, nameProcess, openReaper, watchFamily } from "./processes/index.ts";
import { confineEngine, createEngine, openNestedSandboxes, openSandbox, openSpareSandbox } from "./sandbox/index.ts";
import { timebox } from "./sandbox/index.ts";
import { offerSkills } from "./skills/index.ts";
import { createCheck, createGateway, createPeopleGuide, notifyPeople } from "./surfaces/index.ts";
import type { Gateway, OpenGateway } from "./surfaces/index.ts";
import { openFeed, openTelemetry } from "./telemetry/index.ts";
import type { Feed, Telemetry } from "./telemetry/index.ts";
import { createProgramSecrets, watchKey } from "./vault/index.ts";
import { VERSION, cleanDescription, createExecutionId, createHostPowers, createResultId } from "./host-powers.ts";
import { createSeed, drawBytes, drawHex } from "./host-powers.ts";
import type { HostPowers } from "./host-powers.ts";
import { APPROVALS_KEY, createDeskFor, leaseOf, openEgressFor } from "./open-records.ts";
import { openHeld, openQueue, openRecords, toSkillRecords } from "./open-records.ts";
import type { Records } from "./open-records.ts";

/** How often a gateway polls the store for requests of the command line, and its rule file. */
const environment = process.env;
const POLL_MS = 1_000;
const MAX_RESPONSE_BYTES = 64 * 1024;

export interface GatewayOptions {
  /** Must be true for a configuration that gives programs the whole network. */
  readonly unrestrictedNetwork?: boolean;
  /** True for a process that stays: it recovers executions that other processes left. */
  readonly lasting?: boolean;
  /** False for a process that probably runs no program: it starts no child ahead of the first one. */
  readonly runsPrograms?: boolean;
  /** By default new ones, which no other gateway shares. */
  readonly host?: HostPowers;
}

/** Opens every room after those that it needs, and closes them in reverse order. */
export async function openGateway(settings: Settings, options: GatewayOptions = {}): Promise<OpenGateway> {
  await using opened = new AsyncDisposableStack();
  const rooms = await openRooms(settings, options, opened);
  const { host, records, catalog, policy, sandbox, approvals, quotas, checker } = rooms;
  const [{ store, ledger }, { report, mask }, { analysis, profiles, server }] = [records, host, settings];
  const who = { oauth: { egress: rooms.egress, ...server.oauth }, providers: server.oidc, profiles };
  const identity = await openIdentity({ ...records, now: Date.now, random: drawBytes, ...who });
  const takeView: Gateway["takeSnapshot"] = async (who, needed) => policy.view(await catalog.takeSnapshot(needed), who);
  const discovery = createDiscovery({ ...rooms, takeView, hide: mask.hide });
  const names = { identity, createId: createExecutionId, createSeed, now: Date.now, owner: nameProcess(), hasEnded };
  const shared = { ...rooms, store, ledger, report, hide: mask.hide, traces: rooms.telemetry.traces, ...discovery };
  const deps = connectRooms({
    ...shared,
    ...names,
    analysis,
    maskPaths: createOwnMask(settings, import.meta.dirname, homedir()).own,
    limits: settings.sandbox.limits,
    durability: settings.store.durability,
    graceMs: settings.approvals.graceMs,
    spare: { ...rooms.spare, settings: settings.approvals },
    isLasting: options.lasting === true,
    check: (program, { surface, snapshot, ...more }) =>
      checkProgram(program, surface, { ...more, checker, guide: createGuide(snapshot), blocks: analysis.blockOnError }),
    bridge: createProgramBridges({
      ...shared,
      ...defined({ preview: settings.audit.previews ? createPreview(mask.hide) : undefined }),
      planCalls: ({ program, analysis: isWanted = true }, snapshot) =>
        program && analysis.enabled && isWanted ? planCalls(program.calls, snapshot, program.start) : undefined,
      stateTool: (tool) => stateTool(policy.current(), settings.policy.labels, tool),
    }),
  });
  const people = createPeopleGuide({ ...names, ...settings, values: store.meta, environment });
  opened.use(notifyPeople(settings.approvals.notify, { ...rooms, ...records, ...host, ...names, environment, people }));
  const executions = opened.use(openExecutions(deps, { everyMs: POLL_MS, quotas, approvals }));
  const { engine, isolation, layers } = sandbox;
  const resources = opened.move();
  const gateway = createGateway({
    executions,
    ledger: store.ledger,
    history: createControl({ ...approvals, ...deps, store, unlock: () => records.vault.openSeal() }),
    health: { version: VERSION, engine, isolation, layers, startedAt: Date.now() },
    check: createCheck({ store, sandbox, policy, report, now: Date.now }),
    takeView,
    statuses: () => catalog.statuses(),
    changes: [(listener) => rooms.watch.onToolsChanged(listener), (listener) => policy.onChange(listener)],
    ...discovery,
    skills: rooms.skills.door,
    answerTokens: settings.catalog,
    ...defined({ clientApprovals: rooms.clientApprovals, metrics: rooms.metrics, skillFiles: rooms.skills.files }),
    expose: settings.expose,
    escapeHtml: settings.output.escapeHtml,
    patienceMs: settings.clients.patienceMs,
    held: openHeld(records),
    approvals: createDeskFor(settings, approvals, records, host),
    onApprovalRequested: (listener) => approvals.onRequested(listener),
    people,
    close: () => resources.disposeAsync(),
  });
  return { ...gateway, identity, agent: await identity.local(), vault: records.vault };
}

async function openRooms(settings: Settings, options: GatewayOptions, opened: AsyncDisposableStack) {
  const { host = createHostPowers() } = options;
  const { report, warn, mask } = host;
  checkUnrestricted(settings, options.unrestrictedNetwork === true, warn);
  const { engine: engineName, isolation, networkPolicy: policyOfPrograms, ...sandboxSettings } = settings.sandbox;
  const engine = await confineEngine(createEngine(engineName, process.execPath), isolation);
  const keeper = opened.use(openReaper());
  const feed = await openFeed(settings, { now: Date.now, report });
  const records = opened.use(await openRecords(settings, host, defined({ onCommitted: feed?.committed })));
  const { store, ledger, vault } = records;
  const { source, folder: _, ...sections } = settings;
  opened.use(await recordLife({ ...records, source: source.kind, sections, version: VERSION, process: nameProcess() }));
  const policyPowers = { settings: settings.policy, everyMs: POLL_MS, record: records.record, meta: store.meta, warn };
  const policy = opened.use(await openPolicy({ ...policyPowers, ...defined({ file: followRuleFiles(settings) }) }));
  await vault.ready();
  await vault.known(); // masks every secret that is set
  opened.use(watchKey({ vault, everyMs: POLL_MS, warn }));
  const egress = opened.use(openEgressFor(settings, records, host));
  const telemetry = await openObservers(settings, { records, egress, host, feed }, opened);
  const upstreams = await openUpstreams(settings, { records, egress, host }, keeper);
  const { connectors, borrowers } = upstreams;
  for (const connector of connectors) opened.use(connector);
  const shapes = settings.catalog.learn ? opened.use(await openShapes({ ...records, now: Date.now })) : undefined;
  upstreams.startEager();
  opened.use(watchRestarts({ connectors, values: store.meta, everyMs: POLL_MS }));
  opened.use(watchSecrets({ borrowers, list: () => vault.list(), everyMs: POLL_MS }));
  const { catalog, ...skills } = openTools(settings, records, { ...upstreams, opened });
  const children = { ...sandboxSettings, engine, keeper, now: Date.now, seed: createSeed };
  const sandbox = opened.use(openSandbox({ ...children, warm: options.runsPrograms === false ? 0 : 1 }));
  const approvals = opened.use(await openQueue(settings, records, { ...host, beforeDecided: () => policy.refresh() }));
  const seal = await vault.openSeal();
  await closeOrphans({ store, ledger, hasEnded });
  const kept = { journal: settings.journal, executions: settings.executions, store, seal, now: Date.now, report };
  const { journals, retention } = opened.use(keepRecords(kept));
  const approved = { read: () => store.meta.get(APPROVALS_KEY), everyMs: POLL_MS };
  const watch = opened.use(watchTools(catalog, connectors, approved));
  const checker = opened.use(openChecker({ node: process.execPath, keeper, now: Date.now, measure: measureFamily }));
  const metrics = await telemetry.openMetrics({
    build: { version: VERSION, engine: sandbox.engine, isolation: sandbox.isolation },
    sandbox: () => sandbox.load(),
    upstreams: () => catalog.statuses(),
    checkerStarts: () => checker.stats().starts,
  });
  const client = { approvals, seal, hide: mask.hide, isLocal: isLocalClient, duties: settings.approvals };
  const observed = { egress, shapes, metrics, timebox };
  const basics = { host, records, policy, catalog, sandbox, approvals, journals, retention, watch, checker, telemetry };
  return {
    ...basics,
    ...observed,
    spare: opened.use(openSpareSandbox(children)),
    skills: { ...skills, ...opened.use(openNestedSandboxes(children)) },
    clientApprovals: createClientApprovals({ ...client, isEnabled: client.duties.elicitation }),
    results: createResults({ ...settings.results, store: store.results, now: Date.now, createId: createResultId }),
    flows: opened.use(await openFlows({ settings: settings.policy, store, everyMs: POLL_MS, now: Date.now })),
    quotas: openQuotas({ settings: settings.quotas, store: store.quotas, now: Date.now }),
    secrets: createProgramSecrets({ grants: settings.sandbox.secrets, vault, ledger, seal, mask }),
    network: createProgramNetwork({ egress, policy: policyOfPrograms, ceiling: settings.egress.networkPolicy }),
  };
}

/** The tools of all upstreams, and approved skills beside them. */
function openTools(settings: Settings, records: Records, { connectors, pinModeOf: modeOf, opened }: ToolParts) {
  const known = { pins: { store: records.store.pins, record: records.record, modeOf }, ...reviewTools(settings) };
  const tools = opened.use(openCatalog({ connectors, now: Date.now, clean: cleanDescription, ...known }));
  return offerSkills(tools, toSkillRecords(settings, records));
}

type Foundation = { readonly records: Records; readonly egress: Egress; readonly host: HostPowers };
type ToolParts = Awaited<ReturnType<typeof createUpstreams>> & { readonly opened: AsyncDisposableStack };

/** Exports of the ledger, its retention and telemetry. */
async function openObservers(
  settings: Settings,
  { records, egress, host, feed }: Foundation & { readonly feed: Feed | undefined },
  opened: AsyncDisposableStack,
): Promise<Telemetry> {
  const resolve = (templates: Parameters<typeof resolveTemplates>[0], purpose: string) =>
    resolveTemplates(templates, records.vault, purpose);
  const common = { ...records, version: VERSION, now: Date.now, resolveTemplates: resolve };
  const fetchFrom = (origin: string) => egress.fetchFrom(origin, { maxBytes: MAX_RESPONSE_BYTES, mayBePrivate: true });
  const origin = { host: hostname(), pid: process.pid };
  const sending = { destinations: settings.audit.exports, origin, openMessages: openMessageLine, fetchFrom };
  const exporter = opened.use(startExports({ ...common, ...sending, holder: nameProcess(), hasEnded }));
  records.ledger.onAppended(() => exporter.wake());
  opened.use(startRetention({ ...common, ...settings.ledger, exports: settings.audit.exports.map(({ id }) => id) }));
  const collector = process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const more = { settings, egress, collector, createTraceId: () => drawHex(16) };
  return opened.use(await openTelemetry(feed, { ...common, ...more, ...host }));
}

function openUpstreams(
  settings: Settings,
  { records, egress, host: { mask } }: Foundation,
  keeper: ChildKeeper,
): ReturnType<typeof createUpstreams> {
  const { store, ledger, vault } = records;
  const powers = { settings, egress, keeper, vault, mask, watchFamily, now: Date.now, environment };
  return createUpstreams({
    ...powers,
    paths: createOwnMask(settings, import.meta.dirname, homedir()),
    checkReach: createReachCheck(settings, process.env),
    values: store.meta,
    holdLease: leaseOf(records),
    readDocument: (path, maxBytes) => readTextFile(path, { maxBytes, kind: "an OpenAPI document" }),
    write: (entry) => ledger.write(entry, "batched"),
    packages: { folder: records.packageFolder, record: records.record },
  });
}

/** Opens a sandbox and nothing else: no store, no upstream, no network. */
export async function replayRecording(
  { sandbox: { isolation }, analysis }: Settings,
  kept: KeptExecution,
  request: Parameters<typeof showReplay>[1],
  { mask, report }: HostPowers,
): Promise<ReplayResult> {
  await using keeper = openReaper();
  const powers = { node: process.execPath, keeper, now: Date.now, createSeed, report, hide: mask.hide };
  return await showReplay(kept, request, { ...powers, isolation, analysis: { ...analysis, timebox } });
}
