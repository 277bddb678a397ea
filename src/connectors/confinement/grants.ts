/** The files that a confined server may use: those that its settings list, and those that its program consists of. */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";

import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";
import type { ConfineRequest, NamedPlace } from "../settings.ts";

/** Software of the machine, which every server may read and execute. Some of them are links on most machines. */
export const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/** Certificates, names of the dynamic linker, time zone. Never a folder that can hold a private key. */
export const SYSTEM_FILES =
  "/etc/ssl/certs /etc/ssl/openssl.cnf /etc/pki/tls/certs /etc/pki/ca-trust/extracted /etc/ca-certificates /etc/crypto-policies /etc/alternatives /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/localtime /etc/timezone /etc/nsswitch.conf /etc/fonts /etc/mime.types /etc/services /etc/protocols".split(
    " ",
  );
/** A grant of them would give up what a confinement is for. */
const FORBIDDEN = ["/proc", "/sys", "/dev"];

const SCRIPT = /\.(?:[cm]?[jt]s|py|rb)$/;
const MANIFESTS = ["package.json", "pyproject.toml", "setup.py"];
const INSTALLED = "/node_modules/";
const SHEBANG_BYTES = 256;

export interface Grants {
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export interface GrantOptions {
  readonly id: ConnectorId;
  readonly confine: ConfineRequest;
  /** What the settings name outside of `files`: arguments and the working folder. */
  readonly named: readonly NamedPlace[];
  /** Absolute. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly home: string;
  readonly path: string;
}

/** Throws CONFIG_INVALID for a listed path that does not exist or must not be given to a server. */
export function collectGrants(options: GrantOptions): Grants {
  const { id, confine, args, cwd, program, path, home } = options;
  const listed = confine.files ? checkListed(id, confine.files) : { read: [], write: takeNamed(options) };
  const software = listProgram(program, path, home);
  const scripts = args
    .filter((arg) => SCRIPT.test(arg))
    .map((arg) => resolve(cwd, arg))
    .filter(isFile)
    .flatMap((script) => [script, ...findPackage(script, home, listed.write)]);
  for (const one of [...scripts, ...listed.read, ...listed.write]) requireInside(id, one, listed.write);
  const write = listed.write.filter((one) => !scripts.includes(one));
  return { read: unique([...software, ...scripts, ...listed.read]), write: unique(write) };
}

/** Below a folder that it may write, a server can replace a folder by a link, which would be followed at its next start. */
function requireInside(id: ConnectorId, path: string, writable: readonly string[]): void {
  const above = writable.find((folder) => folder !== path && isWithin(path, folder));
  if (above === undefined) return;
  const target = realpathSync(path);
  if (isWithin(target, realpathSync(above))) return;
  throw refuse(
    id,
    `${path} leads to ${target} by a link, and the server can change links below ${above}`,
    `Replace the link by a folder, or list ${target} in mcpServers.${id}.files if the server may use it`,
  );
}

function checkListed(id: ConnectorId, files: NonNullable<ConfineRequest["files"]>): Grants {
  for (const [key, paths] of Object.entries(files)) {
    for (const [index, path] of paths.entries()) {
      const place = `mcpServers.${id}.files.${key}`;
      if (path === "/" || FORBIDDEN.some((root) => isWithin(path, root))) {
        throw refuse(
          id,
          `its files.${key}[${index}] is ${path}, which no confined server may have`,
          `Name the folders that the server needs in ${place}`,
        );
      }
      if (!existsSync(path)) {
        throw refuse(id, `its files.${key}[${index}], ${path}, does not exist`, `Create it, or correct ${place}`);
      }
    }
  }
  return files;
}

/** What an argument names was given to the server, so it may use it like before. */
function takeNamed({ id, named, home }: GrantOptions): readonly string[] {
  const existing = named.filter(({ path }) => existsSync(path));
  const wide = existing.find(({ path }) => isWithin(home, path));
  if (wide) {
    throw refuse(
      id,
      `its ${wide.key} names a folder that contains your whole home folder`,
      `List the folders that it needs in mcpServers.${id}.files`,
    );
  }
  return existing.map(({ path }) => path).filter((path) => !FORBIDDEN.some((root) => isWithin(path, root)));
}

function refuse(id: ConnectorId, cause: string, hint: string): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${id}: it was not started, because ${cause}`, { hint });
}

/** The absolute path of a command, as the system would find it. */
export function findCommand(command: string, cwd: string, path: string): string | undefined {
  if (command.includes("/")) return isExecutable(resolve(cwd, command)) ? resolve(cwd, command) : undefined;
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

/** The program itself, its interpreter, and the installation or package that it is a part of. */
function listProgram(program: string, path: string, home: string): readonly string[] {
  const real = realpathSync(program);
  const files = [program, real].filter((file) => !isSystem(file));
  const interpreter = findInterpreter(real, path);
  const inner = interpreter === undefined ? [] : listProgram(interpreter, path, home);
  const prefixes = [program, real].map((file) => dirname(dirname(file))).filter((prefix) => isPrefix(prefix, home));
  const own = interpreter === undefined || isSystem(real) ? [] : findPackage(real, home);
  return [...files, ...prefixes.filter((prefix) => !isSystem(prefix)), ...own, ...inner];
}

/** An installation of Node or Python, or a virtual environment: it holds software only. */
function isPrefix(prefix: string, home: string): boolean {
  if (isWithin(home, prefix) || prefix === join(home, ".local")) return false;
  return existsSync(join(prefix, "pyvenv.cfg")) || (existsSync(join(prefix, "bin")) && existsSync(join(prefix, "lib")));
}

function findInterpreter(file: string, path: string): string | undefined {
  const line = /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(readStart(file));
  const [, first, second] = line ?? [];
  if (first === undefined) return undefined;
  const found = first.endsWith("/env") && second !== undefined ? findCommand(second, "/", path) : first;
  return found !== undefined && isExecutable(found) ? found : undefined;
}

function readStart(file: string): string {
  const start = Buffer.alloc(SHEBANG_BYTES);
  const descriptor = openSync(file, "r");
  try {
    return start.toString("latin1", 0, readSync(descriptor, start));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The packages that were installed together; else the nearest folder with a manifest; else the folder of the file. Never
 * one that contains the home folder.
 */
function findPackage(file: string, home: string, writable: readonly string[] = []): readonly string[] {
  const installed = file.indexOf(INSTALLED);
  if (installed >= 0) {
    const folder = file.slice(0, installed + INSTALLED.length - 1);
    const canChange = writable.some((one) => isWithin(folder, one));
    return [folder, ...(canChange ? [] : findLinked(folder, home))];
  }
  for (let folder = dirname(file); !isWithin(home, folder); folder = dirname(folder)) {
    if (MANIFESTS.some((name) => existsSync(join(folder, name)))) return [folder];
  }
  return isWithin(home, dirname(file)) ? [] : [dirname(file)];
}

/**
 * Packages that are links to other folders, as `npm link` and workspaces make them, with what they need. A link to a
 * folder that is not a package grants nothing. Not for a folder that the server can write, because it could make links.
 */
function findLinked(modules: string, home: string): readonly string[] {
  const entries = readdirSync(modules, { withFileTypes: true }).flatMap((entry) =>
    entry.name.startsWith("@") && entry.isDirectory()
      ? readdirSync(join(modules, entry.name), { withFileTypes: true })
      : [entry],
  );
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ parentPath, name }) => join(parentPath, name));
  const targets = links.filter((link) => isFile(join(link, "package.json"))).map((link) => realpathSync(link));
  const outside = targets.filter((target) => !isWithin(target, modules) && !isWithin(home, target));
  return unique(outside.map((target) => target.replace(/^(.*\/node_modules)\/.*$/, "$1")));
}

/** True if a server with these grants may use `path` in some way. */
export function isGranted(path: string, { read, write }: Grants): boolean {
  return isSystem(path) || [...read, ...write].some((grant) => isWithin(path, grant));
}

/** True if `path` is `folder` or below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function isSystem(path: string): boolean {
  return SYSTEM.some((folder) => isWithin(path, folder));
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}
