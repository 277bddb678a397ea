/**
 * From the text of a document to its tools and the data that calls need. Pure, and slow for a large or hostile text:
 * `load-api.ts` decides in which process it runs, so everything that it returns can be sent to another process.
 */

import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

import { matchesName } from "../network-policies.ts";
import { createReserved } from "./credentials.ts";
import { createTool, toSchemaBudget } from "./document/create-tool.ts";
import type { CreatedTool } from "./document/create-tool.ts";
import { parseApiDocument } from "./document/parse-document.ts";
import { parseText } from "./document/parse-text.ts";
import type { Operation, SecurityScheme } from "./operation.ts";

/** The settings of an API, without any secret. */
export interface CompileRequest {
  readonly id: ConnectorId;
  readonly baseUrl: string | undefined;
  /** `undefined` for a local file. */
  readonly documentUrl: string | undefined;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** The names of what the host fills in. */
  readonly headers: readonly string[];
  readonly auth: readonly string[];
}

/** What all operations share. */
export interface CompiledHead {
  /** The URL of the API. */
  readonly base: string;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
  /** Configured patterns that match no operation. */
  readonly unfit: readonly string[];
}

/** One operation, ready to be listed and called. */
export interface CompiledTool extends CreatedTool {
  /** Without schemas and descriptions, which the tool has. */
  readonly operation: Operation;
}

export interface CompiledApi<Tools = readonly CompiledTool[]> {
  readonly head: CompiledHead;
  readonly tools: Tools;
}

/** Throws as `parseText`, `parseApiDocument` and `findBase` do. Tools are created lazily, one by one. */
export function compileApi(text: string, request: CompileRequest): CompiledApi<Iterable<CompiledTool>> {
  const { include, exclude } = request;
  const { schemes, server, references, operations } = parseApiDocument(parseText(text));
  const base = findBase(server, request);
  const isReserved = createReserved(request.headers, request.auth, schemes);
  const isIn = (patterns: readonly string[], operation: Operation): boolean =>
    patterns.some((pattern) => matchesOperation(pattern, operation));
  const chosen = operations
    .filter((operation) => (include.length === 0 || isIn(include, operation)) && !isIn(exclude, operation))
    .map(({ parameters, ...operation }) => ({
      ...operation,
      // What the host fills in is not offered to programs.
      parameters: parameters.filter(({ place, name }) => !isReserved(place, name)),
    }));
  const context = { base, schemes, references, maxBytes: toSchemaBudget(chosen.length) };
  const tools = chosen
    .values()
    .map((operation) => ({ ...createTool(operation, context), operation: toCallable(operation) }));
  const unfit = findUnfit(operations, [...include, ...exclude]);
  return { head: { base: base.href, schemes, unfit }, tools };
}

function toCallable(operation: Operation): Operation {
  return {
    ...operation,
    description: "",
    responses: null,
    parameters: operation.parameters.map((parameter) => ({ ...parameter, description: "", schema: {} })),
    body: operation.body && { ...operation.body, description: "", schema: {} },
  };
}

/**
 * The URL of the API. A document from the network may name its own origin only. Otherwise an attacker who can change it
 * could redirect the gateway and its credentials to any host, also in the private network.
 */
function findBase(server: string | undefined, { id, baseUrl, documentUrl }: CompileRequest): URL {
  const base = baseUrl === undefined ? URL.parse(server ?? "/", documentUrl) : URL.parse(baseUrl);
  if (!base || !/^https?:$/.test(base.protocol) || base.username !== "" || base.password !== "") {
    const why = baseUrl === undefined ? "the document does not name a server" : "baseUrl is not an http URL";
    throw invalidBase(id, why);
  }
  if (baseUrl === undefined && documentUrl !== undefined && base.origin !== URL.parse(documentUrl)?.origin) {
    throw invalidBase(id, `the document names the server ${base.origin}, which is not the origin of the document`);
  }
  return base;
}

function invalidBase(id: ConnectorId, why: string): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `${id}: ${why}`, {
    hint: "Set baseUrl in the entry of this API, as in https://api.example.com/v1",
  });
}

/** Patterns that match no operation: probably misspelled, so what they should exclude is offered. */
export function findUnfit(operations: readonly Operation[], patterns: readonly string[]): readonly string[] {
  return patterns.filter((pattern) => !operations.some((operation) => matchesOperation(pattern, operation)));
}

/**
 * A pattern with a space is matched against method and path, as in `GET /pets/*`; any other against the name, as in the
 * document or as in programs: `issues/list-for-repo` is `issuesListForRepo` there. `*` matches any characters; case is
 * ignored.
 */
export function matchesOperation(pattern: string, { name, method, path }: Operation): boolean {
  if (pattern.includes(" ")) return matchesName(pattern, `${method} ${path}`);
  return [name, name.normalize("NFKC").replace(/[^A-Za-z0-9]+/g, "")].some((one) => matchesName(pattern, one));
}
