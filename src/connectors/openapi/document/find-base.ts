/** Finds the URL of an API. A document from the network may name its own origin only; any other must be configured. */

import { GloveboxError } from "../../../domain/index.ts";
import type { ConnectorId } from "../../../domain/index.ts";

interface BaseSources {
  readonly id: ConnectorId;
  readonly configured: string | undefined;
  /** As written in the document. */
  readonly server: string | undefined;
  /** `undefined` for a local file. */
  readonly documentUrl: string | undefined;
}

/**
 * Otherwise an attacker who can change a document on the network could redirect the gateway and its credentials to any
 * host, also in the private network.
 */
export function findBase({ id, configured, server, documentUrl }: BaseSources): URL {
  if (configured !== undefined) return parseBase(configured, undefined) ?? refuse(id, "baseUrl is not an http URL");
  const base = parseBase(server ?? "/", documentUrl);
  if (!base) return refuse(id, "the document does not name a server");
  if (documentUrl !== undefined && base.origin !== URL.parse(documentUrl)?.origin) {
    return refuse(id, `the document names the server ${base.origin}, which is not the origin of the document`);
  }
  return base;
}

function parseBase(text: string, relativeTo: string | undefined): URL | undefined {
  const url = relativeTo === undefined ? URL.parse(text) : URL.parse(text, relativeTo);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return url;
}

function refuse(id: ConnectorId, why: string): never {
  throw new GloveboxError("CONFIG_INVALID", `${id}: ${why}`, {
    hint: "Set baseUrl in the entry of this API, as in https://api.example.com/v1",
  });
}
