/** `fetch` of a program as a call of the bridge: counted, decided by rules and recorded like the call of any tool. */

import { isUtf8 } from "node:buffer";

import { digestOf } from "../text/index.ts";
import type { Builtin } from "../bridge/index.ts";
import { GloveboxError, parseConnectorId, parseToolAddress } from "../domain/index.ts";
import type { Decision, Json, JsonObject, JsonSchema, Tool } from "../domain/index.ts";

/** One request as the network gets it. Nothing of it is checked yet but its shape. */
export interface FetchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** To be called when the other side may have received it. */
  readonly onSent: () => void;
  /** To be called before each step, with the one spelling of its address that counts; throws where it may not go on. */
  readonly onStep: (step: FetchStep) => void;
}

/** One request on a way of redirects. */
export interface FetchStep {
  readonly url: string;
  readonly method: string;
  /** 0 for the request itself. */
  readonly redirects: number;
}

/** A whole response. */
export interface FetchAnswer {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly redirected: boolean;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

/** Sends it if the network policy allows it; rejects otherwise. */
export type SendRequest = (request: FetchRequest) => Promise<FetchAnswer>;

/** Throws what it would be refused with. Sends nothing. */
export type CheckRequest = (request: Omit<FetchRequest, "signal" | "onSent" | "onStep">) => void;

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

const ADDRESS = parseToolAddress("glovebox.fetch");
const CONNECTOR = parseConnectorId("glovebox");
if (!ADDRESS || !CONNECTOR) throw new TypeError("fetch has no proper name");

/** For most requests; those that only ask are a `read`. */
const WRITE: Tool = {
  address: ADDRESS,
  origin: { kind: "upstream", connector: CONNECTOR, remoteName: "fetch" },
  summary: "",
  description: "",
  input: INPUT,
  output: null,
  effect: "write",
  labels: ["untrusted", "external"],
  digest: digestOf(JSON.stringify(["fetch", INPUT])),
};
const READ: Tool = { ...WRITE, effect: "read" };

/** What a request is to rules: `glovebox.fetch`, with the effect of its method. */
export function toFetchTool(args: JsonObject): Tool {
  return /^(?:GET|HEAD)$/i.test(methodOf(args)) ? READ : WRITE;
}

export interface FetchPowers {
  readonly send: SendRequest;
  readonly check: CheckRequest;
  /** Puts in what the operator says about its effect and labels. */
  readonly state?: (tool: Tool) => Tool;
}

/** The record names the host and the status. */
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
    noteResult: (value) => noteResult(value),
    answer: async (args, { decide, ...options }) => {
      const onStep = (step: FetchStep): void => refuseStep(step, decide({ ...args, ...toAsked(step) }), decide(args));
      return toJson(await send({ ...parseRequest(args), ...options, onStep }));
    },
  };
}

/** What a request is told that was not sent. */
const EMPTY_ANSWER = { status: 200, statusText: "OK", redirected: false, headers: [], body: new Uint8Array() };

/** What rules with a condition on the address or the method are asked about. */
function toAsked({ url, method }: FetchStep): JsonObject {
  return { url, method };
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * An address has many spellings and may lead on to another one, so rules are asked again about each step. The request
 * itself may be as questionable as the program's own spelling of it, about which a person was asked; nobody was asked
 * about where a redirect leads.
 */
function refuseStep({ url, redirects }: FetchStep, said: Decision, before: Decision): void {
  if (said.kind === "allow") return;
  if (redirects === 0 && STRICTNESS[said.kind] <= STRICTNESS[before.kind]) return;
  const leads = redirects === 0 ? "The request goes" : "A redirect leads";
  const hint = redirects === 0 ? "Write the address in this spelling" : "Send a request to that address itself";
  throw new GloveboxError("POLICY_DENIED", `${leads} to ${new URL(url).origin}: ${said.reason}`, { hint });
}

function methodOf({ method }: JsonObject): string {
  return typeof method === "string" ? method : "GET";
}

/** Never the whole address: its path or query may hold a secret. */
function hostOf(url: Json | undefined): string {
  return (typeof url === "string" ? URL.parse(url)?.host : undefined)?.slice(0, 300) ?? "";
}

function noteResult(value: Json): JsonObject {
  if (typeof value !== "object" || value === null || !("status" in value)) return {};
  return { host: hostOf(value["url"]), status: value["status"] ?? null };
}

/** The schema has been checked; this only picks the fields. */
function parseRequest(args: JsonObject): Omit<FetchRequest, "signal" | "onSent" | "onStep"> {
  const { url, headers = [], text, base64 } = args;
  if (text !== undefined && base64 !== undefined) {
    throw new GloveboxError("TOOL_ARGUMENTS_INVALID", "A request has one body: text or base64");
  }
  const body = base64 === undefined ? toBytes(text, "utf8") : toBytes(base64, "base64");
  return { url: parseText(url), method: methodOf(args), headers: parsePairs(headers), body };
}

function toBytes(text: Json | undefined, encoding: "utf8" | "base64"): Uint8Array | undefined {
  return typeof text === "string" ? Buffer.from(text, encoding) : undefined;
}

function parsePairs(raw: Json): readonly (readonly [string, string])[] {
  return Array.isArray(raw) ? raw.map((pair: Json) => parsePair(pair)) : [];
}

function parsePair(raw: Json): readonly [string, string] {
  const [name, value]: readonly Json[] = Array.isArray(raw) ? raw : [];
  return [parseText(name), parseText(value)];
}

function parseText(raw: Json | undefined): string {
  return typeof raw === "string" ? raw : "";
}

/** Text when the bytes are text, so that nothing is packed twice for the usual answer. */
function toJson({ body, headers, ...rest }: FetchAnswer): Json {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const content = isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };
  return { ...rest, headers: headers.map(([name, value]) => [name, value]), ...content };
}
