/** What an operation of a document is, whichever version of OpenAPI described it. Schemas are still the document's. */

import type { Json, JsonObject } from "../../domain/index.ts";

export type ParameterPlace = "path" | "query" | "header" | "cookie";

/** How a list or an object becomes text; the words are those of OpenAPI 3, `tabDelimited` is Swagger's. */
export type Style =
  | "simple"
  | "label"
  | "matrix"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "tabDelimited"
  | "deepObject";

export interface Serialization {
  readonly style: Style;
  readonly explode: boolean;
  /** Characters that mean something in a URL stay as they are, as far as they cannot end the value. */
  readonly allowReserved: boolean;
}

export interface Parameter extends Serialization {
  /** What a program calls it; differs from `name` where two places share one. */
  readonly argument: string;
  readonly name: string;
  readonly place: ParameterPlace;
  readonly isRequired: boolean;
  /** By its style, or whole: as the text of its JSON, or as text. */
  readonly format: "style" | "json" | "text";
  readonly description: string;
  readonly schema: Json;
}

/** The argument that holds the request's body. */
export const BODY_ARGUMENT = "body";

export type BodyKind = "json" | "form" | "multipart" | "text" | "binary";

export interface Body {
  readonly kind: BodyKind;
  readonly mediaType: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly schema: Json;
  /** Of single properties of a form; the others are sent by the rule of their own kind. */
  readonly encodings: ReadonlyMap<string, Serialization>;
  /** Properties that are bytes, written as base64 text. */
  readonly binaries: ReadonlySet<string>;
}

/** Names of security schemes that are sent together. */
export type SecurityRequirement = readonly string[];

export interface Operation {
  readonly name: string;
  /** In capitals. */
  readonly method: string;
  /** The template, such as `/pets/{petId}`. */
  readonly path: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body | null;
  /** What a good answer may be; `null` where one of them is no JSON, or none is described. */
  readonly responses: readonly Json[] | null;
  /** Alternatives; `undefined` when the document says nothing. */
  readonly security: readonly SecurityRequirement[] | undefined;
}

/** How a credential travels. */
export type SecurityScheme =
  | { readonly kind: "apiKey"; readonly place: ParameterPlace; readonly name: string }
  | { readonly kind: "basic" | "bearer" }
  /** A token that somebody else has to fetch; it is sent as a bearer token. */
  | { readonly kind: "token" }
  | { readonly kind: "unsupported" };

export interface ApiDocument {
  readonly root: JsonObject;
  readonly operations: readonly Operation[];
  /** Where the API is, as the document says it; may be relative to the document. */
  readonly server: string | undefined;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
}
