/** Whether a type or a name comes from the API's declarations, and from which tool of it. */

import type { Node } from "typescript/unstable/ast";
import {
  isClassDeclaration,
  isMethodSignatureDeclaration,
  isTypeAliasDeclaration,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import { TypeFlags } from "typescript/unstable/sync";
import type { NodeHandle, Symbol as Named, Type } from "typescript/unstable/sync";

import type { CompiledProgram } from "./compiler.ts";
import { textOf } from "./tree.ts";

/** `namespace` is the global object itself, `tool` a method of it, `value` something that a tool takes or gives. */
export interface Origin {
  readonly kind: "namespace" | "tool" | "value";
  /** `inventory`, `inventory.getProduct`, or empty where a declaration belongs to no single tool. */
  readonly address: string;
  /** The declaration of the named type that a value has; tools share those, so it stands instead of an address. */
  readonly type?: string;
}

export interface Origins {
  /** Whether the compiler knows nothing of a value, or thinks that it cannot be there at all. */
  readonly isVague: (type: Type | undefined) => boolean;
  readonly typeOf: (node: Node) => Type | undefined;
  readonly isPromise: (type: Type | undefined) => boolean;
  /** `undefined` for types that the language or the program made, alone or in a union. */
  readonly ofType: (type: Type | undefined) => Origin | undefined;
  /** Whether one of the types that a value may have has this property: then it is for the program to know which. */
  readonly mayHave: (type: Type | undefined, property: string) => boolean;
  /** Of a name or of a property access. */
  readonly ofName: (node: Node) => Origin | undefined;
  /** Where the program itself declares a name. */
  readonly declarationOf: (node: Node) => Node | undefined;
}

const VAGUE = TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never;

export function createOrigins({ project, apiFile, programFile }: CompiledProgram): Origins {
  const { checker } = project;
  const typeOf = (node: Node): Type | undefined => checker.getTypeAtLocation(node);
  const inApi = (symbol: Named | undefined): NodeHandle | undefined =>
    symbol?.declarations.find(({ path }) => path === apiFile);
  const ofSymbol = (symbol: Named | undefined): Origin | undefined => {
    const declared = inApi(symbol)?.resolve(project);
    return declared && !isClassDeclaration(declared) ? toOrigin(declared) : undefined;
  };
  const ofType = (type: Type | undefined): Origin | undefined => {
    if (!type) return undefined;
    if (!type.isUnionType() && !type.isIntersectionType()) return ofSymbol(type.getSymbol());
    return unite(type.getTypes().map((part) => ofType(part)));
  };
  const isPromise = (type: Type | undefined): boolean => {
    if (!type) return false;
    if (type.isUnionType()) return type.getTypes().every((part) => isPromise(part));
    const symbol = type.getSymbol();
    return symbol?.name === "Promise" && symbol.declarations.every(({ path }) => path !== programFile);
  };
  return {
    typeOf,
    isVague: (type) => !type || (type.flags & VAGUE) !== 0,
    isPromise,
    ofType,
    mayHave: (type, property) =>
      type?.isUnionType() === true && type.getTypes().some((part) => checker.getPropertyOfType(part, property)),
    ofName: (node) => ofSymbol(checker.getSymbolAtLocation(node)),
    declarationOf: (node) => {
      const declared = checker.getSymbolAtLocation(node)?.valueDeclaration;
      return declared?.path === programFile ? declared.resolve(project) : undefined;
    },
  };
}

/** What may be one of several tools is none of them; what several of them give belongs to none of them alone. */
function unite(parts: readonly (Origin | undefined)[]): Origin | undefined {
  const known = parts.filter((part) => part !== undefined);
  const [first] = known;
  if (!first || known.length < parts.length) return undefined;
  const isFirst = ({ kind, address, type }: Origin): boolean =>
    kind === first.kind && address === first.address && type === first.type;
  if (known.every((part) => isFirst(part))) return first;
  if (known.every(({ kind }) => kind === "namespace")) return first;
  return known.every(({ kind }) => kind === "value") ? { kind: "value", address: "" } : undefined;
}

/** Climbs from a declaration to the method and the global that it is part of. */
function toOrigin(declared: Node): Origin {
  let method: string | undefined;
  let depth = 0;
  for (let at: Node | undefined = declared; at; at = at.parent) {
    if (isMethodSignatureDeclaration(at)) method = "text" in at.name ? at.name.text : "";
    if (isVariableDeclaration(at) && "text" in at.name) return finish(at.name.text, method, { declared, depth });
    if (isTypeAliasDeclaration(at)) return { kind: "value", address: "", type: toText(at) };
    depth += 1;
  }
  return { kind: "value", address: "" };
}

/** An answer has room for no more. */
const TYPE_CHARS = 1_500;

function toText(alias: Node): string {
  return textOf(alias, alias.getSourceFile()).replaceAll("\n  ", "\n").slice(0, TYPE_CHARS).toWellFormed();
}

function finish(
  namespace: string,
  method: string | undefined,
  { declared, depth }: { readonly declared: Node; readonly depth: number },
): Origin {
  if (method !== undefined) {
    return { kind: isMethodSignatureDeclaration(declared) ? "tool" : "value", address: `${namespace}.${method}` };
  }
  // The variable itself, or the type literal right below it.
  return depth <= 1 ? { kind: "namespace", address: namespace } : { kind: "value", address: "" };
}
