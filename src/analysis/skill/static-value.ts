/** Reads values that the source of a skill writes as literals. No code runs: what is computed is refused. */

import type { AnyNode, Program as Root } from "acorn";
import { isJsonObject } from "../../domain/index.ts";
import type { GloveboxError, Json, JsonObject } from "../../domain/index.ts";
import { refuse } from "../locate.ts";
import { staticName, withoutParens } from "../read-tree.ts";

/** The source, and the constants that it declares at its top level. */
export interface SkillText {
  readonly source: string;
  readonly constants: ReadonlyMap<string, AnyNode>;
  /** The position of an offset of the tree in the author's text. */
  readonly toAuthor: (offset: number) => number;
}

/** Constants may refer to constants, this often in a row. */
const MOST_STEPS = 32;

export function findConstants(root: Root): ReadonlyMap<string, AnyNode> {
  const found = root.body.flatMap((node) =>
    node.type === "VariableDeclaration" && node.kind === "const" ? node.declarations : [],
  );
  return new Map(found.flatMap(({ id, init }) => (id.type === "Identifier" && init ? [[id.name, init]] : [])));
}

/** The expression that a name stands for, if it is a constant of the top level; otherwise the node itself. */
export function resolveConstant(node: AnyNode, text: SkillText): AnyNode {
  let inner = withoutParens(node);
  for (let step = 0; step < MOST_STEPS && inner.type === "Identifier"; step += 1) {
    const value = text.constants.get(inner.name);
    if (!value) return inner;
    inner = withoutParens(value);
  }
  return inner;
}

/** Depth is bounded, because the source was checked before; `steps` bounds constants that contain each other. */
export function readValue(node: AnyNode, text: SkillText, steps = MOST_STEPS * MOST_STEPS): Json {
  const inner = resolveConstant(node, text);
  const isKnown = inner !== withoutParens(node);
  const left = isKnown ? Math.floor(steps / 2) : steps;
  if (left === 0) throw notLiteral(inner, text);
  switch (inner.type) {
    case "Literal":
      if (isScalar(inner.value) && !("bigint" in inner)) return inner.value;
      throw notLiteral(inner, text);
    case "TemplateLiteral":
      if (inner.expressions.length === 0) return inner.quasis[0]?.value.cooked ?? "";
      throw notLiteral(inner, text);
    case "UnaryExpression":
      if (inner.operator !== "-") throw notLiteral(inner, text);
      return -readNumber(inner.argument, text);
    case "ArrayExpression":
      return inner.elements.map((item) => {
        if (!item) throw notLiteral(inner, text);
        return readValue(item, text, left);
      });
    case "ObjectExpression":
      return Object.fromEntries(readProperties(inner, text).map(([key, value]) => [key, readValue(value, text, left)]));
    default:
      throw notLiteral(inner, text);
  }
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function readNumber(node: AnyNode, text: SkillText): number {
  const inner = withoutParens(node);
  if (inner.type === "Literal" && typeof inner.value === "number") return inner.value;
  throw notLiteral(node, text);
}

/** The keys of an object literal with their values, in order. */
export function readProperties(node: AnyNode, text: SkillText): readonly (readonly [key: string, value: AnyNode])[] {
  const inner = resolveConstant(node, text);
  if (inner.type !== "ObjectExpression") throw objectTo(inner, text, "must be an object literal");
  return inner.properties.map((property) => {
    if (property.type !== "Property" || property.kind !== "init") throw notLiteral(property, text);
    const key = staticName(property.key, property.computed);
    if (key === undefined || key === "__proto__") throw objectTo(property, text, "must have a plain key");
    return [key, property.value] as const;
  });
}

export function readObject(node: AnyNode, text: SkillText): JsonObject {
  const value = readValue(node, text);
  if (isJsonObject(value)) return value;
  throw objectTo(node, text, "must be an object literal");
}

function notLiteral(node: AnyNode, text: SkillText): GloveboxError {
  return objectTo(node, text, "must be a literal value: a skill's definition is read without running it");
}

export function objectTo(node: AnyNode, { source, toAuthor }: SkillText, problem: string): GloveboxError {
  const [start, end] = [toAuthor(node.start), toAuthor(node.end)];
  const message = `${JSON.stringify(source.slice(start, Math.min(end, start + 60)))} ${problem}`;
  const hint = "See docs/guide/skills.md for the form of skill.ts";
  return refuse("REQUEST_INVALID", source, { message, offset: start, hint });
}
