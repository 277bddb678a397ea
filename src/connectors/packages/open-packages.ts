/**
 * Packages of servers that the configuration starts with npx. Each is installed once, beside the store, and its exact
 * version and integrity are accepted like the definition of a tool: another one is not run before an operator accepts it.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { GloveboxError, parseJson, serverCommand } from "../../domain/index.ts";
import type { ChildKeeper, ConnectorId, Instant, JsonObject, UpstreamSettings } from "../../domain/index.ts";

import type { DurableValues } from "../connector.ts";
import type { InstalledServer, ServerCommand } from "../settings.ts";
import { UpstreamError, unreachable } from "../upstream-error.ts";
import { findBin } from "./find-bin.ts";
import { STAGING, isIntact, publish, removeOld, retire } from "./installations.ts";
import { UnverifiedPackage, nameFolder, parseLock } from "./lock.ts";
import type { LockedPackage } from "./lock.ts";
import { NpmError, runNpm } from "./npm.ts";
import { parseNpx } from "./parse-npx.ts";
import type { NpxRequest } from "./parse-npx.ts";

const MANIFEST = { name: "glovebox-server", private: true };
const PIN = z.object({
  spec: z.string(),
  name: z.string(),
  version: z.string(),
  integrity: z.string(),
  lock: z.string(),
  acceptedAt: z.number(),
  acceptedBy: z.string(),
});

/** The package that one server may run. */
export type PackagePin = Readonly<z.infer<typeof PIN>>;

export interface PackagePowers {
  /** Beside the store; `undefined` for a store in memory. */
  readonly folder: string | undefined;
  readonly values: Pick<DurableValues, "get" | "set">;
  /** Runs `work` while no other process holds the lease of this key. */
  readonly holdLease: <Value>(key: string, work: () => Promise<Value>) => Promise<Value>;
  readonly keeper: ChildKeeper;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How a package is accepted that was never seen: as a tool is. */
  readonly pins: UpstreamSettings["pins"];
  /** Resolves once the entry is durable. If it rejects, nothing is accepted. */
  readonly record: (entry: PackageEntry) => Promise<unknown>;
  readonly now: () => Instant;
}

interface PackageEntry {
  readonly actor: string;
  readonly action: "package.pinned" | "package.held" | "package.damaged" | "package.approved";
  readonly subject: ConnectorId;
  readonly detail: JsonObject;
}

/** A server with npx, as it is configured. */
export interface PackageRequest {
  readonly id: ConnectorId;
  readonly command: Pick<ServerCommand, "args" | "env">;
  /** Runs install scripts, with the rights of the gateway. */
  readonly scripts: boolean;
}

/** Installed, and not yet accepted. */
export interface StagedPackage extends LockedPackage {
  readonly request: NpxRequest;
  readonly server: InstalledServer;
}

export interface Packages {
  /** Returns what the server runs. Installs it if necessary, and accepts it if no package was accepted before. */
  locate(request: PackageRequest): Promise<InstalledServer>;
  /** The accepted package; `undefined` before the first. */
  find(id: ConnectorId): Promise<PackagePin | undefined>;
  /** Installs the version that the registry has now for the configured package. Accepts nothing. */
  stage(request: PackageRequest): Promise<StagedPackage>;
  accept(id: ConnectorId, staged: StagedPackage, actor: string): Promise<void>;
}

