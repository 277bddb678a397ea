/** What a call of an operation sends and where to, in a form to be pinned. A schema shows none of it. */

import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Body, Operation, Parameter, SecurityScheme } from "../operation.ts";

/** The parts of a document that determine the requests of all its operations. */
export interface RequestOrigin {
  /** The URL of the API. */
  readonly base: URL;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

/**
 * Otherwise a document could send the arguments of an accepted tool to another address, or its credential to another
 * place, unnoticed. Configured credentials are not included: setting one does not change a tool.
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
    // The first available alternative is sent, so their order matters; within one it does not.
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
