/** A gateway with many well-known servers, in which each program runs in a separate session. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { parseSettings } from "../../src/config/index.ts";
import { parsePrincipalId } from "../../src/domain/index.ts";
import type { ExecutionResult, Json, JsonObject, Principal } from "../../src/domain/index.ts";
import { openGateway } from "../../src/open-gateway.ts";
import type { Gateway } from "../../src/surfaces/index.ts";
import { passingStore } from "../fixtures/passing-store.ts";

const SERVER = fileURLToPath(new URL("fixtures/package-server.mjs", import.meta.url));

/** The operator chooses the names; the servers are recognized by their packages. */
const SERVERS: Readonly<Record<string, string>> = {
  github: "@modelcontextprotocol/server-github",
  slack: "@modelcontextprotocol/server-slack",
  mail: "gmail-mcp-server",
  files: "@modelcontextprotocol/server-filesystem",
  web: "mcp-server-fetch",
  brave: "@modelcontextprotocol/server-brave-search",
  shop: "@modelcontextprotocol/server-postgres",
  sentry: "@sentry/mcp-server",
  linear: "linear-mcp-server",
  memory: "@modelcontextprotocol/server-memory",
};

export interface FlowGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  /** The principal of this session. */
  readonly principalOf: (session: string) => Principal;
  readonly run: (session: string, code: string, input?: Json) => Promise<ExecutionResult>;
  /** Everything that was sent so far, in order. */
  sent(): readonly JsonObject[];
}

/** Everything is closed and removed when it is disposed. */
export async function openFlowGateway(policy: object = {}, analysis: object = {}): Promise<FlowGateway> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-flows-"));
  const sink = join(folder, "sent.jsonl");
  writeFileSync(sink, "");
  const mcpServers = Object.fromEntries(
    Object.entries(SERVERS).map(([name, id]) => {
      return [name, { command: process.execPath, args: [SERVER, `--package=${id}`, `--sink=${sink}`] }];
    }),
  );
  const quotas = { executionsPerMinute: 0, executionMsPerHour: 0 };
  const config = {
    mcpServers,
    analysis: { types: "off", ...analysis },
    policy,
    quotas,
    store: passingStore(),
    sandbox: { limits: { outputBytes: 2_000 } },
    // Programs are suspended at once, because nothing is approved here.
    approvals: { graceMs: 0 },
  };
  const gateway = await openGateway(parseSettings(config, { folder }, {}));
  const principalOf = (session: string): Principal => ({ ...AGENT, session });
  return {
    gateway,
    principalOf,
    run: (session, code, input) =>
      gateway.execute({ principal: principalOf(session), source: code, ...(input !== undefined && { input }) }),
    sent: () => readFileSync(sink, "utf8").split("\n").filter(Boolean).map(parseLine),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function parseLine(line: string): JsonObject {
  return JSON.parse(line) as JsonObject;
}

const id = parsePrincipalId("local");
if (id === undefined) throw new TypeError("The principal id of the agent does not parse");
const AGENT: Principal = { id, kind: "agent", groups: [] };
