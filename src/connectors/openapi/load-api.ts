/** Loads a document and everything that listing and calling need. */

import { setImmediate as nextTurn } from "node:timers/promises";

import type { Egress, FetchLike } from "../../egress/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { ApiSettings, ChildKeeper, ConnectorId } from "../../domain/index.ts";

import type { RemoteTool } from "../connector.ts";
import { listPolicies } from "../network-policies.ts";
import { DEFAULT_MESSAGE_BYTES } from "../settings.ts";
import type { ResolvedFields } from "../settings.ts";
import { compileApi, findUnfit, matchesOperation } from "./compile-api.ts";
import type { CompileRequest, CompiledApi, CompiledTool } from "./compile-api.ts";
import { compileElsewhere } from "./compile-elsewhere.ts";
import { createCredentials } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import type { Operation } from "./operation.ts";

/** Larger than any known public document, small enough for memory. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** How many patterns without a match a hint shows. */
const MAX_PATTERNS = 10;
const MAX_PATTERN_CHARACTERS = 500;

/** How to reach one API. Secrets come in late, through functions, so that settings can be shown and logged. */
export interface OpenapiSettings extends Omit<ApiSettings, "headers" | "auth"> {
  readonly resolveHeaders: () => Promise<ResolvedFields>;
  /** Names of headers that hold a secret, which answers and errors must not show. */
  readonly secretHeaders: readonly string[];
  readonly resolveAuth: () => Promise<ResolvedFields>;
  /** Limit for one response; a larger one fails its call. */
  readonly messageBytes?: number;
}

export interface LoadOptions {
  readonly id: ConnectorId;
  readonly settings: OpenapiSettings;
  readonly egress: Egress;
  /** Keeps the process that compiles a large document. */
  readonly keeper: ChildKeeper;
  /** Returns the text of a local document of at most this many bytes. */
  readonly readFile: (path: string, maxBytes: number) => Promise<string>;
}

/** One document, loaded. */
export interface Api {
  readonly base: URL;
  /** Returns the `fetch` for one operation. */
  readonly fetchFor: (operation: Operation) => FetchLike;
  readonly tools: readonly RemoteTool[];
  readonly operations: ReadonlyMap<string, Operation>;
  readonly credentials: Credentials;
  /** Advice for the operator although everything works. */
  readonly hint: string | undefined;
}

/**
 * Longer texts are compiled in a child process. Even a hostile one of this length takes less than 0.1 s: YAML is slow
 * to parse, and references let a short JSON text expand many times.
 */
export const MAX_OWN_JSON = 16 * 1024;
export const MAX_OWN_YAML = 8 * 1024;

/** The document is fetched without credentials. */
export async function loadApi(options: LoadOptions, signal: AbortSignal): Promise<Api> {
  const { id, settings, egress } = options;
  const { baseUrl, include, exclude, document, secretHeaders, network } = settings;
  const [headers, auth] = await Promise.all([settings.resolveHeaders(), settings.resolveAuth()]);
  const documentUrl = document.kind === "url" ? document.url : undefined;
  // Names only: the values stay in this process.
  const names = { headers: Object.keys(headers), auth: Object.keys(auth) };
  const request = { id, baseUrl, documentUrl, include, exclude, ...names };
  const text = await readDocument(options, signal);
  const isShort = text.length <= (/^\s*\{/.test(text) ? MAX_OWN_JSON : MAX_OWN_YAML);
  const { head, tools } = isShort
    ? await compileHere(text, request, signal)
    : await compileElsewhere({ text, request }, { keeper: options.keeper, signal });
  const { schemes } = head;
  const base = new URL(head.base);
  const operations = tools.map(({ operation }) => operation);
  const patterns = network.tools.map(({ pattern }) => pattern);
  const limits = {
    maxBytes: settings.messageBytes ?? DEFAULT_MESSAGE_BYTES,
    // A file may have been written by others; the configuration was written by the operator.
    mayBePrivate: baseUrl !== undefined || documentUrl !== undefined,
  };
  return {
    base,
    fetchFor: (operation) => {
      const policies = listPolicies(network, (pattern) => matchesOperation(pattern, operation));
      return egress.fetchFrom(base.origin, { ...limits, policies });
    },
    tools: tools.map(({ tool }) => tool),
    operations: new Map(operations.map((operation) => [operation.name, operation])),
    credentials: createCredentials({ id, headers, auth, schemes, secretHeaders }),
    hint: toHint([...head.unfit, ...findUnfit(operations, patterns)], { head, tools }, names),
  };
}

/** Yields to other work after each tool. */
async function compileHere(text: string, request: CompileRequest, signal: AbortSignal): Promise<CompiledApi> {
  const { head, tools: created } = compileApi(text, request);
  const tools: CompiledTool[] = [];
  for (const tool of created) tools.push(await nextTurn(tool, { signal }));
  return { head, tools };
}

async function readDocument({ settings, egress, readFile }: LoadOptions, signal: AbortSignal): Promise<string> {
  const { document, network } = settings;
  if (document.kind === "file") return readFile(document.path, MAX_DOCUMENT_BYTES);
  const url = new URL(document.url);
  const policies = listPolicies(network);
  const fetch = egress.fetchFrom(url.origin, { maxBytes: MAX_DOCUMENT_BYTES, mayBePrivate: true, policies });
  const response = await fetch(url, { signal, headers: { accept: "application/json, application/yaml, */*;q=0.5" } });
  if (response.ok) return response.text();
  await response.body?.cancel();
  const message = `The OpenAPI document cannot be read: its address answered with status ${response.status}`;
  throw new GloveboxError("UPSTREAM_UNREACHABLE", message, {
    hint: "Check document; it is fetched without credentials, so save a protected one as a file",
  });
}

function toHint(
  unfit: readonly string[],
  { head, tools }: CompiledApi,
  { headers, auth }: Pick<CompileRequest, "headers" | "auth">,
): string | undefined {
  const incomplete = tools.filter(({ isIncomplete }) => isIncomplete).length;
  const hasToken = auth.length > 0 || headers.some((name) => name.toLowerCase() === "authorization");
  const tokens = [...head.schemes].filter(([, { kind }]) => kind === "token").map(([name]) => name.slice(0, 100));
  const sentences = [
    unfit.length > 0 &&
      `No operation matches ${listSome(unfit)}: correct or remove these patterns in include, exclude and tools`,
    incomplete > 0 &&
      `${incomplete} operations refer to other documents, which are not read; bundle them into one document`,
    tokens.length > 0 &&
      !hasToken &&
      `This API takes OAuth tokens (${tokens.join(", ")}): fetch one and set it as the header Authorization`,
  ];
  return sentences.filter(Boolean).join(". ") || undefined;
}

function listSome(patterns: readonly string[]): string {
  const more = patterns.length > MAX_PATTERNS ? ` and ${patterns.length - MAX_PATTERNS} more` : "";
  return patterns.slice(0, MAX_PATTERNS).join(", ").slice(0, MAX_PATTERN_CHARACTERS) + more;
}
