/** Follows a traced value into a name or through a destructuring pattern. */

import type { AnyNode, ObjectPattern } from "acorn";
import type { TracedValue } from "./traced-value.ts";
import { staticName } from "../read-tree.ts";
import type { Tracer } from "./trace-flow.ts";

/** Names are followed to their mentions; anything but a name or a plain pattern is lost. */
export function bindPattern(pattern: AnyNode, held: TracedValue, flow: Tracer): void {
  switch (pattern.type) {
    case "Identifier": {
      const binding = flow.syntax.globals.bindingOf(pattern);
      return binding ? flow.followBinding(binding, held) : flow.lose(held, pattern);
    }
    case "AssignmentPattern":
      return bindPattern(pattern.left, held, flow);
    case "ParenthesizedExpression":
      return bindPattern(pattern.expression, held, flow);
    case "ObjectPattern":
      return bindObject(pattern, held, flow);
    case "ArrayPattern":
      return bindArray(pattern.elements, held, flow);
    default:
      return flow.lose(held, pattern);
  }
}

function bindObject(pattern: ObjectPattern, held: TracedValue, flow: Tracer): void {
  for (const part of pattern.properties) {
    if (part.type !== "Property") {
      bindPattern(part.argument, held, flow); // the rest contains at most the whole
      continue;
    }
    const fixed = staticName(part.key, part.computed);
    const names = fixed === undefined ? flow.syntax.folder.valuesOf(part.key) : [fixed];
    if (!names || held.kind === "list") flow.lose(held, part);
    else if (held.kind === "record") {
      if (names.includes(held.key)) bindPattern(part.value, held.value, flow);
      else if (names.some((name) => Object.hasOwn(Object.prototype, String(name)))) flow.lose(held, part);
    } else {
      for (const name of names) {
        flow.reach({
          namespace: held.name,
          tool: String(name),
          node: part,
          reader: part,
          computed: fixed === undefined,
        });
      }
    }
  }
}

function bindArray(elements: readonly (AnyNode | null)[], held: TracedValue, flow: Tracer): void {
  if (held.kind !== "list")
    return held.kind === "record" ? flow.lose(held, elements[0] ?? flow.syntax.tree.root) : undefined;
  for (const [at, element] of elements.entries()) {
    if (!element) continue;
    if (element.type === "RestElement") flow.lose(held, element);
    else if (held.at === undefined || held.at === at) bindPattern(element, held.item, flow);
  }
}
