/** Opens what a store keeps: the same way for a whole gateway and for every command that needs no upstream. */

import { compareTools, findChange, listKnownTools, openHeldDefinitions } from "./catalog/index.ts";
import { createReachCheck, findStoreFiles, openRuleBook } from "./config/index.ts";
import type { Settings } from "./config/index.ts";
import { createLease, createLoginStore, createLogins, requestRestart, resolveProxyLogin } from "./connectors/index.ts";
import { createUpdatePackage } from "./connectors/index.ts";
import { defined } from "./domain/index.ts";
import { openEgress } from "./egress/index.ts";
import { openIdentity } from "./identity/index.ts";
import { createControl, createHistory, createSkillRuns, findRecording, openJournals } from "./execution/index.ts";
import { createSigner, openReader, openSignedLedger } from "./ledger/index.ts";
import { createAlwaysRules, createDesk, createLabelDesk, openApprovals, openQuotas } from "./policy/index.ts";
import { hasEnded, nameProcess, openReaper } from "./processes/index.ts";
import { timebox } from "./sandbox/index.ts";
import { openSkillRecords } from "./skills/index.ts";
import { openStore, openStoreToRead } from "./store/index.ts";
import { findPage } from "./surfaces/index.ts";
import type { OperatorRecords, StoredRecords } from "./surfaces/index.ts";
import { findSigningKey, loadSigningKey, maskKnownSecrets, openVault, unlockToRead } from "./vault/index.ts";
import { cleanDescription, createApprovalId, createHostPowers } from "./host-powers.ts";
import { createSeed, drawBytes, drawHex } from "./host-powers.ts";
import type { HostPowers } from "./host-powers.ts";

const SEED_BYTES = 32;
/** Assumed of an execution whose process did not record its isolation. */
const LEAST = "process";
/** Where running gateways notice that definitions were approved: the value changes each time. */
export const APPROVALS_KEY = "approvals";

/** The store with the ledger and the vault on it. Closing it closes all three, the store last. */
export type Records = Awaited<ReturnType<typeof openRecords>>;

