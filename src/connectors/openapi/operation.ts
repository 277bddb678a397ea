/** One operation of a document of any OpenAPI version. Schemas are still those of the document. */

import type { Json } from "../../domain/index.ts";

export type ParameterPlace = "path" | "query" | "header" | "cookie";

/** How an array or object becomes text. The names are those of OpenAPI 3; `tabDelimited` is Swagger's. */
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
  /** Reserved URL characters are not encoded, unless they could end the value. */
  readonly allowReserved: boolean;
}

export interface Parameter extends Serialization {
  /** The name in programs; differs from `name` if two places share one. */
  readonly argument: string;
  readonly name: string;
  readonly place: ParameterPlace;
  readonly isRequired: boolean;
  /** By its style, as JSON text, or as plain text. */
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
  /** For single properties of a form; the others follow the default of their kind. */
  readonly encodings: ReadonlyMap<string, Serialization>;
  /** Properties with bytes, written as base64. */
  readonly binaries: ReadonlySet<string>;
}

export interface Operation {
  readonly name: string;
  /** In upper case. */
  readonly method: string;
  /** The template, such as `/pets/{petId}`. */
  readonly path: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body | null;
  /** The successful answers; `null` if one of them is not JSON, or none is described. */
  readonly responses: readonly Json[] | null;
  /** Alternatives, each with the names of schemes that are sent together; `undefined` if the document does not say. */
  readonly security: readonly (readonly string[])[] | undefined;
}

/** How a credential is sent. */
export type SecurityScheme =
  | { readonly kind: "apiKey"; readonly place: ParameterPlace; readonly name: string }
  /** A `token` must be fetched elsewhere; it is sent as a bearer token. */
  | { readonly kind: "basic" | "bearer" | "token" | "unsupported" };
