/** Finds whether a type or a name comes from the API's declarations, and from which tool. */

import type { Node } from "typescript/unstable/ast";
import {
  isClassDeclaration,
  isMethodSignatureDeclaration,
  isObjectLiteralExpression,
  isSpreadAssignment,
  isTypeAliasDeclaration,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import { TypeFlags } from "typescript/unstable/sync";
import type { NodeHandle, Symbol as Named, Type } from "typescript/unstable/sync";

import type { CompiledProgram } from "./compiler.ts";
import { textOf } from "./tree.ts";

/** `namespace` is the global object, `tool` a method of it, `value` an argument or result of a tool. */
export interface Origin {
  readonly kind: "namespace" | "tool" | "value";
  /** `inventory`, `inventory.getProduct`, or empty if a declaration does not belong to a single tool. */
  readonly address: string;
  /** The declaration of the value's named type, instead of an address: tools share named types. */
  readonly type?: string;
}

export interface Origins {
  /** Whether the type is `any`, `unknown`, `never` or missing. */
  readonly isVague: (type: Type | undefined) => boolean;
  readonly typeOf: (node: Node) => Type | undefined;
  readonly isPromise: (type: Type | undefined) => boolean;
  /** Returns `undefined` for types of the language or of the program, also as members of a union. */
  readonly ofType: (type: Type | undefined) => Origin | undefined;
  /** Whether a member of a union type has this property; then the program may be right. */
  readonly mayHave: (type: Type | undefined, property: string) => boolean;
  /** Of a name or of a property access. */
  readonly ofName: (node: Node) => Origin | undefined;
  /** The program's own declaration of a name. */
  readonly declarationOf: (node: Node) => Node | undefined;
  /** `string`, `number` or `boolean`; `undefined` for every other type and for a union with one. */
  readonly primitiveOf: (type: Type | undefined) => string | undefined;
  /** Whether neither the program nor the API declares the type. */
  readonly isOfLanguage: (type: Type | undefined) => boolean;
  /** Whether the program made the object from others with spread. */
  readonly isSpread: (type: Type | undefined) => boolean;
  /** Whether any name may be read from the type: it has an index signature or is like an array. */
  readonly isOpen: (type: Type) => boolean;
  readonly hasProperty: (type: Type, name: string) => boolean;
  /** The strings that the declaration of a name or property allows; none unless it allows only such. */
  readonly choicesOf: (node: Node) => readonly string[];
  /** The only field of an object that is an array or a string and has this property of the language. */
  readonly onlyHolder: (type: Type | undefined, name: string) => string | undefined;
}

/** Of larger objects, no field is the obvious one. */
const MAX_FIELDS = 12;
const VAGUE = TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never;
const PRIMITIVES = [
  [TypeFlags.StringLike, "string"],
  [TypeFlags.NumberLike, "number"],
  [TypeFlags.BooleanLike, "boolean"],
] as const;

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
  const primitiveOf = (type: Type | undefined): string | undefined => {
    if (!type?.isUnionType()) return PRIMITIVES.find(([flags]) => ((type?.flags ?? 0) & flags) !== 0)?.[1];
    const [first, ...others] = type.getTypes().map((part) => primitiveOf(part));
    return others.every((other) => other === first) ? first : undefined;
  };
  return {
    primitiveOf,
    isOfLanguage: (type) => {
      const declared = type?.getSymbol()?.declarations ?? [];
      return declared.length > 0 && declared.every(({ path }) => path !== programFile && path !== apiFile);
    },
    isSpread: (type) => {
      const own = type?.getSymbol()?.declarations.find(({ path }) => path === programFile);
      const made = own?.resolve(project);
      return made !== undefined && isObjectLiteralExpression(made) && made.properties.some(isSpreadAssignment);
    },
    isOpen: (type) => checker.isArrayLikeType(type) || checker.getIndexInfosOfType(type).length > 0,
    hasProperty: (type, name) => checker.getPropertyOfType(type, name) !== undefined,
    onlyHolder: (type, name) => type && findHolder(type, name, { checker, primitiveOf }),
    choicesOf: (node) => {
      const symbol = checker.getSymbolAtLocation(node);
      return toChoices(symbol && checker.getTypeOfSymbol(symbol));
    },
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

function toChoices(declared: Type | undefined): readonly string[] {
  const parts = declared?.isUnionType() ? declared.getTypes() : declared ? [declared] : [];
  const texts = parts.flatMap((part) => (part.isStringLiteralType() ? [part.value] : []));
  return texts.length === parts.length ? texts : [];
}

function findHolder(
  type: Type,
  name: string,
  { checker, primitiveOf }: Pick<CompiledProgram["project"], "checker"> & Pick<Origins, "primitiveOf">,
): string | undefined {
  if (type.isUnionType() || checker.isArrayLikeType(type)) return undefined;
  const fields = checker.getPropertiesOfType(type).slice(0, MAX_FIELDS);
  const holders = fields.filter((field) => {
    const own = checker.getTypeOfSymbol(field);
    if (!own || own.isUnionType()) return false;
    const isHolder = checker.isArrayType(own) || primitiveOf(own) === "string";
    return isHolder && checker.getPropertyOfType(checker.getApparentType(own) ?? own, name) !== undefined;
  });
  return holders.length === 1 ? holders[0]?.name : undefined;
}

/** A union of different tools has no origin; a union of values of several tools has no address. */
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

/** Climbs from a declaration to its method and global. */
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
  // The variable itself, or its type literal.
  return depth <= 1 ? { kind: "namespace", address: namespace } : { kind: "value", address: "" };
}
