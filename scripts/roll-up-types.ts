/**
 * Writes the declarations of the package as one file that refers to no other package but Node: what the exports need,
 * and nothing else. Types that a schema library infers are written from their JSON Schema.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { parseSync } from "oxc-parser";
import type { Comment, Directive, Statement } from "oxc-parser";

import { describeConfigTypes } from "./config-types.ts";
import type { WrittenType } from "./config-types.ts";

interface Declared {
  readonly file: string;
  readonly node: Statement;
  /** The comment in front of it. */
  readonly comment: string;
}

interface Scope {
  readonly text: string;
  readonly own: ReadonlyMap<string, Declared>;
  /** Names that come from another file or package. */
  readonly imported: ReadonlyMap<string, Imported>;
}

interface Imported {
  readonly from: string;
  readonly name: string;
}

interface Reference {
  readonly start: number;
  readonly end: number;
  readonly found: Imported;
}

/** `entry` is the file in `folder` whose exports are kept. */
export function rollUpTypes(folder: string, entry: string): string {
  const scopes = new Map<string, Scope>();
  const scopeOf = (file: string): Scope => {
    const known = scopes.get(file) ?? readScope(join(folder, file));
    scopes.set(file, known);
    return known;
  };
  const written = new Map<string, string>();
  const owners = new Map<string, string>();
  const imports = new Set<string>();
  const overrides = describeConfigTypes();

  /** Returns the name under which a declaration is written. */
  const take = (file: string, name: string, shown: string): void => {
    const found = resolve(scopeOf, { from: file, name });
    const owner = `${found.file}#${found.name}`;
    const other = owners.get(shown);
    if (other === owner) return;
    if (other !== undefined) throw new Error(`Two types have the name ${shown}: ${other} and ${owner}`);
    owners.set(shown, owner);
    written.set(shown, "");
    const override = overrides.get(shown);
    const texts: WrittenType = override ?? writeDeclared(found, shown, scopeOf);
    written.set(shown, texts.text);
    for (const one of texts.builtins ?? []) imports.add(one);
    for (const { from, name: needed } of texts.needs) take(from, needed, needed);
  };

  const exported = exportsOf(scopeOf, entry);
  for (const [shown, name] of exported) take(entry, name, shown);
  const declared = [...written].map(([name, text]) =>
    exported.has(name) ? text.replace(/^((?:\/\*\*[^]*?\*\/\n)?)/, "$1export ") : text,
  );
  return [...imports, ...declared, "export {};\n"].join("\n\n");
}

function readScope(path: string): Scope {
  const text = readFileSync(path, "utf8");
  const { program, comments } = parseSync(path, text);
  const [own, imported] = [new Map<string, Declared>(), new Map<string, Imported>()];
  for (const node of program.body) {
    if (node.type === "ImportDeclaration") {
      for (const one of node.specifiers) {
        const name = one.type === "ImportSpecifier" && "name" in one.imported ? one.imported.name : "*";
        imported.set(one.local.name, { from: node.source.value, name });
      }
    } else if (node.type === "ExportNamedDeclaration" && node.source) {
      for (const { exported, local } of node.specifiers) {
        if ("name" in exported && "name" in local) {
          imported.set(exported.name, { from: node.source.value, name: local.name });
        }
      }
    } else addDeclared(own, path, { node, comment: commentBefore(text, comments, node.start) });
  }
  return { text, own, imported };
}

function addDeclared(
  own: Map<string, Declared>,
  file: string,
  { node, comment }: { readonly node: Directive | Statement; readonly comment: string },
): void {
  const inner = node.type === "ExportNamedDeclaration" ? node.declaration : node;
  if (!inner) return;
  const names =
    inner.type === "VariableDeclaration"
      ? inner.declarations.map(({ id }) => id)
      : "id" in inner && inner.id
        ? [inner.id]
        : [];
  for (const id of names) if ("name" in id) own.set(id.name, { file, node: inner, comment });
}

