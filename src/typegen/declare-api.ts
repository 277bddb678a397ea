/** The whole typed API of a snapshot: what a program is checked against and what `describe` reads from. */

import type { ApiSurface, CatalogSnapshot, Namespace, Tool } from "../domain/index.ts";
import { parseToolAddress } from "../domain/index.ts";
import { declareLoosely, declareMember, declareNamespace } from "./declare-tool.ts";
import { HELPER_GLOBALS } from "./helper-globals.ts";
import { createNamedTypes } from "./named-types.ts";
import { NETWORK_GLOBALS } from "./network-globals.ts";

/** What the product itself offers to every program. Looking and reading only; each is a call and counts as one. */
export const DECLARED_GLOVEBOX = `/** Finds tools and reads results that were too large to be returned. */
declare const glovebox: {
  search(query?: string | { query?: string; server?: string; effect?: "read" | "write" | "destroy" | "unknown"; limit?: number; cursor?: string }): Promise<{ tools: { name: string; summary: string; effect: string; server: string; upstreamName: string }[]; cursor?: string }>;
  /** TypeScript declarations of tools or servers, and the shape of a handle. */
  describe(names: string | string[], detail?: "brief" | "types" | "full"): Promise<string>;
  results: {
    /** The value behind a handle, or a part: \`path\` like a.b[0], a page of items or characters, or what contains the text \`grep\`. A file is { mimeType, bytes, base64, next? }. */
    read(handle: string, options?: { path?: string; offset?: number; limit?: number; grep?: string }): Promise<any>;
  };
};`;

/** Past this much text further tools are declared without the types of their arguments. */
export const MAX_API_CHARACTERS = 4 * 1024 * 1024;

const KEPT_SURFACES = 4;

/** Globals that every program has, besides ECMAScript and one namespace per server. */
export const FIXED_GLOBALS = `/** The JSON value given to \`execute\` as \`input\`. */
declare const input: any;
/** Thrown when a tool fails or a call is refused; \`code\` says why, \`retry\` whether trying again can help. */
declare class ToolError extends Error {
  private constructor();
  readonly code: string;
  readonly retry: boolean;
  readonly hint?: string;
}
${DECLARED_GLOVEBOX}`;

const surfaces = new Map<string, ApiSurface>();

/** What a program may be told of beside its tools. */
export interface ApiOptions {
  /** Declares `fetch` and what belongs to it. */
  readonly hasNetwork?: boolean;
}

/** Equal digests mean equal tools, so a surface is made once and kept for the last few snapshots. */
export function declareApi(snapshot: CatalogSnapshot, { hasNetwork = false }: ApiOptions = {}): ApiSurface {
  const key = `${snapshot.digest} ${hasNetwork}`;
  const surface = surfaces.get(key) ?? createSurface(snapshot, hasNetwork);
  surfaces.delete(key);
  surfaces.set(key, surface);
  const [oldest] = surfaces.keys();
  if (surfaces.size > KEPT_SURFACES && oldest !== undefined) surfaces.delete(oldest);
  return surface;
}

function createSurface(snapshot: CatalogSnapshot, hasNetwork: boolean): ApiSurface {
  let left = MAX_API_CHARACTERS;
  const declare = (namespace: Namespace): string => {
    const types = createNamedTypes(namespace.name);
    let typed = 0;
    const members = toolsOf(snapshot, namespace).map((tool) => {
      const text = left > 0 ? declareMember(toChecked(tool), "types", types) : declareLoosely(tool);
      left -= text.length + types.size() - typed;
      typed = types.size();
      return text;
    });
    return declareNamespace(namespace.name, members, types);
  };
  const namespaces = snapshot.namespaces.map(declare);
  return Object.freeze({
    snapshot: snapshot.digest,
    declarations: `${[FIXED_GLOBALS, HELPER_GLOBALS, ...(hasNetwork ? [NETWORK_GLOBALS] : []), ...namespaces].join("\n")}\n`,
    namespaces: snapshot.namespaces,
  });
}

/** What results looked like so far is no promise, so no program is refused for expecting something else. */
function toChecked(tool: Tool): Tool {
  const { learned: _, ...checked } = tool;
  return checked;
}

/** In the namespace's own order; a method without a tool behind it is left out. */
export function toolsOf(snapshot: CatalogSnapshot, namespace: Namespace): readonly Tool[] {
  return namespace.tools.flatMap((name) => {
    const address = parseToolAddress(`${namespace.name}.${name}`);
    const tool = address && snapshot.tools.get(address);
    return tool ? [tool] : [];
  });
}