export function openPackages(powers: PackagePowers): Packages {
  const { holdLease, pins } = powers;
  const { find, write, approve, recordOnce } = createPins(powers);
  const installing = new Map<string, Promise<InstalledServer>>();

  async function stage({ id, command, scripts }: PackageRequest): Promise<StagedPackage> {
    const request = toRequest(id, command.args);
    const { folder, locked } = await install(powers, { id, request, env: command.env, scripts });
    return { ...locked, request, server: findBin(id, folder, request) };
  }

  /** The first package of a server is accepted at first use, unless `pin` is `approve`. */
  async function pinFirst(wanted: PackageRequest, request: NpxRequest): Promise<InstalledServer> {
    const { id } = wanted;
    if ((pins.byServer.get(id) ?? pins.usual) === "approve")
      throw refuse(id, `its package ${request.spec} waits for approval`);
    const staged = await stage(wanted);
    const settled = await holdLease(toKey(id), async () => {
      const other = await find(id); // another process may have been first
      if (!other) await write(id, staged, { actor: "gateway", action: "package.pinned" });
      return other;
    });
    return settled ? usePin(wanted, request, settled) : staged.server;
  }

  async function usePin(wanted: PackageRequest, request: NpxRequest, pin: PackagePin): Promise<InstalledServer> {
    const { id, scripts, command } = wanted;
    if (!isCovered(request, pin)) {
      await recordOnce(id, "package.held", request.spec);
      throw refuse(id, `its package changed to ${request.spec}, and ${pin.name}@${pin.version} is accepted`);
    }
    const parent = toFolder(powers, id);
    const folder = join(parent, nameFolder(id, pin, scripts));
    if (!(await isIntact(powers, folder))) {
      if (existsSync(folder)) await recordOnce(id, "package.damaged", `${pin.name}@${pin.version}`);
      await install(powers, { id, request, env: command.env, scripts, pin });
    }
    removeOld(parent, id, { keep: folder, now: powers.now() });
    return findBin(id, folder, request);
  }

  return {
    find,
    stage,
    /** Attempts to start that come while it is installed share the installation. */
    locate: (wanted) => {
      const { id } = wanted;
      const before = installing.get(id);
      if (before) return before;
      const request = toRequest(id, wanted.command.args);
      const work = find(id)
        .then((pin) => (pin ? usePin(wanted, request, pin) : pinFirst(wanted, request)))
        .finally(() => installing.delete(id));
      installing.set(id, work);
      return work;
    },
    accept: (id, staged, actor) => holdLease(toKey(id), () => approve(id, staged, actor)),
  };
}

/** The accepted packages in the store, and their entries in the ledger. */
function createPins(powers: PackagePowers) {
  const { values, record, now } = powers;
  const recorded = new Set<string>();
  const find = async (id: ConnectorId) => parsePin(await values.get(toKey(id)));

  async function write(
    id: ConnectorId,
    { request: { spec, name }, version, integrity, lock }: StagedPackage,
    { actor, action }: Pick<PackageEntry, "actor" | "action">,
  ): Promise<void> {
    const detail = { package: name, version, integrity };
    await record({ actor, action, subject: id, detail });
    const pin: PackagePin = { spec, name, version, integrity, lock, acceptedAt: now(), acceptedBy: actor };
    await values.set(toKey(id), JSON.stringify(pin));
  }

  async function approve(id: ConnectorId, staged: StagedPackage, actor: string): Promise<void> {
    const before = await find(id);
    await write(id, staged, { actor, action: "package.approved" });
    if (!before || before.lock === staged.lock) return;
    const folders = [true, false].map((scripts) => join(toFolder(powers, id), nameFolder(id, before, scripts)));
    for (const folder of folders) retire(folder, now());
  }

  /** Once, and not at each attempt to start. */
  async function recordOnce(id: ConnectorId, action: "package.held" | "package.damaged", spec: string): Promise<void> {
    const key = `${id} ${action} ${spec}`;
    if (recorded.has(key)) return;
    await record({ actor: "gateway", action, subject: id, detail: { package: spec } });
    recorded.add(key);
  }

  return { find, write, approve, recordOnce };
}

const toKey = (id: ConnectorId): string => `package:${id}`;

function parsePin(text: string | undefined): PackagePin | undefined {
  if (text === undefined) return undefined;
  const { data } = PIN.safeParse(parseJson(text));
  if (data) return data;
  throw new GloveboxError("STORE_UNAVAILABLE", "An accepted package in the store is damaged", {
    hint: "Restore a backup, or name another file in `store.url`",
  });
}

