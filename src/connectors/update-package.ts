/** Updates of the packages of npx servers: what another version would change, and its acceptance by an operator. */

import { basename } from "node:path";

import { GloveboxError, defined, describeError } from "../domain/index.ts";
import type { ConnectorId, UpstreamSettings } from "../domain/index.ts";
import { openReaper, watchFamily } from "../processes/index.ts";

import type { RemoteTool } from "./connector.ts";
import { findMachine } from "./create-upstreams.ts";
import { comparePackages } from "./packages/lock.ts";
import type { PackageChange } from "./packages/lock.ts";
import { openPackages } from "./packages/open-packages.ts";
import type { PackagePowers } from "./packages/open-packages.ts";
import { requestRestart } from "./restart/watch-restarts.ts";
import type { CommandSettings, NamedPlace } from "./settings.ts";
import { tryPackage } from "./try-package.ts";
import type { TrialOptions } from "./try-package.ts";

/** Another version of the package of a server, before it is accepted. */
export interface PackageUpdate<Change> {
  readonly server: ConnectorId;
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
  /** The accepted one; absent if none was accepted. */
  readonly previous?: { readonly version: string; readonly integrity: string };
  /** True if nothing differs from what was accepted. */
  readonly isAccepted: boolean;
  /** Every package that differs, with those that it needs. */
  readonly packages: readonly PackageChange[];
  readonly tools: readonly Change[];
  /** Why its tools could not be listed; absent if they were. */
  readonly problem?: string;
}

interface UpdatePowers<Change>
  extends
    Pick<TrialOptions, "egress" | "environment" | "now" | "clean">,
    Pick<PackagePowers, "folder" | "values" | "holdLease" | "record"> {
  readonly settings: Pick<UpstreamSettings, "upstreams" | "pins">;
  readonly checkReach: (id: ConnectorId, server: CommandSettings) => readonly NamedPlace[];
  /** Compares the tools of a server with the accepted ones. */
  readonly compareTools: (id: ConnectorId, tools: readonly RemoteTool[]) => Promise<readonly Change[]>;
}

/**
 * Starts a process of npm and the new version of the server, and ends both. Accepts exactly what it passed to `confirm`,
 * unless that returns false; then the result is `undefined`.
 */
export function createUpdatePackage<Change>(powers: UpdatePowers<Change>) {
  const { egress, environment, now, clean } = powers;
  return async (
    id: ConnectorId,
    actor: string,
    confirm: (update: PackageUpdate<Change>) => boolean | Promise<boolean>,
  ): Promise<PackageUpdate<Change> | undefined> => {
    const { server, confine } = findPackaged(powers.settings.upstreams, id);
    await using keeper = openReaper();
    const packages = openPackages({ ...powers, keeper, pins: powers.settings.pins });
    const env = Object.fromEntries(Object.entries(server.env).map(([name, parts]) => [name, toPlain(parts)]));
    const request = { id, command: { args: server.args, env }, scripts: confine.installScripts === true };
    const [before, staged] = [await packages.find(id), await packages.stage(request)];
    const shared = { keeper, watchFamily, egress, environment, now, clean };
    const listNamed = () => powers.checkReach(id, server);
    const tools = await tryPackage(staged, { ...shared, id, server, confine, machine: findMachine, listNamed }).then(
      (listed) => powers.compareTools(id, listed),
      (thrown: unknown) => toProblem(thrown),
    );
    const update: PackageUpdate<Change> = {
      server: id,
      package: staged.request.name,
      version: staged.version,
      integrity: staged.integrity,
      isAccepted: before?.lock === staged.lock && before.spec === staged.request.spec,
      packages: before ? comparePackages(before.lock, staged.lock) : [],
      ...("problem" in tools ? { tools: [], problem: tools.problem } : { tools }),
      ...defined({ previous: before && { version: before.version, integrity: before.integrity } }),
    };
    if (!(await confirm(update))) return undefined;
    if (update.isAccepted) return update;
    await packages.accept(id, staged, actor);
    await requestRestart(powers.values, id, now());
    return update;
  };
}

/** Secrets are not for npm. */
function toPlain(parts: readonly (string | object)[]): string | undefined {
  const texts = parts.filter((part) => typeof part === "string");
  return texts.length === parts.length ? texts.join("") : undefined;
}

function toProblem(thrown: unknown): { readonly problem: string } {
  if (thrown instanceof GloveboxError) return { problem: describeError(thrown).message };
  throw thrown;
}

function findPackaged(upstreams: UpstreamSettings["upstreams"], id: ConnectorId) {
  const server = upstreams.get(id);
  const { confine } = server?.transport === "stdio" ? server : {};
  if (server?.transport === "stdio" && basename(server.command) === "npx" && confine && confine !== "off") {
    return { server, confine };
  }
  throw new GloveboxError("REQUEST_INVALID", `${id} has no package that Glovebox installs`, {
    hint: 'Only servers with command "npx" and confine "files" or "strict" have one',
  });
}
