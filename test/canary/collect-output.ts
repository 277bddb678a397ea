/** Runs everything once against a real gateway and collects the output by place. */

import { mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { loadSettings } from "../../src/config/index.ts";
import type { Settings } from "../../src/config/index.ts";
import { parseSecretName } from "../../src/domain/index.ts";
import { openRecords } from "../../src/open-records.ts";
import { Secret } from "../../src/vault/index.ts";
import { ERAS } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import type { Era } from "../../src/surfaces/mcp/fixtures/try-client.ts";
import { commandOf, listDescendants } from "../fixtures/processes.ts";
import { findStore, getStateHome, runGlovebox, startGlovebox, untilEnded } from "../fixtures/product.ts";
import { readFiles } from "../fixtures/read-files.ts";
import { PROGRAMS } from "./leaking-programs.ts";
import { VARIABLES, VAULT, openEchoServer, writeConfiguration } from "./leaking-upstreams.ts";
import { openAdminSession } from "../fixtures/admin-session.ts";

/** The collected output by place. */
export interface CollectedOutput extends AsyncDisposable {
  /** The secret of a session of the admin page, which only its cookie may show. */
  readonly token: string;
  readonly receipts: () => string;
  readonly answers: (era: string) => string;
  readonly pages: () => string;
  readonly printed: (stream?: "stderr") => string;
  readonly commands: () => string;
  readonly files: () => Buffer;
  readonly processes: () => readonly ProcessView[];
}

/** One descendant process of the gateway. */
export interface ProcessView {
  readonly name: string;
  readonly text: string;
}

/** Every process has ended when it resolves; only the collected output remains. */
export async function collectOutput(): Promise<CollectedOutput> {
  const home = mkdtempSync(join(tmpdir(), "glovebox-canary-"));
  const [folder, receipts] = ["gateway", "receipts"].map((name) => join(home, name)) as [string, string];
  for (const path of [folder, receipts]) mkdirSync(path);
  await using echoes = await openEchoServer();
  writeConfiguration(folder, receipts, echoes.origin);
  const environment = {
    ...VARIABLES,
    ADAPTER_RECEIPT: join(receipts, "clerk.json"),
    TMPDIR: join(folder, "tmp"),
    XDG_CACHE_HOME: join(folder, "cache"),
  };
  const command = async (args: readonly string[], input = ""): Promise<string> => {
    const { stdout, stderr } = await runGlovebox(args, { folder, input, environment });
    return stdout + stderr;
  };
  const stateFolder = join(getStateHome(), "glovebox");
  await fillVault(await loadSettings(join(folder, "glovebox.config.json"), environment, { stateFolder }));
  const set = await command(["secrets", "set", "PLAIN"], VAULT.PLAIN);

  await using served = await serve(folder, environment);
  const answers = new Map<string, string>();
  for (const era of ERAS) answers.set(era.era, await callEverything(served.mcp, era));
  const pages = await readAdminPages(served.url, served.session);
  const processes = (await settledDescendants(served.pid)).map(readProcess);
  const readFiles = (): Buffer => Buffer.concat([folder, dirname(findStore(folder))].map(readTree));
  const live = readFiles();
  await served.end();
  const commands = await Promise.all(COMMANDS.map(([args, input]) => command(args, input)));
  const files = Buffer.concat([live, readFiles()]);
  const got = readTree(receipts).toString() + echoes.received.join("\n");
  return {
    token: served.token,
    receipts: () => got,
    answers: (era) => answers.get(era) ?? "",
    pages: () => pages,
    printed: (stream) => served.printed(stream),
    commands: () => [set, ...commands].join("\n"),
    files: () => files,
    processes: () => processes,
    [Symbol.asyncDispose]: async () => rmSync(home, { recursive: true, force: true }),
  };
}

const COMMANDS: readonly (readonly [args: readonly string[], input?: string | undefined])[] = [
  [["run", "-"], PROGRAMS["MARK-value"]],
  [["servers", "--json"]],
  [["describe", "parrot", "other", "web"]],
  [["doctor"]],
  [["secrets", "--json"]],
  [["audit", "--json", "--limit", "1000"]],
  [["audit", "export"]],
  [["audit", "export", "--format", "otlp"]],
];

/** Like `glovebox secrets set`, but without a process for each secret. */
async function fillVault(settings: Settings): Promise<void> {
  process.env["GLOVEBOX_ENCRYPTION_KEY"] = VARIABLES.GLOVEBOX_ENCRYPTION_KEY;
  await using records = await openRecords(settings);
  for (const [rawName, value] of Object.entries(VAULT)) {
    const name = parseSecretName(rawName);
    if (name) await records.vault.set(name, new Secret(value), "operator");
  }
}

async function serve(folder: string, environment: Record<string, string>) {
  const child = startGlovebox(["serve", "--json", "--port", "0"], folder, environment);
  const printed = { stdout: "", stderr: "" };
  child.stderr.on("data", (chunk: Buffer) => (printed.stderr += chunk.toString()));
  const line = await new Promise<string>((found, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      printed.stdout += chunk.toString();
      if (printed.stdout.includes("\n")) found(printed.stdout);
    });
    child.once("close", () => reject(new Error(`The gateway ended: ${printed.stderr}`)));
  });
  const { url, mcp, admin } = JSON.parse(line) as Readonly<Record<"url" | "mcp" | "admin", string>>;
  const session = { ...(await openAdminSession(admin)) };
  return {
    url,
    mcp,
    pid: child.pid ?? 0,
    session,
    token: session.cookie.split("=")[1] ?? "",
    printed: (stream?: "stderr") => (stream ? printed.stderr : printed.stdout + printed.stderr),
    end: () => {
      child.kill("SIGINT");
      return untilEnded(child);
    },
    [Symbol.asyncDispose]: async () => void child.kill("SIGKILL"),
  };
}