function commentBefore(text: string, comments: readonly Comment[], start: number): string {
  const comment = comments.findLast(({ end }) => end <= start);
  if (!comment || text.slice(comment.end, start).trim() !== "" || comment.type !== "Block") return "";
  return `${text.slice(comment.start, comment.end)}\n`;
}

type ScopeOf = (file: string) => Scope;

/** Follows imports to the file that declares a name. */
function resolve(scopeOf: ScopeOf, { from, name }: Imported): { readonly file: string; readonly name: string } {
  const { own, imported } = scopeOf(from);
  if (own.has(name)) return { file: from, name };
  const next = imported.get(name);
  if (!next) throw new Error(`${from} does not declare ${name}`);
  return resolve(scopeOf, { from: place(from, next.from), name: next.name });
}

function place(from: string, target: string): string {
  if (!target.startsWith(".")) throw new Error(`${from} needs a type of ${target}, which the package does not install`);
  return join(dirname(from), target.replace(/\.[jt]s$/, ".d.ts"));
}

function exportsOf(scopeOf: ScopeOf, entry: string): ReadonlyMap<string, string> {
  const { text } = scopeOf(entry);
  const { module } = parseSync(entry, text);
  const names = module.staticExports.flatMap(({ entries }) => entries.map(({ exportName }) => exportName.name ?? ""));
  return new Map(names.filter((name) => name !== "").map((name) => [name, name]));
}

function writeDeclared(
  { file, name }: { readonly file: string; readonly name: string },
  shown: string,
  scopeOf: ScopeOf,
) {
  const scope = scopeOf(file);
  const declared = scope.own.get(name);
  if (!declared) throw new Error(`${file} does not declare ${name}`);
  const { node, comment } = declared;
  const { references, builtins } = findReferences(node, scope, file);
  let text = "";
  let at = node.start;
  for (const { start, end, found } of references.toSorted((a, b) => a.start - b.start)) {
    text += scope.text.slice(at, start) + resolve(scopeOf, found).name;
    at = end;
  }
  text += scope.text.slice(at, node.end);
  const isType = node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration";
  const bare = text.replace(/^declare /, "").replace(new RegExp(`\\b${name}\\b`), shown);
  const needs = references
    .map(({ found }) => resolve(scopeOf, found))
    .map((one) => ({ from: one.file, name: one.name }));
  return { text: `${comment}${isType ? "" : "declare "}${bare}`, needs, builtins };
}

/** Where a declaration names another one of the package. */
function findReferences(root: unknown, { own, imported, text }: Scope, file: string) {
  const references: Reference[] = [];
  const builtins = new Set<string>();
  const add = (node: Node): void => {
    const name = text.slice(node.start, node.end);
    const other = imported.get(name);
    if (other?.from.startsWith("node:")) builtins.add(`import type { ${name} } from "${other.from}";`);
    else if (other) references.push({ ...node, found: { from: place(file, other.from), name: other.name } });
    else if (own.has(name)) references.push({ ...node, found: { from: file, name } });
  };
  visit(root, (node) => {
    const named = "typeName" in node ? node["typeName"] : "exprName" in node ? node["exprName"] : undefined;
    if (isNode(named)) add(leftOf(named));
    if (/Heritage|ClassImplements/.test(node.type) && isNode(node["expression"])) add(node["expression"]);
    if (node.type === "ClassDeclaration" && isNode(node["superClass"])) add(node["superClass"]);
    if (node.type === "TSImportType")
      throw new Error(`${file} has a type without a name: ${text.slice(node.start, node.end)}`);
  });
  return { references, builtins };
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

function leftOf(node: Node): Node {
  return isNode(node["left"]) ? leftOf(node["left"]) : node;
}

function isNode(raw: unknown): raw is Node {
  return typeof raw === "object" && raw !== null && "type" in raw && "start" in raw;
}

function visit(raw: unknown, use: (node: Node) => void): void {
  if (Array.isArray(raw)) for (const item of raw) visit(item, use);
  if (!isNode(raw)) return;
  use(raw);
  for (const value of Object.values(raw)) visit(value, use);
}
