/** What the settings of local servers change: one gateway has every server twice, with two values of one setting. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { outcomeOf, probeWith, shareGlovebox, sideBySide } from "../fixtures/observe-settings.ts";
import type { EntryPair } from "../fixtures/observe-settings.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-servers-")));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

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
const open = shareGlovebox(() => ({ mcpServers: entries }));

/** Keyed by setting path. */
export const SERVER_OBSERVATIONS = observations;
