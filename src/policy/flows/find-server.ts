/** Recognizes a well-known server by the operator's configuration, never by what a server reports about itself. */

import type { ConnectorId, UpstreamSettings } from "../../domain/index.ts";

import { KNOWN_SERVERS } from "./known-servers.ts";
import type { KnownServer } from "./known-servers.ts";

export type ServerPlace =
  | { readonly kind: "command"; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "api"; readonly url: string };

/** Returns where each upstream is, as the operator wrote it. Adapters run inside the gateway and have no place. */
export function findServerPlaces({
  upstreams,
  apis,
}: Pick<UpstreamSettings, "upstreams" | "apis">): ReadonlyMap<ConnectorId, ServerPlace> {
  const places = new Map<ConnectorId, ServerPlace>();
  for (const [id, upstream] of upstreams) {
    const { transport } = upstream;
    places.set(id, transport === "stdio" ? { kind: "command", ...upstream } : { kind: "url", url: upstream.url });
  }
  for (const [id, { baseUrl, document }] of apis) {
    const url = baseUrl ?? (document.kind === "url" ? document.url : undefined);
    if (url !== undefined) places.set(id, { kind: "api", url });
  }
  return places;
}

/** Tries the words of a command in order, so that a package takes precedence over the folders in its arguments. */
export function findServer(place: ServerPlace): KnownServer | undefined {
  const words = place.kind === "command" ? [place.command, ...place.args] : [place.url];
  for (const word of words) {
    const host = hostOf(word);
    const found = KNOWN_SERVERS.find((server) =>
      host === undefined ? namesPackage(word, server) : server.hosts.some((known) => matchesHost(known, host)),
    );
    if (found) return found;
  }
  return undefined;
}

function hostOf(word: string): string | undefined {
  return /^https?:\/\//i.test(word) ? URL.parse(word)?.hostname : undefined;
}

/** `*.example.com` matches every host below it, and no other. */
function matchesHost(known: string, host: string): boolean {
  return known.startsWith("*.") ? host.endsWith(known.slice(1)) : host === known;
}

/** Matches a package by name, with or without a version or tag, or as folders of a path. */
function namesPackage(word: string, { packages }: KnownServer): boolean {
  const path = `/${normalize(word)}/`;
  return namePrograms(packages).some((name) => path.includes(`/${name}/`));
}

/**
 * Matches the name of a package or of its program, and a file of an installed one: a folder with such a name proves
 * nothing. `isProgram` for the first word of a command.
 */
export function isPackage(word: string, packages: readonly string[], isProgram = false): boolean {
  const plain = normalize(word);
  return namePrograms(packages).some(
    (name) =>
      plain === name ||
      `/${plain}/`.includes(`/node-modules/${name}/`) ||
      plain.endsWith(`node-modules/.bin/${name}`) ||
      (isProgram && plain.endsWith(`/bin/${name}`)),
  );
}

/** The reference servers come with a program of another name: `mcp-server-memory`. */
function namePrograms(packages: readonly string[]): readonly string[] {
  const programs = packages.flatMap((name) => {
    const [, own] = /^@modelcontextprotocol\/(server-.+)$/.exec(name) ?? [];
    return own === undefined ? [] : [`mcp-${own}`];
  });
  return [...packages, ...programs];
}

/** Handles underscores of Python modules, backslashes of Windows paths, and a leading option name. */
function normalize(word: string): string {
  const plain = word
    .toLowerCase()
    .replaceAll("\\", "/")
    .replaceAll("_", "-")
    .replace(/^--?[^=/]*=/, "");
  return plain.replace(/(?<=[^/])[@:=][^/]*$/, "").replace(/\.(?:exe|cmd|js|mjs|cjs|py)$/, "");
}
