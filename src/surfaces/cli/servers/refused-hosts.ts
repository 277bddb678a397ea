/** Hosts that confined servers were refused lately, by any gateway on this store: a gateway forgets them when it ends. */

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Instant, JsonObject, UpstreamStatus } from "../../../domain/index.ts";
import { DAY_MS } from "../../../timing/index.ts";
import type { StoredRecords } from "../../operator-records.ts";

/** Covers `upstream.request.refused`, too. */
const ACTION = "upstream.request";
const REFUSED = "upstream.request.refused";
const MOST_RECORDS = 1_000;

/** Adds the hosts whose newest request of the last day was refused. A store in memory has no records of other gateways. */
export async function addRefusedHosts(
  servers: readonly UpstreamStatus[],
  openRecords: () => Promise<StoredRecords>,
  now: Instant,
): Promise<readonly UpstreamStatus[]> {
  if (!servers.some(({ confinement }) => confinement)) return servers;
  const refused = findRefused(await readRequests(openRecords, now - DAY_MS));
  return servers.map((server) => {
    const { confinement, name } = server;
    const hosts = [...new Set([...(confinement?.refusedHosts ?? []), ...(refused.get(name) ?? [])])];
    return confinement && hosts.length > 0
      ? { ...server, confinement: { ...confinement, refusedHosts: hosts } }
      : server;
  });
}

/** Newest first. */
async function readRequests(openRecords: () => Promise<StoredRecords>, since: Instant): Promise<readonly JsonObject[]> {
  try {
    await using stored = await openRecords();
    return await stored.openReader().search({ action: ACTION, since, limit: MOST_RECORDS });
  } catch (thrown) {
    if (!(thrown instanceof GloveboxError) || thrown.code !== "REQUEST_NOT_FOUND") throw thrown;
    return [];
  }
}

function findRefused(records: readonly JsonObject[]): ReadonlyMap<string, readonly string[]> {
  const newest = new Set<string>();
  const refused = new Map<string, string[]>();
  for (const { subject, action, detail } of records) {
    const host = toHost(detail);
    if (host === undefined || typeof subject !== "string" || newest.has(`${subject} ${host}`)) continue;
    newest.add(`${subject} ${host}`);
    if (action === REFUSED) refused.set(subject, [...(refused.get(subject) ?? []), host]);
  }
  return refused;
}

function toHost(detail: JsonObject[string] | undefined): string | undefined {
  if (!isJsonObject(detail)) return undefined;
  const { host, port } = detail;
  return typeof host === "string" && typeof port === "number" ? `${host}:${port}` : undefined;
}