/** Creates on first use what is missing: the store, the key of the ledger beside it and, when needed, that of the vault. */
export async function openRecords(
  { store: place }: Settings,
  { mask, announce, report }: HostPowers = createHostPowers(),
  listeners: Pick<Parameters<typeof openSignedLedger>[0], "onCommitted"> = {},
) {
  await using opened = new AsyncDisposableStack();
  const store = opened.use(await openStore({ ...place, now: Date.now, announce }));
  // What is signed or sealed in memory ends with the process, and so do its keys.
  const files = findStoreFiles(place.path);
  const { seed, isNew } = files
    ? loadSigningKey(files.signingKey, drawBytes)
    : { seed: drawBytes(SEED_BYTES), isNew: true };
  const signer = createSigner(seed);
  const key = { signer, isNewKey: isNew, ...defined({ headFile: files?.head }) };
  const ledger = opened.use(await openSignedLedger({ store, now: Date.now, ...key, hide: mask.hide, ...listeners }));
  const vault = opened.use(openVault({ store, now: Date.now, ...toKeys(place.path), ledger, mask }));
  const resources = opened.move();
  const record = (entry: Parameters<typeof ledger.write>[0]) => ledger.write(entry);
  const shared = { store, ledger, record, signer, seed, vault, packageFolder: files?.packages };
  return { ...shared, report, hide: mask.hide, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Where the key of the vault is: in the environment, or in a file beside the store. */
function toKeys(path: string) {
  const { vaultKey: keyFile } = findStoreFiles(path) ?? { vaultKey: "" };
  const environmentKey = process.env["GLOVEBOX_ENCRYPTION_KEY"] ?? (keyFile === "" ? drawHex(SEED_BYTES) : undefined);
  const nextEnvironmentKey = process.env["GLOVEBOX_NEW_ENCRYPTION_KEY"];
  return { keyFile, random: drawBytes, ...defined({ environmentKey, nextEnvironmentKey }) };
}

/** For commands that only read: creates neither a store nor a key nor a record. */
export async function readRecords(settings: Settings, { announce } = createHostPowers()): Promise<StoredRecords> {
  const store = await openStoreToRead({ ...settings.store, now: Date.now, announce });
  const files = findStoreFiles(settings.store.path);
  await unlockToRead({ store, now: Date.now, ...toKeys(settings.store.path) });
  return {
    history: createHistory({ store, now: Date.now, engine: settings.sandbox.engine, isolation: LEAST }),
    listKnownTools: (servers) => listKnownTools(store.pins, servers),
    openReader: () => {
      const seed = files && findSigningKey(files.signingKey);
      const signed = defined({ signer: seed && createSigner(seed), headFile: files?.head });
      return openReader({ store, now: Date.now, ...signed });
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** For commands that change something. They work beside running gateways and start no upstream. */
export async function openOperatorRecords(
  settings: Settings,
  host: HostPowers = createHostPowers(),
): Promise<OperatorRecords> {
  await using opened = new AsyncDisposableStack();
  const records = opened.use(await openRecords(settings, host));
  const { store, ledger, record, vault } = records;
  const egress = opened.use(openEgressFor(settings, records, host));
  const restart = (id: Parameters<typeof requestRestart>[1]) => requestRestart(store.meta, id, Date.now());
  const holdLease = leaseOf(records);
  const logins = createLoginStore({ values: store.meta, vault, holdLease, onToken: () => undefined });
  const loginPowers = { store: logins, vault, upstreams: settings.upstreams, now: Date.now };
  const powers = { store, ledger, unlock: () => vault.openSeal(), hasEnded, owner: nameProcess(), now: Date.now };
  const resources = opened.move();
  return {
    vault,
    held: openHeld(records),
    rules: openAlwaysRules(settings, records, host),
    labels: createLabelDesk({ ...settings.policy, store, record, now: Date.now }),
    updatePackage: createUpdates(settings, records, egress),
    skills: openSkillRecords(toSkillRecords(settings, records)),
    logins: createLogins({ ...loginPowers, egress, record, requestRestart: restart }),
    control: createControl({
      ...powers,
      engine: settings.sandbox.engine,
      isolation: LEAST,
      withdraw: async (execution) => {
        await using approvals = await openQueue(settings, records, host);
        await approvals.withdraw(execution);
      },
      releaseQuota: (execution) =>
        openQuotas({ settings: settings.quotas, store: store.quotas, now: Date.now }).releaseLost(execution),
    }),
    openIdentity: () => openIdentity({ ...records, now: Date.now, random: drawBytes, profiles: settings.profiles }),
    findPage: () => findPage({ values: store.meta, hasEnded }),
    openDesk: async () => {
      await maskKnownSecrets(settings, vault, host.mask);
      return createDeskFor(settings, resources.use(await openQueue(settings, records, host)), records, host);
    },
    restart: (id, actor) =>
      record({ actor, action: "upstream.restart", subject: id, detail: {} }).then(() => restart(id)),
    findRecording: async (id, access) => {
      await vault.ready();
      await maskKnownSecrets(settings, vault, host.mask);
      const options = { store: store.journals, seal: await vault.openSeal(), now: Date.now, ...settings.journal };
      return findRecording(id, access, { store, ledger, journals: openJournals(options) });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

type QueueHooks = Pick<Parameters<typeof openApprovals>[0], "beforeDecided">;

/** The caller closes it before the records. */
export async function openQueue(
  { approvals: { expiryMs, ...duties } }: Settings,
  { store, ledger, vault }: Pick<Records, "store" | "ledger" | "vault">,
  { warn, beforeDecided }: Pick<HostPowers, "warn"> & QueueHooks = createHostPowers(),
): ReturnType<typeof openApprovals> {
  const { personOf } = await openIdentity({ store, ledger, vault, now: Date.now, random: drawBytes });
  const more = { createId: createApprovalId, expiryMs, warn, duties: { ...duties, personOf } };
  const hooks = defined({ beforeDecided });
  return openApprovals({ store, ledger, seal: await vault.openSeal(), now: Date.now, ...more, ...hooks });
}

type Queue = Awaited<ReturnType<typeof openQueue>>;

export function createDeskFor(settings: Settings, approvals: Queue, records: Records, host: HostPowers) {
  const powers = { store: records.store, hide: host.mask.hide, rules: openAlwaysRules(settings, records, host) };
  const { approvals: duties } = settings;
  return createDesk({ approvals, duties, ...powers, findChange: (one) => findChange(records.store.pins, one) });
}

function openAlwaysRules(settings: Settings, { record }: Records, { mask }: HostPowers) {
  return createAlwaysRules({ book: openRuleBook(settings), record, hide: mask.hide, now: Date.now });
}

export function openHeld({ store, record }: Records) {
  const onApproved = (): Promise<void> => store.meta.set(APPROVALS_KEY, drawHex(8));
  const powers = { clean: cleanDescription, now: Date.now, record, onApproved };
  return openHeldDefinitions({ store: store.pins, values: store.meta, ...powers });
}

export function toSkillRecords(settings: Settings, records: Records) {
  const onChanged = (): Promise<void> => records.store.meta.set(APPROVALS_KEY, drawHex(8));
  const sandbox = { node: process.execPath, timebox, openKeeper: openReaper, createSeed, now: Date.now };
  const powers = { ...sandbox, settings, onChanged, random: drawBytes };
  return { ...records, ...powers, ...createSkillRuns({ ...settings, ...records, ...sandbox }) };
}

export function leaseOf({ store: { quotas } }: Records) {
  return createLease({ places: quotas, now: Date.now, createHolder: () => drawHex(12) });
}

/** Starts npm and the new version of a server itself, beside running gateways. */
function createUpdates(settings: Settings, records: Records, egress: ReturnType<typeof openEgress>) {
  const { store, record, packageFolder } = records;
  const packages = { folder: packageFolder, record, values: store.meta, holdLease: leaseOf(records) };
  const powers = { ...packages, settings, egress, environment: process.env, now: Date.now, clean: cleanDescription };
  return createUpdatePackage({
    ...powers,
    checkReach: createReachCheck(settings, process.env),
    compareTools: (server, tools) => compareTools(store.pins, { server, tools, clean: cleanDescription }),
  });
}

/** The password of a proxy is lent when it is first used. */
export function openEgressFor({ egress }: Settings, { vault }: Records, { mask }: HostPowers) {
  const { proxy, proxyLogin: login, networkPolicy: ceiling } = egress;
  return openEgress(defined({ proxy, proxyLogin: login && (() => resolveProxyLogin(login, vault, mask)), ceiling }));
}
