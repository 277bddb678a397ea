/**
 * Skills that a server offers by the Skills extension (SEP-2640), as tools: policy, ledger and pins treat them like any
 * other. The manifest of all files is a part of the pinned definition, so a changed file withholds the skill, and each
 * file is checked by it when it is read.
 */

import { parse } from "yaml";
import { z } from "zod";

import { GloveboxError, canonicalJson, defined, isJsonObject } from "../../../domain/index.ts";
import type { Attachment, Json, JsonObject } from "../../../domain/index.ts";

import { digestOf } from "../../../text/index.ts";
import type { RemoteResult, RemoteTool } from "../../connector.ts";
import { invalid, parseResource } from "./content.ts";
import { listPages } from "./parse-tools.ts";
import type { SendRequest } from "./synthetic.ts";
import { defineSkill } from "./synthetic-definitions.ts";

/** In the capabilities of a server. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";
const TEXT_FILE = "SKILL.md";
/** The limits of the extension: a larger skill need not be supported. */
const MOST_FILES = 512;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_SKILLS = 200;
/** Of YAML, which takes long to parse. */
const MOST_FRONT_CHARS = 32 * 1024;
const FRONT = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/;

const FILE = z.object({
  uri: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.int().min(0),
});
/** One without digests (`dynamic`) is not offered: what cannot be pinned cannot be accepted. */
const ENTRY = z.object({
  uri: z.string().regex(/^[a-z][a-z0-9+.-]{0,31}:\/\/[^/]+(?:\/[^/]+)*\/SKILL\.md$/),
  frontmatter: z.looseObject({ name: z.string().min(1), description: z.string() }),
  resources: z.array(FILE).max(MOST_FILES),
});
type SkillEntry = z.infer<typeof ENTRY>;

/** The tools of all skills with a complete manifest, by the path of the skill: `skills/billing/refunds`. */
export async function listSkills(ask: SendRequest): Promise<readonly RemoteTool[]> {
  const found = await listPages("skills", (params) => ask("skills/list", params));
  return found.slice(0, MOST_SKILLS).flatMap((raw) => {
    const { data } = ENTRY.safeParse(raw);
    return data && isWhole(data) ? [toTool(data)] : [];
  });
}

function isWhole(entry: SkillEntry): boolean {
  const paths = entry.resources.map(({ uri }) => pathOf(entry, uri));
  const bytes = entry.resources.reduce((sum, { size }) => sum + size, 0);
  const isOwn = new Set(paths).size === paths.length && !paths.includes(undefined) && paths.includes(TEXT_FILE);
  return isOwn && bytes <= MOST_BYTES && rootOf(entry).endsWith(`/${entry.frontmatter.name}`);
}

/** Its directory, as a URI. */
function rootOf({ uri }: Pick<SkillEntry, "uri">): string {
  return uri.slice(0, -TEXT_FILE.length - 1);
}

/** `undefined` for a file that is not in the directory of the skill. */
function pathOf(entry: Pick<SkillEntry, "uri">, uri: string): string | undefined {
  const root = `${rootOf(entry)}/`;
  return uri.startsWith(root) && uri.length > root.length ? uri.slice(root.length) : undefined;
}

function toTool(entry: SkillEntry): RemoteTool {
  const { frontmatter, resources, uri } = entry;
  const path = rootOf(entry).slice(uri.indexOf("://") + "://".length);
  const paths = resources.flatMap((file) => pathOf(entry, file.uri) ?? []);
  const manifest: Json = JSON.parse(JSON.stringify({ uri, frontmatter, resources }));
  return {
    ...defineSkill(`skills/${path}`, `Skill of this server: ${frontmatter.description}`, paths.toSorted()),
    ...defined({ request: isJsonObject(manifest) ? manifest : undefined }),
  };
}

/** Reads one file. Rejects with UPSTREAM_RESULT_INVALID if it is not the one that was listed. */
export async function callSkill(
  { request }: Pick<RemoteTool, "request">,
  { path: raw }: JsonObject,
  ask: SendRequest,
): Promise<RemoteResult> {
  const entry = ENTRY.parse(request);
  const path = typeof raw === "string" ? raw : TEXT_FILE;
  const file = entry.resources.find(({ uri }) => pathOf(entry, uri) === path);
  if (!file)
    throw new GloveboxError("TOOL_ARGUMENTS_INVALID", `The skill has no file ${JSON.stringify(path.slice(0, 100))}`, {
      hint: "Its answer without a path lists the files",
    });
  const attachments: Attachment[] = [];
  const { text, blob, bytes, mimeType } = parseFile(await ask("resources/read", { uri: file.uri }), attachments);
  if (bytes.byteLength !== file.size || digestOf(bytes) !== file.digest) throw changed(path);
  if (path === TEXT_FILE && !isFrontmatter(bytes, entry)) throw changed(path);
  const files = entry.resources.map(({ uri, ...rest }) => ({ path: pathOf(entry, uri) ?? "", ...rest }));
  const about: JsonObject = path === TEXT_FILE ? { frontmatter: toJson(entry.frontmatter), files } : {};
  return { value: defined({ path, mimeType, text, blob, ...about }), attachments };
}

function parseFile(raw: unknown, attachments: Attachment[]) {
  const contents = isJsonObject(raw) ? raw["contents"] : undefined;
  const [item, more] = Array.isArray(contents) ? contents : [];
  if (!isJsonObject(item) || more !== undefined) throw invalid("a file of a skill is not one resource");
  const source = item["blob"];
  const { mimeType, text, blob } = parseResource(item, [], attachments);
  const bytes =
    typeof source === "string" ? Buffer.from(source, "base64") : Buffer.from(typeof text === "string" ? text : "");
  const type = typeof mimeType === "string" ? mimeType : undefined;
  return { bytes, mimeType: type, blob, text: blob === undefined ? (text ?? "") : undefined };
}

/** What the model chose the skill by is what the file says. */
function isFrontmatter(bytes: Uint8Array, { frontmatter }: SkillEntry): boolean {
  const [, front = ""] = FRONT.exec(Buffer.from(bytes).toString("utf8")) ?? [];
  if (front.length > MOST_FRONT_CHARS) return false;
  try {
    const written: unknown = parse(front, { maxAliasCount: 0, logLevel: "silent" });
    return canonicalJson(toJson(written)) === canonicalJson(toJson(frontmatter));
  } catch {
    return false;
  }
}

function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null));
}

function changed(path: string): GloveboxError {
  return new GloveboxError("UPSTREAM_RESULT_INVALID", `${path} is not the file that the server listed`, {
    hint: "The server may have changed it: its operator can look at it with `glovebox servers`",
  });
}
