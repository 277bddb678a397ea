/** The files that a confined server may use: those that its settings list, and those that its program consists of. */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
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
/** As many as the kernel follows. */
const MOST_LINKS = 40;

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
  const { read, write } = listed;
  const software = listProgram({ program, path, home, writable: write });
  const scripts = args
    .filter((arg) => SCRIPT.test(arg))
    .map((arg) => resolve(cwd, arg))
    .filter(isFile)
    .flatMap((script) => [script, ...findPackage(script, home, write)]);
  for (const one of [...scripts, ...read, ...write]) requireInside(id, one, listed);
  requireSoftware(id, program, software, listed);
  return {
    read: unique([...software, ...scripts, ...read]),
    write: unique(write.filter((one) => !scripts.includes(one))),
  };
}

/** Below a folder that it may write, a server can replace a folder by a link, which would be followed at its next start. */
function requireInside(id: ConnectorId, path: string, { read, write }: Grants): void {
  const above = findWritable(path, write);
  if (above === undefined) return;
  const target = realpathSync(path);
  if ([above, ...listFixed({ read, write })].some((folder) => isWithin(target, realpathSync(folder)))) return;
  throw refuse(
    id,
    `${path} leads to ${target} by a link, and the server can change links below ${above}`,
    `Replace the link by a folder, or list ${target} in mcpServers.${id}.files if the server may use it`,
  );
}

/** A program that the server can replace, or its first line, must not lead to more than the server has anyway. */
function requireSoftware(id: ConnectorId, program: string, software: readonly string[], listed: Grants): void {
  const changed = [program, ...software].map((one) => findWritable(one, listed.write)).find((one) => one !== undefined);
  if (changed === undefined) return;
  const known = [changed, ...listFixed(listed)].map((folder) => realpathSync(folder));
  const outside = software
    .map((one) => realpathSync(one))
    .find((target) => !isSystem(target) && !known.some((folder) => isWithin(target, folder)));
  if (outside === undefined) return;
  throw refuse(
    id,
    `its command leads to ${outside}, and the server can change the command below ${changed}`,
    `List ${outside} in mcpServers.${id}.files.read if the server may use it, and the folders that it needs; or move the command`,
  );
}

/** What is listed and cannot be moved by the server. */
function listFixed({ read, write }: Grants): readonly string[] {
  return [...read, ...write].filter((one) => findWritable(one, write) === undefined);
}

/**
 * The folder or file by which a server that may write it can decide where `path` leads or what it contains; `undefined`
 * if it cannot.
 */
export function findWritable(path: string, writable: readonly string[]): string | undefined {
  const steps = listSteps(path);
  return writable.find((folder) => {
    const real = realpathSync(folder);
    return steps.some((step) => [folder, real].some((one) => (step !== one || isFile(one)) && isWithin(step, one)));
  });
}

/** The path, and each one that its links lead to, one link after the other. */
function listSteps(path: string): readonly string[] {
  const steps = [path];
  while (steps.length < MOST_LINKS) {
    const last = steps.at(-1) ?? path;
    const parts = last.split(sep);
    const at = parts.findIndex((_, index) => isLink(parts.slice(0, index + 1).join(sep)));
    if (at < 0) break;
    const link = parts.slice(0, at + 1).join(sep);
    steps.push(join(resolve(dirname(link), readlinkSync(link)), ...parts.slice(at + 1)));
  }
  return steps;
}

function isLink(path: string): boolean {
  return path !== "" && (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false);
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

interface ProgramOptions extends Pick<GrantOptions, "program" | "path" | "home"> {
  readonly writable: readonly string[];
}

/** The program itself, its interpreter, and the installation or package that it is a part of. */
function listProgram({ program, path, home, writable }: ProgramOptions): readonly string[] {
  const real = realpathSync(program);
  const files = [program, real].filter((file) => !isSystem(file));
  const interpreter = findInterpreter(real, path);
  const inner = interpreter === undefined ? [] : listProgram({ program: interpreter, path, home, writable });
  const prefixes = [program, real].map((file) => dirname(dirname(file))).filter((prefix) => isPrefix(prefix, home));
  const own = interpreter === undefined || isSystem(real) ? [] : findPackage(real, home, writable);
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
