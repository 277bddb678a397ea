/** Makes a program that ran with its own literals into one that takes them from its input. */

import { readMaterial } from "../../analysis/index.ts";
import { GloveboxError, canonicalJson, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, JsonSchema, Namespace, Program } from "../../domain/index.ts";
import { inferSchema } from "./infer-schema.ts";

export type FoundLiteral = ReturnType<typeof readMaterial>["literals"][number];

/** A value that callers of the skill choose, and the one that the program had. */
export interface DraftParameter {
  readonly name: string;
  readonly value: Json;
}

/** A program whose parameters come from the object that is called `argument`. */
export interface GeneralProgram {
  readonly argument: string;
  /** Texts of the body, the likeliest first. */
  readonly bodies: readonly string[];
  readonly input: JsonSchema;
  /** With these values it is the program that ran. */
  readonly values: JsonObject;
  readonly parameters: readonly DraftParameter[];
}

interface GeneralizeOptions {
  readonly namespaces: readonly Namespace[];
  /** Of the execution. */
  readonly input: Json | undefined;
  /** Which literals become parameters. */
  readonly isWanted: (literal: FoundLiteral, index: number) => boolean;
}

const USUAL_ARGUMENT = "input";
const NAME = /^[A-Za-z_$][\w$]{0,63}$/;
const UNNAMED = "value";

/** Throws REQUEST_INVALID for a program whose input is not an object: a skill takes named arguments. */
export function generalize(program: Program, { namespaces, input, isWanted }: GeneralizeOptions): GeneralProgram {
  const { literals, readsInput, names, rewrite } = readMaterial(program, namespaces);
  const given = readsInput ? input : undefined;
  if (given !== undefined && !isJsonObject(given)) throw notAnObject();
  const parameters = new Map<string, DraftParameter>();
  const taken = new Set(Object.keys(given ?? {}));
  const argument = readsInput || !names.has(USUAL_ARGUMENT) ? USUAL_ARGUMENT : findFree("given", names);
  const replacements = literals.filter(isWanted).map(({ start, end, name: wanted, value }) => {
    const plain = NAME.test(wanted) && wanted !== "__proto__" ? wanted : UNNAMED;
    const key = `${plain} ${canonicalJson(value)}`;
    const parameter = parameters.get(key) ?? { name: findFree(plain, taken), value };
    parameters.set(key, parameter);
    taken.add(parameter.name);
    return { start, end, text: `${argument}.${parameter.name}` };
  });
  const own = [...parameters.values()];
  const values = { ...given, ...Object.fromEntries(own.map(({ name, value }) => [name, value])) };
  const bodies = rewrite(replacements);
  return {
    argument,
    bodies,
    input: { type: "object", properties: {}, ...inferSchema([values]) },
    values,
    parameters: own,
  };
}

function findFree(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}${number}`)) number += 1;
  return `${name}${number}`;
}

function notAnObject(): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", "The program reads an `input` that is not an object", {
    hint: "A skill takes named arguments: run it again with an object as input",
  });
}
