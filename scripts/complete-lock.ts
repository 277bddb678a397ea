/**
 * Adds the optional packages of other platforms to package-lock.json if a registry mirror does not hold them. `npm
 * install` omits them silently, and `npm ci` then reports an incomplete lock. Run it after every change of
 * dependencies: `node scripts/complete-lock.ts`.
 */

import { readFileSync, writeFileSync } from "node:fs";

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  packages: Record<string, LockedPackage>;
}

const FILE = "package-lock.json";
const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];
const EXACT = /^\d+\.\d+\.\d+/;

/** The folders in which npm looks for a package that `folder` depends on, innermost first. */
function listPlaces(folder: string, name: string): string[] {
  const nested = folder
    .split("/node_modules/")
    .map((_, index, parts) => parts.slice(0, index + 1).join("/node_modules/"));
  const places = nested.filter((place) => place !== "").map((place) => `${place}/node_modules/${name}`);
  return [...places.toReversed(), `node_modules/${name}`];
}

/** Publishers of prebuilt binaries write the platform into the package name. */
function readPlatform(name: string): Pick<LockedPackage, "os" | "cpu"> {
  const words = name.split(/[^a-z0-9]+/);
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }) };
}

function findMissing({ packages }: Lock): [string, LockedPackage][] {
  return Object.entries(packages).flatMap(([folder, { dev, optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, version]) => EXACT.test(version) && !listPlaces(folder, name).some((place) => place in packages))
      .map(([name, version]): [string, LockedPackage] => [
        `node_modules/${name}`,
        { version, ...readPlatform(name), ...(dev === true && { dev }), optional: true },
      ]),
  );
}

const lock = JSON.parse(readFileSync(FILE, "utf8")) as Lock;
const missing = findMissing(lock);
lock.packages = Object.fromEntries(
  Object.entries({ ...lock.packages, ...Object.fromEntries(missing) }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${missing.length} packages of other platforms added to ${FILE}`);
