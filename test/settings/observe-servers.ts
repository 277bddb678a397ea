/** What the settings of local servers change: one gateway has every server twice, with two values of one setting. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { outcomeOf, probeWith, shareGlovebox, sideBySide } from "../fixtures/observe-settings.ts";
import { openRegistry } from "../fixtures/package-registry.ts";
import type { EntryPair } from "../fixtures/observe-settings.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-servers-")));
const kept = mkdtempSync(join(tmpdir(), "glovebox-store-"));
after(() => {
  for (const made of [folder, kept]) rmSync(made, { recursive: true, force: true, maxRetries: 10 });
});

/** What a server says about itself. */
const about =
  (part: string): EntryPair["observe"] =>
  async (name) =>
    outcomeOf(await (await open()).execute({ code: `return (await ${name}.about({})).${part}` }));

/** The state of a server once it has answered or failed; `null` if there is none. */
const state: EntryPair["observe"] = async (name) => {
  const { servers } = await (await open()).search({});
  const found = servers.find((server) => server.name === name)?.state;
  return found === "connecting" ? wait(20).then(() => state(name)) : (found ?? null);
};

const server = (more: object): object => ({ ...probeWith(), ...more });
const slow = (startupTimeoutMs: number): object => ({ ...probeWith("--slow", "700"), startupTimeoutMs });

const PROBE = resolve("test/fixtures/servers/probe-server.mjs");
/** A package that can only be started once its install script has made the file. */
const registry = await openRegistry();
after(() => registry[Symbol.asyncDispose]());
registry.publish({
  name: "scripted",
  version: "1.0.0",
  files: { "install.cjs": `require("fs").copyFileSync(${JSON.stringify(PROBE)}, "serve.mjs")`, "serve.mjs": "" },
  manifest: { bin: "serve.mjs", scripts: { install: "node install.cjs" } },
});
const NPM = { npm_config_registry: registry.url, npm_config_cache: join(folder, "cache") };
const NPX = { command: "npx", args: ["-y", "scripted"], env: NPM, confine: "strict" };
const scripted = (installScripts: boolean): object => ({ ...NPX, installScripts });

const GIB = 2 ** 30;
/** A limit of a confined server, as the kernel shows it to the server. */
const limit = (name: string, ...values: readonly [number, number]): EntryPair => {
  const caseOf = (value: number) => [server({ confine: "strict", limits: { [name]: value } }), value] as const;
  return { observe: about(`limits.${name}`), cases: [caseOf(values[0]), caseOf(values[1])] };
};

const SERVERS: Readonly<Record<string, EntryPair>> = {
  args: {
    observe: about("argv"),
    cases: [
      [probeWith("one"), ["one"]],
      [probeWith("two"), ["two"]],
    ],
  },
  // The home folder of a confined server is its own.
  confine: {
    observe: about("env.HOME"),
    cases: [
      [server({ confine: "strict" }), "/home/server"],
      [server({ confine: "off" }), process.env["HOME"] ?? null],
    ],
  },
  command: {
    observe: state,
    cases: [
      [server({}), "ready"],
      [server({ command: "/bin/false" }), "failed"],
    ],
  },
  cwd: {
    observe: about("cwd"),
    cases: [
      [server({ cwd: folder }), folder],
      [server({ cwd: process.cwd() }), process.cwd()],
    ],
  },
  disabled: {
    observe: state,
    cases: [
      [server({ disabled: true }), null],
      [server({ disabled: false }), "ready"],
    ],
  },
  env: {
    observe: about("env.WHO"),
    cases: [
      [server({ env: { WHO: "ada" } }), "ada"],
      [server({ env: { WHO: "grace" } }), "grace"],
    ],
  },
  // The folder with the stores is below "/".
  "files.read": {
    observe: state,
    cases: [
      [server({ files: { read: ["/"] } }), "failed"],
      [server({ files: { read: [folder] } }), "ready"],
    ],
  },
  "files.write": {
    observe: state,
    cases: [
      [server({ files: { write: ["/"] } }), "failed"],
      [server({ files: { write: [folder] } }), "ready"],
    ],
  },
  installScripts: {
    observe: state,
    cases: [
      [scripted(true), "ready"],
      [scripted(false), "failed"],
    ],
  },
  "limits.memoryBytes": limit("memoryBytes", 8 * GIB, 9 * GIB),
  "limits.openFiles": limit("openFiles", 100, 101),
  "limits.processes": limit("processes", 200, 201),
  startupTimeoutMs: {
    observe: state,
    cases: [
      [slow(100), "failed"],
      [slow(60_000), "ready"],
    ],
  },
};

const { entries, observations } = sideBySide("mcpServers.*", SERVERS);
// Packages are installed beside a store, which must be out of reach of the folders above.
const store = { url: `sqlite:${join(kept, "glovebox.db")}` };
const open = shareGlovebox(() => ({ mcpServers: entries, store }));

/** Keyed by setting path. */
export const SERVER_OBSERVATIONS = observations;
