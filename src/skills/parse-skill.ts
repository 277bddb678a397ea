/** Parses the files of a skill. What it returns was checked; a folder that is wrong in any part is refused as a whole. */

import { parseDocument } from "yaml";
import { z } from "zod";

import { readSkill } from "../analysis/index.ts";
import { GloveboxError, defined, parseJson, parseToolAddress } from "../domain/index.ts";
import type { Json, ToolAddress } from "../domain/index.ts";
import { cleanText } from "../text/index.ts";
import { POWER_NEEDS, toWanted } from "./powers.ts";
import { MOST_BYTES, SKILLS, withoutLock } from "./skill.ts";
import type { ParsedSkill, SkillFiles, SkillTest } from "./skill.ts";

const PATHS = /^(?:SKILL\.md|skill\.ts|tests\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.json)$/;
const FRONT = /^---\n([\s\S]*?)\n---(?:\n|$)/;

/** ASCII only, so that no two names look alike. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const NAME_CHARS = 64;
const TEXT_CHARS = 1_024;
const MOST_TOOLS = 50;

const shortText = z.string().max(TEXT_CHARS);
const FRONTMATTER = z.strictObject({
  name: z.string().max(NAME_CHARS).regex(NAME, "expected lower-case words with hyphens, such as weekly-report"),
  description: shortText.min(1),
  license: shortText.optional(),
  compatibility: shortText.optional(),
  "allowed-tools": shortText.optional(),
  metadata: z.record(z.string().max(100), shortText).optional(),
});

const address = z.string().refine((text) => parseToolAddress(text) !== undefined, "expected server.tool");
const none = z.array(z.unknown()).max(0, "this version grants no modules").optional();
const NEEDS = z.strictObject({
  tools: z
    .array(z.union([address, z.strictObject({ tool: address, reason: shortText })]))
    .max(MOST_TOOLS)
    .default([]),
  ...POWER_NEEDS,
  modules: none,
});

const json: z.ZodType<Json> = z.json();
const TEST = z.strictObject({
  input: json,
  calls: z
    .array(z.strictObject({ tool: z.string(), args: json, result: json }))
    .max(1_000)
    .default([]),
  output: json,
  /** By default a fixed seed and time. */
  start: z.strictObject({ seed: z.array(z.int().min(0).max(0xffffffff)).length(4), atMs: z.int().min(0) }).optional(),
});

/** Properties of every function, and methods that the language calls: no tool has such a name. */
const RESERVED: ReadonlySet<string> = new Set([
  ..."apply arguments bind call caller catch constructor finally hasOwnProperty isPrototypeOf length name".split(" "),
  ..."propertyIsEnumerable prototype then toLocaleString toString valueOf".split(" "),
]);

/** Throws REQUEST_INVALID, PROGRAM_SYNTAX or LIMIT_SIZE. */
export function parseSkill(all: SkillFiles): ParsedSkill {
  const files = withoutLock(all);
  const strange = [...files.keys()].find((path) => !PATHS.test(path));
  if (strange !== undefined)
    throw invalid(`${JSON.stringify(strange)} is not a file of a skill`, "It has SKILL.md, skill.ts and tests/*.json");
  checkSize(files);
  const texts = new Map([...files].map(([path, bytes]) => [path, toText(path, bytes)]));
  const { name, metadata = {}, ...front } = parseFront(need(texts, "SKILL.md"));
  const { input, output, program, needs } = readSkill(need(texts, "skill.ts"), { sourceBytes: MOST_BYTES });
  if (input["type"] !== "object")
    throw invalid("`input` of skill.ts must be an object schema", 'Write input: { type: "object", properties: { … } }');
  return {
    name,
    address: toAddress(name),
    description: front.description,
    ...defined({ license: front.license, output }),
    metadata,
    input,
    program,
    ...parseNeeds(needs),
    tests: [...texts].filter(([path]) => path.startsWith("tests/")).map(([path, text]) => parseTest(path, text)),
  };
}

function checkSize(files: SkillFiles): void {
  const bytes = [...files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (bytes <= MOST_BYTES) return;
  throw new GloveboxError("LIMIT_SIZE", `The skill has ${bytes} bytes; the limit is ${MOST_BYTES}`, {
    hint: "Remove what the skill does not need, such as large tests",
  });
}

/** Hidden characters are refused everywhere: a reviewer approves what can be seen. */
function toText(path: string, bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll("\r\n", "\n");
  const isClean = cleanText(text, { maxBytes: Infinity }) === text && Buffer.from(text).equals(withoutReturns(bytes));
  if (isClean) return text;
  throw invalid(`${path} is not plain UTF-8 text, or has characters that cannot be seen`, "Remove them");
}

function withoutReturns(bytes: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll("\r\n", "\n"), "latin1");
}

function need(texts: ReadonlyMap<string, string>, path: string): string {
  const text = texts.get(path);
  if (text !== undefined) return text;
  throw invalid(`The skill has no file ${path}`, "docs/guide/skills.md shows the files of a skill");
}

function parseFront(text: string): z.output<typeof FRONTMATTER> {
  const [, front] = FRONT.exec(text) ?? [];
  if (front === undefined)
    throw invalid("SKILL.md has no frontmatter", "Begin it with ---, name: … and description: …");
  const document = parseDocument(front, { schema: "failsafe", strict: true, uniqueKeys: true, logLevel: "silent" });
  const raw: unknown = document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 0 });
  return check(FRONTMATTER, raw, "SKILL.md");
}

/** `weekly-report` becomes `skills.weeklyReport`. */
export function toAddress(name: string): ToolAddress {
  const own = name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const found = RESERVED.has(own) ? undefined : parseToolAddress(`${SKILLS}.${own}`);
  if (found) return found;
  throw invalid(`A skill cannot be named ${JSON.stringify(name)}`, "Choose another name in SKILL.md");
}

function parseNeeds(raw: Json): Pick<ParsedSkill, "requests" | "wants"> {
  const { tools, hosts, secrets } = check(NEEDS, raw, "`needs` of skill.ts");
  const requests = tools.map((one) => (typeof one === "string" ? { tool: one, reason: "" } : one));
  const parsed = requests.flatMap(({ tool: text, reason }) => {
    const tool = parseToolAddress(text);
    return tool ? [{ tool, reason }] : [];
  });
  const twice = parsed.find(({ tool }, at) => parsed.findIndex((other) => other.tool === tool) !== at);
  if (twice) throw invalid(`\`needs\` of skill.ts lists ${twice.tool} twice`, "List each tool once");
  const own = parsed.find(({ tool }) => tool.startsWith("glovebox."));
  if (own) throw invalid(`A skill cannot ask for ${own.tool}`, "It can call tools of servers, and other skills");
  return { requests: parsed, wants: toWanted({ hosts, secrets }) };
}

function parseTest(file: string, text: string): SkillTest {
  return { file, ...check(TEST, parseJson(text), file) };
}

function check<Value>(schema: z.ZodType<Value>, raw: unknown, what: string): Value {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue && issue.path.length > 0 ? ` at ${issue.path.join(".")}` : "";
  throw invalid(`${what} is not valid${place}: ${issue?.message ?? "unknown"}`, "docs/guide/skills.md shows the form");
}

function invalid(message: string, hint: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", cleanText(message, { maxBytes: TEXT_CHARS }), { hint });
}
