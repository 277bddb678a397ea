/** Lists the tools of a package that was not accepted yet, and gives it nothing. */

import { existsSync } from "node:fs";
import { homedir } from "node:os";

import type { ConnectorId } from "../domain/index.ts";

import { createConfiner } from "./confinement/confine-server.ts";
import type { ConfinerOptions } from "./confinement/confine-server.ts";
import { isWithin } from "./confinement/grants.ts";
import type { RemoteTool } from "./connector.ts";
import { createMcpConnector } from "./mcp/mcp-connector.ts";
import type { McpConnectorOptions } from "./mcp/mcp-connector.ts";
import type { CommandSettings, ConfineRequest } from "./settings.ts";
import type { StagedPackage } from "./packages/open-packages.ts";

/** In place of a secret: many servers do not start without a value. */
const NO_SECRET = "not-a-secret";

export interface TrialOptions
  extends
    Pick<McpConnectorOptions, "keeper" | "watchFamily" | "egress" | "environment" | "now" | "clean">,
    Pick<ConfinerOptions, "machine" | "listNamed"> {
  readonly id: ConnectorId;
  readonly server: CommandSettings;
  readonly confine: ConfineRequest;
}

/** At the level of the server, without network, secrets and folders to write. Rejects with the cause if it does not start. */
export async function tryPackage(
  { server: staged }: Pick<StagedPackage, "server">,
  { id, server, confine, machine, listNamed, ...shared }: TrialOptions,
): Promise<readonly RemoteTool[]> {
  const { command, args, cwd, startMs } = server;
  const { egress, environment } = shared;
  const home = homedir();
  const named = confine.files ? [...confine.files.read, ...confine.files.write] : listNamed().map(({ path }) => path);
  // An argument that is not a file, or a whole home folder, is not given.
  const read = confine.files ? named : named.filter((path) => existsSync(path) && !isWithin(home, path));
  const confiner = createConfiner({
    id,
    confine: { ...confine, files: { read, write: [] } },
    networkPolicy: undefined,
    machine,
    listNamed: () => [],
    locatePackage: async () => staged,
    home,
    environment,
    egress,
    onRequest: async () => undefined,
  });
  const env = Object.fromEntries(
    Object.entries(server.env).map(([name, parts]) => [
      name,
      parts.map((part) => (typeof part === "string" ? part : NO_SECRET)).join(""),
    ]),
  );
  const settings = {
    kind: "stdio",
    command,
    args,
    cwd,
    startMs,
    resolveEnv: async () => env,
    confine: confiner,
  } as const;
  const connector = createMcpConnector({ ...shared, id, settings });
  try {
    return await connector.tools();
  } finally {
    await connector.close();
  }
}
