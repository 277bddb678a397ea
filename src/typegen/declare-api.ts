/** Declares the whole API of a snapshot: programs are checked against it, and `describe` reads from it. */

import type { ApiSurface, CatalogSnapshot, Namespace, SecretGrants, Tool, ToolAddress } from "../domain/index.ts";
import { defined, parseToolAddress } from "../domain/index.ts";
import { createRecent, runAtOnce } from "../timing/index.ts";
import type { SlicedWork } from "../timing/index.ts";
import { declareLoosely, declareMember, declareNamespace } from "./declare-tool.ts";
import { HELPER_GLOBALS, NETWORK_GLOBALS, declareSecrets } from "./globals.ts";
import { createNamedTypes } from "./types/named-types.ts";

/** Built-in functions of every program. All but drafts only read, and each use counts as a call. */
export const DECLARED_GLOVEBOX = `/** Find tools, and read results that were too large to return. */
declare const glovebox: {
  search(query?: string | { query?: string; server?: string; effect?: "read" | "write" | "destroy" | "unknown"; limit?: number; cursor?: string }): Promise<{ tools: { name: string; summary: string; effect: string; server: string; upstreamName: string; signature?: string }[]; cursor?: string }>;
  /** TypeScript declarations of tools or servers, or the shape of a handle. */
  describe(names: string | string[], detail?: "brief" | "types" | "full"): Promise<string>;
  results: {
    /** The value of a handle, or a part of it: \`path\` such as a.b[0], a page of items or characters, or entries that contain \`grep\`. A file is { mimeType, bytes, base64, next? }. */
    read(handle: string, options?: { path?: string; offset?: number; limit?: number; grep?: string }): Promise<any>;
  };
  skills: {
    /** Proposes a skill, which runs once a person approves it: \`from\` a completed execution, whose literal arguments become parameters but those in \`keep\`; or as \`code\`, the text of skill.ts. */
    draft(skill: { name: string; description: string; from?: string; keep?: string[]; code?: string }): Promise<{ skill: string; version: number; state: string; parameters?: Record<string, unknown>; next: string }>;
  };
};`;

/** Above this size, further tools are declared without types. */
export const MAX_API_CHARACTERS = 4 * 1024 * 1024;

const KEPT_SURFACES = 4;

/** Globals that every program has, besides ECMAScript and one namespace per server. */
export const FIXED_GLOBALS = `/** The \`input\` of \`execute\`, a JSON value. */
declare const input: any;
/** Thrown when a tool fails or a call is refused. \`code\` is the reason; \`retry\` is true if a retry can help. */
declare class ToolError extends Error {
  private constructor();
  readonly code: string;
  readonly retry: boolean;
  readonly hint?: string;
}
${DECLARED_GLOVEBOX}`;

interface SurfaceEntry {
  readonly surface: ApiSurface;
  /** Tools without types. */
  readonly loose: ReadonlySet<ToolAddress>;
}

const whole = createRecent<string, SurfaceEntry>(KEPT_SURFACES);
const parts = createRecent<string, SurfaceEntry>(KEPT_SURFACES);

export interface ApiOptions {
  readonly hasNetwork?: boolean;
  readonly secrets?: SecretGrants;
  /** Tools that must have types, if necessary instead of others. Called only if some tools do not fit. */
  readonly reached?: () => readonly ToolAddress[];
}

/** Cached for the last few snapshots: equal digests mean equal tools. */
export function declareApi(
  snapshot: CatalogSnapshot,
  { hasNetwork = false, secrets = NO_SECRETS, reached = () => [] }: ApiOptions = {},
): ApiSurface {
  return runAtOnce(declareInSlices(snapshot, { hasNetwork, secrets, reached }));
}

