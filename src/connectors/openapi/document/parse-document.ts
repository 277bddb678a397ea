/** Reads the parts of a document that all operations share, and collects its operations in the order of their paths. */

import { isJsonObject } from "../../../domain/index.ts";
import type { Json, JsonObject } from "../../../domain/index.ts";

import type { Operation, SecurityScheme } from "../operation.ts";
import { parseOperation } from "./parse-operation.ts";
import { invalidDocument } from "./parse-text.ts";
import { createReferences, toList, toObject } from "./references.ts";
import type { References } from "./references.ts";

/** Without TRACE: clients must not send it. */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"] as const;
/** The catalog accepts as many tools from one upstream. */
export const MAX_OPERATIONS = 2000;

export interface ApiDocument {
  readonly references: References;
  readonly operations: readonly Operation[];
  /** The URL of the API as the document writes it; may be relative to the document. */
  readonly server: string | undefined;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}

/** Throws `UPSTREAM_RESULT_INVALID` for anything but an OpenAPI document. A malformed operation is skipped. */
export function parseApiDocument(root: JsonObject): ApiDocument {
  const { swagger, openapi, components, servers, securityDefinitions } = root;
  const isSwagger = /^2(?:\.|$)/.test(toVersion(swagger));
  if (!isSwagger && !/^3(?:\.|$)/.test(toVersion(openapi))) {
    throw invalidDocument("it has neither swagger: 2.0 nor openapi: 3.x");
  }
  const references = createReferences(root);
  const schemes = toObject(isSwagger ? securityDefinitions : toObject(components)["securitySchemes"]);
  return {
    references,
    operations: collectOperations(root, isSwagger, references),
    server: isSwagger ? parseSwaggerServer(root) : parseServer(servers),
    schemes: new Map(
      Object.entries(schemes).map(([name, scheme]) => [name, parseScheme(references.resolve(scheme) ?? {})]),
    ),
  };
}

/** YAML parses a version without quotes as a number. */
function toVersion(raw: Json | undefined): string {
  return typeof raw === "string" || typeof raw === "number" ? String(raw) : "";
}

function collectOperations(root: JsonObject, isSwagger: boolean, references: References): readonly Operation[] {
  const { paths } = root;
  if (!isJsonObject(paths)) throw invalidDocument("it has no paths");
  const names = new Set<string>();
  const operations: Operation[] = [];
  for (const [path, rawItem] of Object.entries(paths)) {
    const item = references.resolve(rawItem);
    if (!item || !path.startsWith("/")) continue;
    for (const method of METHODS) {
      const operation = references.resolve(item[method]);
      if (!operation || operations.length >= MAX_OPERATIONS) continue;
      const name = chooseName(operation["operationId"], `${method} ${path}`, names);
      if (name === undefined) continue;
      names.add(name);
      operations.push(parseOperation(operation, { root, isSwagger, references, method, path, name, item }));
    }
  }
  return operations;
}

/** The second of two operations with one id is named by its method and path, like one without an id. */
function chooseName(id: Json | undefined, place: string, taken: ReadonlySet<string>): string | undefined {
  const names = [...(typeof id === "string" && id.trim() !== "" ? [id.trim()] : []), toPlaceName(place)];
  return names.find((name) => !taken.has(name));
}

/** `get /pets/{petId}/toys` is `get_pets_by_petId_toys`. */
function toPlaceName(place: string): string {
  const words = place.replace(/\{([^}]*)\}/g, "/by/$1").split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== "").join("_");
}

/** The first server, with the default of each variable; `undefined` if the document names none. */
function parseServer(servers: Json | undefined): string | undefined {
  const { url, variables } = toObject(toList(servers)[0]);
  if (typeof url !== "string") return undefined;
  const known = new Map(Object.entries(toObject(variables)));
  return url.replace(/\{([^}]*)\}/g, (whole, name: string) => {
    const value = toObject(known.get(name))["default"];
    return typeof value === "string" || typeof value === "number" ? String(value) : whole;
  });
}

/** Without a host, the API is on the host that the document came from. */
function parseSwaggerServer({ host, basePath, schemes }: JsonObject): string {
  const path = typeof basePath === "string" ? basePath : "/";
  if (typeof host !== "string" || host === "") return path;
  const offered = toList(schemes);
  const scheme = offered.includes("https") || !offered.includes("http") ? "https:" : "http:";
  return `${offered.length === 0 ? "" : scheme}//${host}${path.startsWith("/") ? path : `/${path}`}`;
}

function parseScheme({ type, name, scheme, in: place }: JsonObject): SecurityScheme {
  const isPlace = place === "header" || place === "query" || place === "cookie";
  if (type === "apiKey" && typeof name === "string" && isPlace) return { kind: "apiKey", place, name };
  const word = typeof scheme === "string" ? scheme.toLowerCase() : "";
  if (type === "basic" || (type === "http" && word === "basic")) return { kind: "basic" };
  if (type === "http" && word === "bearer") return { kind: "bearer" };
  return { kind: type === "oauth2" || type === "openIdConnect" ? "token" : "unsupported" };
}
