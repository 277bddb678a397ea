/** Reads a document and makes of it everything that listing and calling need. */

import { setImmediate as nextTurn } from "node:timers/promises";

import type { Egress, FetchLike } from "../../egress/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { ConnectorId } from "../../domain/index.ts";

import type { RemoteTool } from "../connector.ts";
import { DEFAULT_MESSAGE_BYTES } from "../settings.ts";
import { createTool, toSchemaBudget } from "./create-tool.ts";
import type { CreatedTool, ToolContext } from "./create-tool.ts";
import { createCredentials } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";
import { findBase } from "./find-base.ts";
import type { ApiDocument, Operation } from "./operation.ts";
import { parseApiDocument } from "./parse-document.ts";
import { parseText } from "./parse-text.ts";
import { createReferences } from "./references.ts";
import { selectOperations } from "./select-operations.ts";

/** Larger than any public document that is known, small enough for memory. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

const TOOLS_PER_TURN = 20;

type Texts = Readonly<Record<string, string>>;

/** How to reach one API. Secrets come in late, through functions, so that settings can be shown and logged. */
export interface OpenapiSettings {
  readonly document: { readonly kind: "file"; readonly path: string } | { readonly kind: "url"; readonly url: string };
  readonly baseUrl: string | undefined;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly resolveHeaders: () => Promise<Texts>;
  /** Names of headers that hold a secret, which answers and errors must not show. */
  readonly secretHeaders: readonly string[];
  /** Credentials by the names of the document's security schemes. */
  readonly resolveAuth: () => Promise<Texts>;
  /** How long reading the document may take. */
  readonly startMs: number;
  /** One response of the API; a larger one fails its call. */
  readonly messageBytes?: number;
}

export interface LoadOptions {
  readonly id: ConnectorId;
  readonly settings: OpenapiSettings;
  readonly egress: Egress;
  /** The text of a local document of at most so many bytes. */
  readonly readFile: (path: string, maxBytes: number) => Promise<string>;
}

/** One document, loaded. */
export interface Api {
  readonly base: URL;
  readonly fetch: FetchLike;
  readonly tools: readonly RemoteTool[];
  readonly operations: ReadonlyMap<string, Operation>;
  readonly credentials: Credentials;
  /** What the operator should know although all is well. */
  readonly hint: string | undefined;
}

/** The document is fetched without credentials. */
export async function loadApi({ id, settings, egress, readFile }: LoadOptions, signal: AbortSignal): Promise<Api> {
  const [headers, auth] = await Promise.all([settings.resolveHeaders(), settings.resolveAuth()]);
  const text = await readDocument(settings.document, { egress, readFile, signal });
  const document = parseApiDocument(parseText(text));
  const { schemes, server, root } = document;
  const credentials = createCredentials({ id, headers, auth, schemes, secretHeaders: settings.secretHeaders });
  const documentUrl = settings.document.kind === "url" ? settings.document.url : undefined;
  const base = findBase({ id, configured: settings.baseUrl, server, documentUrl });
  const chosen = selectOperations(document.operations, settings.include, settings.exclude).map((operation) =>
    withoutReserved(operation, credentials),
  );
  const context = { base, schemes, references: createReferences(root), maxBytes: toSchemaBudget(chosen.length) };
  const created = await createTools(chosen, context, signal);
  return {
    base,
    fetch: egress.fetchFrom(base.origin, {
      maxBytes: settings.messageBytes ?? DEFAULT_MESSAGE_BYTES,
      // What stands in a file may be somebody else's word; what stands in the configuration is the operator's.
      mayBePrivate: settings.baseUrl !== undefined || documentUrl !== undefined,
    }),
    tools: created.map(({ tool }) => tool),
    operations: new Map(chosen.map((operation) => [operation.name, operation])),
    credentials,
    hint: toHint(created.filter(({ isIncomplete }) => isIncomplete).length, document, { headers, auth }),
  };
}

/** Lets others have their turn in between: a large document takes a second or two. */
async function createTools(
  operations: readonly Operation[],
  context: ToolContext,
  signal: AbortSignal,
): Promise<readonly CreatedTool[]> {
  const created: CreatedTool[] = [];
  for (const [index, operation] of operations.entries()) {
    if (index % TOOLS_PER_TURN === 0) await nextTurn();
    signal.throwIfAborted();
    created.push(createTool(operation, context));
  }
  return created;
}

interface Ways {
  readonly egress: Egress;
  readonly readFile: LoadOptions["readFile"];
  readonly signal: AbortSignal;
}

async function readDocument(
  document: OpenapiSettings["document"],
  { egress, readFile, signal }: Ways,
): Promise<string> {
  if (document.kind === "file") return readFile(document.path, MAX_DOCUMENT_BYTES);
  const url = new URL(document.url);
  const fetch = egress.fetchFrom(url.origin, { maxBytes: MAX_DOCUMENT_BYTES, mayBePrivate: true });
  const response = await fetch(url, { signal, headers: { accept: "application/json, application/yaml, */*;q=0.5" } });
  if (response.ok) return response.text();
  await response.body?.cancel();
  const message = `The OpenAPI document cannot be read: its address answered with status ${response.status}`;
  throw new GloveboxError("UPSTREAM_UNREACHABLE", message, {
    hint: "Check document; it is fetched without credentials, so save a protected one as a file",
  });
}

/** What the host fills by itself is not offered to programs. */
function withoutReserved(operation: Operation, credentials: Credentials): Operation {
  const parameters = operation.parameters.filter(({ place, name }) => !credentials.isReserved(place, name));
  return parameters.length === operation.parameters.length ? operation : { ...operation, parameters };
}

function toHint(
  incomplete: number,
  { schemes }: ApiDocument,
  given: { headers: Texts; auth: Texts },
): string | undefined {
  const hasHeader = Object.keys(given.headers).some((name) => name.toLowerCase() === "authorization");
  const tokens = [...schemes].filter(([, { kind }]) => kind === "token");
  const names = tokens.map(([name]) => name.slice(0, 100)).join(", ");
  const sentences = [
    ...(incomplete > 0
      ? [`${incomplete} operations refer to other documents, which are not read; bundle them into one document`]
      : []),
    ...(tokens.length > 0 && !hasHeader && Object.keys(given.auth).length === 0
      ? [`This API takes tokens of OAuth (${names}): fetch one and set it as the header Authorization`]
      : []),
  ];
  return sentences.length === 0 ? undefined : sentences.join(". ");
}
