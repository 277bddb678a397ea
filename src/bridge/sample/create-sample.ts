/**
 * Makes a value that fits a schema, for calls that are not made. A server wrote the schema, so the work is bounded and
 * the value is held against the schema before anybody sees it.
 */

import type { Json, JsonSchema } from "../../domain/index.ts";
import { checkSchema, seemsToFit } from "../check-schema.ts";

import { pickValue } from "./sample-values.ts";
import type { Maker } from "./sample-values.ts";

/** How much of what is optional is filled in; the next one is tried when a sample is too large or does not fit. */
const RICH_DEPTHS = [3, 1, 0];
/** For each of them. All these together keep the work below some tenths of a second. */
const MOST_STEPS = 2_000;
/** Checks of parts along the way, and the steps of each; later ones are left to the check of the whole. */
const MOST_CHECKS = 50;
const MOST_CHECK_STEPS = 1_000;
/** A check copies the whole schema. */
const MOST_CHECKED_CHARS = 20_000;

class TooManySteps extends Error {}

/** A program may make the same call many times; tools live as long as their snapshot, and so do these. */
const made = new WeakMap<JsonSchema, { readonly value: Json | undefined }>();

/** `undefined` when no value was found: the schema allows none, or asks for too much. The same for the same schema. */
export function createSample(schema: JsonSchema): Json | undefined {
  const known = made.get(schema) ?? { value: findSample(schema) };
  made.set(schema, known);
  return known.value;
}

function findSample(schema: JsonSchema): Json | undefined {
  const checkFor = createChecks(schema);
  for (const richDepth of RICH_DEPTHS) {
    const value = trySample(schema, richDepth, checkFor);
    if (value !== undefined && checkSchema(schema, value).length === 0) return value;
  }
  return undefined;
}

function trySample(schema: JsonSchema, richDepth: number, checkFor: Maker["checkFor"]): Json | undefined {
  let left = MOST_STEPS;
  const maker: Maker = {
    root: schema,
    richDepth,
    step: () => {
      left -= 1;
      if (left < 0) throw new TooManySteps();
    },
    checkFor,
    pick: (parts, place) => pickValue(maker, parts, place),
  };
  try {
    return maker.pick([schema], { depth: 0, salt: 0 });
  } catch (thrown) {
    if (thrown instanceof TooManySteps) return undefined;
    throw thrown;
  }
}

/** Keywords after which the first value that comes to mind may be wrong. */
const DOUBTFUL = /"(?:anyOf|oneOf|allOf|not|if|default|examples|\$ref|dependentSchemas|dependencies|propertyNames)":/;
/** Only these mean the same when a part stands alone with the definitions of the whole. */
const PORTABLE_REF = /"\$ref":"#\/(?:\$defs|definitions)\//g;

function createChecks(root: JsonSchema): Maker["checkFor"] {
  const text = JSON.stringify(root);
  const isPortable = !/"\$(?:dynamicRef|recursiveRef|ref)":/.test(text.replaceAll(PORTABLE_REF, ""));
  let left = isPortable && text.length <= MOST_CHECKED_CHARS ? MOST_CHECKS : 0;
  const { $schema, $defs, definitions } = root;
  return (parts) => {
    if (left <= 0 || !DOUBTFUL.test(JSON.stringify(parts))) return () => true;
    const alone: JsonSchema = {
      ...($schema !== undefined && { $schema }),
      ...($defs !== undefined && { $defs }),
      ...(definitions !== undefined && { definitions }),
      allOf: parts,
    };
    return (value) => {
      left -= 1;
      return left < 0 || seemsToFit(alone, value, MOST_CHECK_STEPS);
    };
  };
}