/** Like `declareApi`, with pauses unless it is cached: a snapshot may have thousands of tools. */
export function* declareInSlices(
  snapshot: CatalogSnapshot,
  { hasNetwork = false, secrets = NO_SECRETS, reached = () => [] }: ApiOptions = {},
): SlicedWork<ApiSurface> {
  const globals = toGlobals(hasNetwork, secrets);
  const key = toKey(snapshot, hasNetwork, globals);
  const all = whole.get(key) ?? (yield* createSurface(snapshot, globals));
  whole.set(key, all);
  if (all.loose.size === 0) return all.surface;
  const wanted = new Set(reached());
  if (wanted.isDisjointFrom(all.loose)) return all.surface;
  const part = snapshot.tools.size === wanted.size ? "" : [...wanted].toSorted().join(" ");
  const partKey = `${key} ${part}`;
  const { surface, loose } =
    part === "" ? all : (parts.get(partKey) ?? (yield* createSurface(snapshot, globals, wanted)));
  if (part !== "") parts.set(partKey, { surface, loose });
  const missing = [...wanted].filter((tool) => loose.has(tool));
  const partial = { part: part === "" ? undefined : part, loose: missing.length > 0 ? missing : undefined };
  return Object.freeze({ ...surface, ...defined(partial) });
}

const NO_SECRETS: SecretGrants = new Map();

interface SurfaceGlobals {
  readonly own: readonly string[];
  readonly secrets: readonly string[];
}

function toGlobals(hasNetwork: boolean, secrets: SecretGrants): SurfaceGlobals {
  const own = [declareSecrets(secrets), ...(hasNetwork ? [NETWORK_GLOBALS] : [])];
  return { own, secrets: [...secrets.keys()] };
}

function toKey({ digest }: CatalogSnapshot, hasNetwork: boolean, { secrets }: SurfaceGlobals): string {
  return `${digest} ${hasNetwork} ${secrets.join(" ")}`;
}

/** Declares namespaces with few tools first, so that a large server does not take the space of the others. */
function* createSurface(
  snapshot: CatalogSnapshot,
  { own, secrets }: SurfaceGlobals,
  wanted: ReadonlySet<ToolAddress> = new Set(snapshot.tools.keys()),
): SlicedWork<SurfaceEntry> {
  const loose = new Set<ToolAddress>();
  const texts = new Map<Namespace, string>();
  let left = MAX_API_CHARACTERS;
  for (const namespace of snapshot.namespaces.toSorted((a, b) => a.tools.length - b.tools.length)) {
    const types = createNamedTypes(namespace.name);
    let typed = 0;
    const members: string[] = [];
    for (const tool of toolsOf(snapshot, namespace)) {
      if (members.length > 0) yield;
      const isTyped = left > 0 && wanted.has(tool.address);
      if (!isTyped) loose.add(tool.address);
      const text = isTyped ? declareMember(toChecked(tool), "types", types) : declareLoosely(tool);
      left -= text.length + types.size() - typed;
      typed = types.size();
      members.push(text);
    }
    texts.set(namespace, declareNamespace(namespace.name, members, types));
  }
  const namespaces = snapshot.namespaces.map((namespace) => texts.get(namespace) ?? "");
  const surface = Object.freeze({
    snapshot: snapshot.digest,
    declarations: `${[FIXED_GLOBALS, HELPER_GLOBALS, ...own, ...namespaces].join("\n")}\n`,
    namespaces: snapshot.namespaces,
    effectOf: (address: string) => {
      const parsed = parseToolAddress(address);
      return parsed && snapshot.tools.get(parsed)?.effect;
    },
    ...defined({ secrets: secrets.length > 0 ? secrets : undefined }),
  });
  return { surface, loose };
}

/** Removes the learned shape: it guarantees nothing, so programs must not be refused because of it. */
function toChecked(tool: Tool): Tool {
  const { learned: _, ...checked } = tool;
  return checked;
}

/** Returns the tools in the order of the namespace; a method without a tool is skipped. */
export function toolsOf(snapshot: CatalogSnapshot, namespace: Namespace): readonly Tool[] {
  return namespace.tools.flatMap((name) => {
    const address = parseToolAddress(`${namespace.name}.${name}`);
    const tool = address && snapshot.tools.get(address);
    return tool ? [tool] : [];
  });
}