/** A configuration that now names exactly the accepted version asks for nothing else. */
function isCovered({ spec, name }: NpxRequest, pin: PackagePin): boolean {
  return name === pin.name && (spec === pin.spec || spec === `${name}@${pin.version}`);
}

function toRequest(id: ConnectorId, args: readonly string[]): NpxRequest {
  const request = parseNpx(args);
  if (!("problem" in request)) return request;
  const hint = `Write mcpServers.${id}.args as ["-y", "PACKAGE@VERSION", …]; or install it yourself and set command to "node"`;
  throw new UpstreamError(
    unreachable(`it was not started, because npx cannot be pinned: ${request.problem}`, hint),
    id,
  );
}

function toFolder({ folder }: Pick<PackagePowers, "folder">, id: ConnectorId): string {
  if (folder !== undefined) return folder;
  const hint = "Name a file in `store.url`; or install the package yourself and set command to `node`";
  throw new UpstreamError(unreachable("its package cannot be kept with a store in memory", hint), id);
}

function refuse(id: ConnectorId, cause: string): UpstreamError {
  const hint = `An operator can review and accept it: ${serverCommand("update", id)}`;
  return new UpstreamError(unreachable(`it was not started, because ${cause}`, hint), id);
}

interface InstallRequest extends Pick<PackageRequest, "id" | "scripts"> {
  readonly request: NpxRequest;
  readonly env: ServerCommand["env"];
  /** Installs exactly these packages. */
  readonly pin?: PackagePin;
}

/** Into a folder that gets its name only when it is complete. */
async function install(powers: PackagePowers, { id, request, env, scripts, pin }: InstallRequest) {
  const { environment, keeper, now } = powers;
  const parent = toFolder(powers, id);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  removeOld(parent, id, { now: now() });
  const staging = mkdtempSync(join(parent, STAGING));
  try {
    const dependencies = pin ? { [pin.name]: pin.version } : {};
    writeFileSync(join(staging, "package.json"), JSON.stringify({ ...MANIFEST, dependencies }));
    if (pin) writeFileSync(join(staging, "package-lock.json"), pin.lock);
    await runNpm({ folder: staging, spec: pin ? undefined : request.spec, scripts, environment, env, keeper });
    const locked = parseLock(readFileSync(join(staging, "package-lock.json"), "utf8"), request.name);
    const folder = join(parent, nameFolder(id, pin ?? locked, scripts));
    await publish(powers, staging, folder);
    return { folder, locked };
  } catch (thrown) {
    throw explain(id, request, thrown);
  } finally {
    for (const path of [staging, `${staging}-replaced`]) rmSync(path, { recursive: true, force: true });
  }
}

function explain(id: ConnectorId, { spec, name }: NpxRequest, thrown: unknown): unknown {
  const own = `install ${name} yourself and set command to "node"`;
  if (thrown instanceof UnverifiedPackage) {
    const hint = `Use a registry that names the integrity of each package, or ${own}`;
    return new UpstreamError(unreachable(`its package ${thrown.message} has no integrity to compare`, hint), id);
  }
  if (!(thrown instanceof NpmError)) return thrown;
  const { message: code } = thrown;
  if (code === "EALLOWGIT") {
    const cause = `its package ${spec} needs one from git, which has no integrity to compare (${code})`;
    return new UpstreamError(unreachable(cause, `Use another version, or ${own}`), id);
  }
  if (code === "EINTEGRITY") return refuse(id, `the registry now has other content for an accepted version (${code})`);
  const command = serverCommand("update", id);
  const hint =
    code === "ENOENT"
      ? `Install npm, which Glovebox needs to fetch packages, then run ${command}`
      : `Check the name and the connection to the registry, then run ${command}`;
  return new UpstreamError(
    unreachable(`its package ${spec} is not installed and cannot be fetched (${code})`, hint),
    id,
  );
}
