/**
 * Skills over MCP (SEP-2640): approved skills of Glovebox at `skill://skills/NAME`, and skills of upstreams at
 * `skill://NAMESPACE/PATH`, each with the digests of its files. What a principal may not see is not listed.
 */

import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { parse } from "yaml";
import * as z from "zod";

import { GloveboxError, defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Json, JsonObject, Tool } from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import type { McpDoor } from "../gateway.ts";
import { restoreFiles } from "./files.ts";

/** In the capabilities of both sides. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
const SCHEME = "skill://";
const TEXT_FILE = "SKILL.md";
/** The namespace of skills of Glovebox; no upstream can have it. */
const OWN = "skills";
/** The names of tools that are skills of upstreams. */
const UPSTREAM = "skills/";
const PAGE = 50;
/** Of the tool of an upstream's skill. */
const ANSWER = z.object({
  frontmatter: z.unknown(),
  files: z.array(z.object({ path: z.string(), digest: z.string(), size: z.number() })),
});
const FRONT = /^---\n([\s\S]*?)\n---(?:\n|$)/;
const TYPES: Readonly<Record<string, string>> = { md: "text/markdown", json: "application/json", ts: "text/plain" };

interface SkillPlace {
  readonly tool: Tool;
  /** Its directory. */
  readonly root: string;
}

/** One page, by address. A skill that cannot be read now is left out. */
export async function listSkills(door: McpDoor, cursor: string | undefined, signal: AbortSignal): Promise<JsonObject> {
  const places = (await findPlaces(door)).filter(({ root }) => cursor === undefined || root > cursor);
  const page = places.slice(0, PAGE);
  const entries = await Promise.all(page.map((place) => describe(door, place, signal).catch(leaveOut)));
  const last = places.length > PAGE ? page.at(-1)?.root : undefined;
  return { skills: entries.filter((entry) => entry !== undefined), ...defined({ nextCursor: last }) };
}

export async function getSkill(door: McpDoor, uri: string, signal: AbortSignal): Promise<JsonObject> {
  const place = (await findPlaces(door)).find(({ root }) => uri === `${root}/${TEXT_FILE}`);
  const skill = place && (await describe(door, place, signal).catch(leaveOut));
  if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown skill: ${uri}`);
  return { skill };
}

/** `undefined` for an address of something else. Rejects like an unknown resource for a file that does not exist. */
export async function readSkillFile(
  door: McpDoor,
  uri: string,
  signal: AbortSignal,
): Promise<readonly JsonObject[] | undefined> {
  if (!uri.startsWith(SCHEME)) return undefined;
  const places = (await findPlaces(door)).filter(({ root }) => uri.startsWith(`${root}/`));
  // The longest directory: a skill may be in the directory of another.
  const place = places.toSorted((a, b) => b.root.length - a.root.length)[0];
  const path = uri.slice((place?.root.length ?? 0) + 1);
  const file = place && (await readFile(door, place, path, signal).catch(leaveOut));
  if (!file) throw new ResourceNotFoundError(uri);
  return restoreFiles(door, [{ uri, mimeType: TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain", ...file }]);
}

async function findPlaces({ gateway, principal }: McpDoor): Promise<readonly SkillPlace[]> {
  if (!gateway.skillFiles) return [];
  const { tools } = await gateway.takeSnapshot(principal, "some");
  const places = [...tools.values()].flatMap((tool): SkillPlace[] => {
    const { kind, remoteName } = tool.origin;
    if (kind === "skill") return [{ tool, root: `${SCHEME}${OWN}/${remoteName}` }];
    if (!remoteName.startsWith(UPSTREAM)) return [];
    const namespace = tool.address.slice(0, tool.address.indexOf("."));
    return [{ tool, root: `${SCHEME}${namespace}/${remoteName.slice(UPSTREAM.length)}` }];
  });
  return places.toSorted((a, b) => (a.root < b.root ? -1 : 1));
}

async function describe(door: McpDoor, { tool, root }: SkillPlace, signal: AbortSignal): Promise<JsonObject> {
  const toEntry = (
    frontmatter: Json,
    files: readonly { path: string; digest: string; size: number }[],
  ): JsonObject => ({
    uri: `${root}/${TEXT_FILE}`,
    frontmatter,
    resources: files.map(({ path, ...file }) => ({ uri: `${root}/${path}`, ...file })),
  });
  if (tool.origin.kind === "upstream") {
    const answer = await callUpstream(door, tool, {}, signal);
    const { frontmatter, files } = ANSWER.parse(answer);
    return toEntry(parseJson(JSON.stringify(frontmatter)) ?? {}, files);
  }
  const files = await openOwn(door, tool);
  const [, front = ""] = FRONT.exec(Buffer.from(files.get(TEXT_FILE) ?? "").toString("utf8")) ?? [];
  const manifest = [...files].map(([path, bytes]) => ({ path, digest: digestOf(bytes), size: bytes.byteLength }));
  const frontmatter: unknown = parse(front, { maxAliasCount: 0, logLevel: "silent" });
  return toEntry(
    parseJson(JSON.stringify(frontmatter)) ?? {},
    manifest.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  );
}

async function readFile(
  door: McpDoor,
  { tool }: SkillPlace,
  path: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  if (tool.origin.kind === "upstream") {
    const { mimeType, text, blob } = await callUpstream(door, tool, { path }, signal);
    return defined({ mimeType, text, blob });
  }
  const bytes = (await openOwn(door, tool)).get(path);
  return bytes && { text: Buffer.from(bytes).toString("utf8") };
}

/** Rejects with SKILL_NOT_APPROVED or SKILL_FROZEN. */
function openOwn({ gateway }: McpDoor, tool: Tool): Promise<ReadonlyMap<string, Uint8Array>> {
  if (gateway.skillFiles) return gateway.skillFiles(tool);
  throw new GloveboxError("REQUEST_NOT_FOUND", "Skills are not served over MCP");
}

/** A call like any other: rules, limits and the ledger apply. */
async function callUpstream(
  { gateway, principal }: McpDoor,
  { address }: Tool,
  args: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { result, replies } = await gateway.callTools({ principal, calls: [{ address, args }], signal });
  const [reply] = replies;
  const value = reply?.ok ? parseJson(reply.json) : undefined;
  if (isJsonObject(value)) return value;
  const { code, message } = result.error ?? { code: "UPSTREAM_RESULT_INVALID", message: "It is not a skill" };
  throw new GloveboxError(code, message);
}

/** What is wrong with one skill is for an operator, and no fault of the others. A real tool can have such a name, too. */
function leaveOut(thrown: unknown): undefined {
  if (!(thrown instanceof GloveboxError) && !(thrown instanceof z.ZodError)) throw thrown;
  return undefined;
}
