/** A program's `fetch` as a bridge call: counted, decided by rules and recorded like a tool call. */

import { isUtf8 } from "node:buffer";

import { createBuiltinTool } from "../bridge/index.ts";
import type { Builtin } from "../bridge/index.ts";
import { GloveboxError } from "../domain/index.ts";
import type { Decision, Json, JsonObject, JsonSchema, Tool } from "../domain/index.ts";
import type { GuestAnswer, GuestRequest } from "../egress/index.ts";

/** One hop of a request: 0 redirects for the request itself. */
export type FetchStep = Parameters<NonNullable<GuestRequest["onStep"]>>[0];

/** One request for the network. Only its shape has been checked. */
interface FetchRequest extends Omit<GuestRequest, "lender" | "onStep" | "onSent"> {
  /** Called once the other side may have received the request. */
  readonly onSent: () => void;
  /** Called before each step with the normalized URL; throws when the request must not continue. */
  readonly onStep: (step: FetchStep) => void;
}

/** A complete response. */
type FetchAnswer = Omit<GuestAnswer, "body"> & { readonly body: Uint8Array };

export interface FetchPowers {
  /** Sends the request if the network policy allows it; rejects otherwise. */
  readonly send: (request: FetchRequest) => Promise<FetchAnswer>;
  /** Throws the refusal that `send` would reject with. Sends nothing. */
  readonly check: (request: Omit<FetchRequest, "signal" | "onSent" | "onStep">) => void;
  /** Applies what the operator configured about its effect and labels. */
  readonly state?: (tool: Tool) => Tool;
}

const TEXT: JsonSchema = { type: "string" };
const INPUT: JsonSchema = {
  type: "object",
  properties: {
    url: TEXT,
    method: { type: "string", maxLength: 20 },
    headers: { type: "array", items: { type: "array", items: TEXT, minItems: 2, maxItems: 2 }, maxItems: 1000 },
    text: TEXT,
    base64: { type: "string", pattern: "^[A-Za-z0-9+/]*={0,2}$" },
  },
  required: ["url"],
  additionalProperties: false,
};

const READ: Tool = { ...createBuiltinTool("fetch", INPUT), labels: ["untrusted", "external"] };
/** For every method except GET and HEAD. */
const WRITE: Tool = { ...READ, effect: "write" };

/** The tool that rules match for a request: `glovebox.fetch`, with the effect of its method. */
export function toFetchTool(args: JsonObject): Tool {
  return /^(?:GET|HEAD)$/i.test(methodOf(args)) ? READ : WRITE;
}

/** The ledger records the host and the status, never the whole URL. */
export function createFetch({ send, check, state = (tool) => tool }: FetchPowers): Builtin {
  return {
    tool: WRITE,
    answerDryRun: (args) => {
      const request = parseRequest(args);
      check(request);
      return toJson({ ...EMPTY_ANSWER, url: request.url });
    },
    judge: (args) => state(toFetchTool(args)),
    noteCall: (args) => ({ host: hostOf(args["url"]), method: methodOf(args).toUpperCase() }),
    noteResult,
    answer: async (args, { decide, spend, ...options }) => {
      // Rules with a condition on the URL or the method see those of the step.
      const onStep = (step: FetchStep): void =>
        refuseStep(step, decide({ ...args, url: step.url, method: step.method }), decide(args));
      const response = await send({ ...parseRequest(args), ...options, onStep });
      return spend(() => toJson(response));
    },
  };
}

/** The response of a dry run, which sends nothing. */
const EMPTY_ANSWER = { status: 200, statusText: "OK", redirected: false, headers: [], body: new Uint8Array() };

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * A URL has many spellings and may redirect, so rules decide again for each step. The first step may be decided as
 * strictly as the program's own spelling, which a person may have approved. An approval never covers a redirect.
 */
function refuseStep({ url, redirects }: FetchStep, decision: Decision, before: Decision): void {
  if (decision.kind === "allow") return;
  if (redirects === 0 && STRICTNESS[decision.kind] <= STRICTNESS[before.kind]) return;
  const leads = redirects === 0 ? "The request goes" : "A redirect leads";
  const hint = redirects === 0 ? "Write the address in this spelling" : "Send a request to that address itself";
  throw new GloveboxError("POLICY_DENIED", `${leads} to ${new URL(url).origin}: ${decision.reason}`, { hint });
}

function methodOf({ method }: JsonObject): string {
  return typeof method === "string" ? method : "GET";
}

/** Never the whole URL: its path or query may contain a secret. */
function hostOf(url: Json | undefined): string {
  return (typeof url === "string" ? URL.parse(url)?.host : undefined)?.slice(0, 300) ?? "";
}

function noteResult(value: Json): JsonObject {
  if (typeof value !== "object" || value === null || !("status" in value)) return {};
  return { host: hostOf(value["url"]), status: value["status"] ?? null };
}

/** The bridge has checked the schema; this only reads the fields. */
function parseRequest(args: JsonObject): Omit<FetchRequest, "signal" | "onSent" | "onStep"> {
  const { url, headers, text, base64 } = args;
  if (text !== undefined && base64 !== undefined) {
    throw new GloveboxError("TOOL_ARGUMENTS_INVALID", "A request has one body: `text` or `base64`, not both");
  }
  const body = toBytes(text, "utf8") ?? toBytes(base64, "base64");
  const pairs = Array.isArray(headers) ? headers : [];
  return { url: parseText(url), method: methodOf(args), headers: pairs.map((pair: Json) => parsePair(pair)), body };
}

function toBytes(text: Json | undefined, encoding: "utf8" | "base64"): Uint8Array | undefined {
  return typeof text === "string" ? Buffer.from(text, encoding) : undefined;
}

function parsePair(raw: Json): readonly [string, string] {
  const [name, value]: readonly Json[] = Array.isArray(raw) ? raw : [];
  return [parseText(name), parseText(value)];
}

function parseText(raw: Json | undefined): string {
  return typeof raw === "string" ? raw : "";
}

/** UTF-8 bodies stay text, which avoids base64 for the usual response. */
function toJson({ body, headers, ...rest }: FetchAnswer): Json {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const content = isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
  return { ...rest, headers: headers.map(([name, value]) => [name, value]), ...content };
}
