/** Makes a program that ran with its own literals into one that takes them from its input. */

import { readMaterial } from "../../analysis/index.ts";
import { GloveboxError, canonicalJson, isJsonObject } from "../../domain/index.ts";
import type { Json, JsonObject, JsonSchema, Namespace, Program } from "../../domain/index.ts";
import { inferSchema } from "./infer-schema.ts";

/** A value that callers of the skill choose, and those that the programs had, in their order. */
export interface GeneralParameter {
  readonly name: string;
  readonly values: readonly Json[];
}

/** A program whose parameters come from the object that is called `argument`. */
export interface GeneralProgram {
  readonly argument: string;
  /** Texts of the body, the likeliest first. */
  readonly bodies: readonly string[];
  readonly input: JsonSchema;
  /** With these it is each of the programs that ran. */
  readonly inputs: readonly JsonObject[];
  readonly parameters: readonly GeneralParameter[];
}

/** A program that ran, with the input of its execution. */
export interface RanProgram {
  readonly program: Program;
  readonly input?: Json;
}

interface GeneralizeOptions {
  readonly namespaces: readonly Namespace[];
  /** Names that stay literals. */
  readonly keep: readonly string[];
}

const USUAL_ARGUMENT = "input";
const NAME = /^[A-Za-z_$][\w$]{0,63}$/;
const UNNAMED = "value";

/**
 * Of one program, literals that another caller would probably choose become parameters; of several, exactly those that
 * differ. Throws REQUEST_INVALID if the programs differ in more, and for an input that is not an object.
 */
export function generalize(ran: readonly [RanProgram, ...RanProgram[]], options: GeneralizeOptions): GeneralProgram {
  const { namespaces, keep } = options;
  const materials = ran.map(({ program }) => readMaterial(program, namespaces));
  const [first] = materials;
  if (!first || new Set(materials.map(({ skeleton }) => skeleton)).size > 1) throw differ();
  const given = ran.map(({ input }) => (first.readsInput ? parseInput(input) : {}));
  const taken = new Set(given.flatMap((one) => Object.keys(one)));
  const argument =
    first.readsInput || !first.names.has(USUAL_ARGUMENT) ? USUAL_ARGUMENT : findFree("given", first.names);
  const parameters = new Map<string, GeneralParameter>();
  const replacements = first.literals.flatMap(({ start, end, name: wanted, isParameter }, index) => {
    const values = materials.map(({ literals }) => literals[index]?.value ?? null);
    const isWanted = ran.length === 1 ? isParameter : new Set(values.map((value) => canonicalJson(value))).size > 1;
    if (!isWanted || keep.includes(wanted)) return [];
    const plain = NAME.test(wanted) && wanted !== "__proto__" ? wanted : UNNAMED;
    // The same literal twice is one parameter, if it is the same in every program.
    const key = `${plain} ${canonicalJson(values)}`;
    const parameter = parameters.get(key) ?? { name: findFree(plain, taken), values };
    parameters.set(key, parameter);
    taken.add(parameter.name);
    return [{ start, end, text: `${argument}.${parameter.name}` }];
  });
  const own = [...parameters.values()];
  const inputs = given.map((one, at): JsonObject => {
    const values = own.map(({ name, values: of }): [string, Json] => [name, of[at] ?? null]);
    return { ...one, ...Object.fromEntries(values) };
  });
  const input = { type: "object", properties: {}, ...inferSchema(inputs, { hasRequired: true }) };
  return { argument, bodies: first.rewrite(replacements), input, inputs, parameters: own };
}

function parseInput(input: Json | undefined): JsonObject {
  if (input === undefined || isJsonObject(input)) return input ?? {};
  throw new GloveboxError("REQUEST_INVALID", "The program reads an `input` that is not an object", {
    hint: "A skill takes named arguments: run it again with an object as input",
  });
}

function findFree(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}${number}`)) number += 1;
  return `${name}${number}`;
}

function differ(): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", "The programs differ in more than their literals", {
    hint: "`glovebox skills suggest` lists executions that differ in literals only",
  });
}
