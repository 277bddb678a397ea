/** Finds the server that a command names. */

import { GloveboxError, parseConnectorId } from "../../../domain/index.ts";
import type { ConnectorId } from "../../../domain/index.ts";

/** The id of a server that one of the maps has. */
export function toServer(name: string, ...configured: readonly ReadonlyMap<ConnectorId, unknown>[]): ConnectorId {
  const id = parseConnectorId(name);
  if (id !== undefined && configured.some((servers) => servers.has(id))) return id;
  throw noServer(name);
}

export function noServer(name: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `The configuration has no server ${JSON.stringify(name)}`, {
    hint: "glovebox servers lists them",
  });
}