/** A client that requests everything and records every response. */
async function callEverything(mcp: string, { mode }: Era): Promise<string> {
  const client = new Client({ name: "canary", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  const heard: string[] = [];
  const note = async (work: Promise<unknown>): Promise<void> => {
    const said = await work.catch((thrown: unknown) => String(thrown));
    heard.push(JSON.stringify(said), ...textsIn(said));
  };
  const call = (name: string, args: Record<string, unknown> = {}) =>
    note(client.callTool({ name, arguments: args }, { onprogress: (told) => heard.push(JSON.stringify(told)) }));
  await note(client.listTools());
  for (const code of Object.values(PROGRAMS)) await call("execute", { code });
  for (const name of [
    "parrot_say",
    "parrot_words",
    "parrot_fail",
    "parrot_slow",
    "web_broken",
    "clerk_fail",
    "api_fail",
  ])
    await call(name);
  await call("search", { query: "say" });
  await call("describe", { names: ["parrot", "other", "web", "api", "crasher"], detail: "full" });
  const handle = /"handle":"(rs_[0-9a-f]+)"/.exec(heard.join("\n"))?.[1] ?? "";
  await call("resume", { handle, path: "lines", limit: 3 });
  await note(client.listResources());
  await note(client.readResource({ uri: "glovebox://parrot/note%3A%2F%2Fone" }));
  await note(client.listPrompts());
  await note(client.getPrompt({ name: "parrot_ask" }));
  await client.close();
  return heard.join("\n");
}

/** The text of content blocks as a model reads it, without JSON escapes. */
function textsIn(said: unknown): readonly string[] {
  const { content = [] } = (typeof said === "object" ? said : {}) as { readonly content?: readonly unknown[] };
  return content.flatMap((block) => {
    const { text } = block as { readonly text?: unknown };
    return typeof text === "string" ? [text] : [];
  });
}

async function readAdminPages(url: string, headers: Record<string, string>): Promise<string> {
  const addresses = [
    "/",
    "/health",
    "/metrics",
    "/api/status",
    "/api/executions",
    "/api/withheld",
    "/api/tools?query=say",
  ];
  const read = async (path: string): Promise<string> => {
    const answer = await fetch(url + path, { headers });
    return answer.text();
  };
  return (await Promise.all(addresses.map(read))).join("\n");
}

/** A process that was just forked still shows the gateway's own memory, so this waits until each has its own command. */
async function settledDescendants(pid: number): Promise<readonly number[]> {
  for (;;) {
    const pids = listDescendants(pid);
    if (!pids.some((child) => commandOf(child) === commandOf(pid))) return pids;
    await wait(10);
  }
}

/** Named by the id of a leaking server, or by the whole command of any other process. */
function readProcess(pid: number): ProcessView {
  const command = commandOf(pid);
  const name = /leaking-server\.mjs (\w+)/.exec(command)?.[1] ?? command.slice(0, 200);
  try {
    return { name, text: `${readFileSync(`/proc/${pid}/environ`, "utf8")}\n${command}` };
  } catch {
    return { name, text: command }; // it has ended, or the system does not let us read it
  }
}

/** Concatenates all files below, except the configuration itself. */
function readTree(folder: string): Buffer {
  const files = [...readFiles(folder)].filter(([path]) => basename(path) !== "glovebox.config.json");
  return Buffer.concat(files.map(([, bytes]) => bytes));
}
