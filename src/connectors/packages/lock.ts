/** What an install resolved to: every package with its version and integrity, as `package-lock.json` lists them. */

import { z } from "zod";

import { parseJson } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";

const ENTRY = z.object({
  version: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
});
const LOCK = z.object({ packages: z.record(z.string(), ENTRY) });
const ROOT = "";
const DIGITS = 32;
const ID_DIGITS = 12;

/** One installed package, with all that it needs. */
export interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
  /** `package-lock.json`, from which the same packages can be installed again. */
  readonly lock: string;
}

/** Throws with the package that has no integrity, so that nothing is accepted that cannot be compared later. */
export function parseLock(lock: string, name: string): LockedPackage {
  const { packages } = LOCK.parse(parseJson(lock));
  for (const [path, { integrity, link, inBundle }] of Object.entries(packages)) {
    if (path === ROOT || inBundle === true) continue;
    if (link === true || integrity === undefined) throw new UnverifiedPackage(path.replace(/^.*node_modules\//, ""));
  }
  const { version, integrity } = packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined) throw new UnverifiedPackage(name);
  return { version, integrity, lock };
}

/** The message is the name of a package without an integrity. */
export class UnverifiedPackage extends Error {}

/** The name of the folder of an installation. Each server has its own, so that an old one can be removed. */
export function nameFolder(id: ConnectorId, { lock }: Pick<LockedPackage, "lock">, scripts: boolean): string {
  return `${nameServer(id)}${shorten(lock)}${scripts ? "-scripts" : ""}`;
}

/** How the names of the folders of one server start. */
export function nameServer(id: ConnectorId): string {
  return `${shorten(id).slice(0, ID_DIGITS)}-`;
}

function shorten(text: string): string {
  return digestOf(text).replace(/^.*:/, "").slice(0, DIGITS);
}

export interface PackageChange {
  readonly name: string;
  /** `null`: it was not needed before, or is no longer. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Packages whose versions differ, or whose integrity does at the same version. */
export function comparePackages(before: string, after: string): readonly PackageChange[] {
  const [old, fresh] = [listVersions(before), listVersions(after)];
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].toSorted();
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), fresh.get(path)];
    if (was?.integrity === is?.integrity && was?.version === is?.version) return [];
    const name = path.replace(/^.*node_modules\//, "");
    const mark = was && is && was.version === is.version ? " (other content)" : "";
    return [{ name, before: was?.version ?? null, after: is === undefined ? null : `${is.version}${mark}` }];
  });
}

function listVersions(lock: string): ReadonlyMap<string, { readonly version: string; readonly integrity: string }> {
  const entries = Object.entries(LOCK.parse(parseJson(lock)).packages).filter(([path]) => path !== ROOT);
  return new Map(entries.map(([path, { version = "", integrity = "" }]) => [path, { version, integrity }]));
}
