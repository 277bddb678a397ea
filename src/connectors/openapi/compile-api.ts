/**
 * From the text of a document to its tools and the data that calls need. Pure, and slow for a large or hostile text:
 * `load-api.ts` decides in which process it runs, so everything that it returns can be sent to another process.
 */

import type { ConnectorId } from "../../domain/index.ts";

import { createTool, toSchemaBudget } from "./document/create-tool.ts";
import type { CreatedTool } from "./document/create-tool.ts";
import { createReserved } from "./credentials.ts";
import { findBase } from "./document/find-base.ts";
import type { Operation, SecurityScheme } from "./operation.ts";
import { parseApiDocument } from "./document/parse-document.ts";
import { parseText } from "./document/parse-text.ts";
import { createReferences } from "./document/references.ts";
import { findUnfit, selectOperations } from "./document/select-operations.ts";

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

/** Throws as `parseText`, `parseApiDocument` and `findBase` do. Tools are created lazily, one by one. */
export function compileApi(
  text: string,
  request: CompileRequest,
): { readonly head: CompiledHead; readonly tools: Iterable<CompiledTool> } {
  const { id, baseUrl, documentUrl, include, exclude } = request;
  const { schemes, server, root, operations } = parseApiDocument(parseText(text));
  const base = findBase({ id, configured: baseUrl, server, documentUrl });
  const isReserved = createReserved(request.headers, request.auth, schemes);
  const chosen = selectOperations(operations, include, exclude).map(({ parameters, ...operation }) => ({
    ...operation,
    // What the host fills in is not offered to programs.
    parameters: parameters.filter(({ place, name }) => !isReserved(place, name)),
  }));
  const context = { base, schemes, references: createReferences(root), maxBytes: toSchemaBudget(chosen.length) };
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
