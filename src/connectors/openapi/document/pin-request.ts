/** What a call of an operation sends and where to, in a form to be pinned: a schema shows none of it. */

import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Body, Operation, Parameter, SecurityScheme } from "../operation.ts";

/** What of a document decides about the requests of all its operations. */
export interface RequestOrigin {
  /** Where the API is. */
  readonly base: URL;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

/**
 * Without it a document could send the arguments of an accepted tool to another address, or its credential to another
 * place, unnoticed. What the operator configures about credentials is no part of it: setting one changes no tool.
 */
export function toPinnedRequest(
  { parameters, body, security }: Operation,
  { base, schemes }: RequestOrigin,
): JsonObject {
  const entries = parameters.map((parameter): [string, Json] => [parameter.argument, toPlace(parameter)]);
  const all = [...schemes.keys()].toSorted();
  return {
    base: `${base.origin}${base.pathname}`,
    parameters: Object.fromEntries(entries),
    body: body && toBody(body),
    // The first alternative that can be met is sent, so their order counts; within one it does not.
    security: security?.map((names) => toSchemes(names.toSorted(), schemes)) ?? [toSchemes(all, schemes)],
  };
}

function toPlace({ name, place, format, style, explode, allowReserved }: Parameter): JsonObject {
  return { name, place, format, style, explode, allowReserved };
}

function toBody({ kind, mediaType, encodings, binaries }: Body): JsonObject {
  const styles = [...encodings].map(([name, encoding]): [string, Json] => [name, { ...encoding }]);
  return { kind, mediaType, encodings: Object.fromEntries(styles), binaries: [...binaries].toSorted() };
}

function toSchemes(names: readonly string[], schemes: ReadonlyMap<string, SecurityScheme>): JsonObject {
  return Object.fromEntries(names.map((name): [string, Json] => [name, { ...schemes.get(name) }]));
}
