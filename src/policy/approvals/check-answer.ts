/** Checks the answer of a person against the form that a server asked for. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { Approval, InputRequest, Json, JsonObject } from "../../domain/index.ts";

const MAX_ANSWER_CHARS = 16_000;

/** Returns what is sent to the server. Rejects with REQUEST_INVALID, which names the field and never its value. */
export function checkAnswer({ id, args }: Pick<Approval, "id" | "args">, content: unknown): InputRequest["content"] {
  const { mode, schema } = isJsonObject(args) ? args : {};
  if (mode === "url") return {};
  const { properties, required } = isJsonObject(schema) ? schema : {};
  if (!isJsonObject(properties) || !isJsonObject(content)) throw invalid(id, "use `glovebox answer` and its fields");
  for (const name of Array.isArray(required) ? required : [])
    if (typeof name === "string" && !Object.hasOwn(content, name)) throw invalid(id, `${name} is missing`);
  const answer = new Map<string, InputRequest["content"][string]>();
  for (const [name, value] of Object.entries(content)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isJsonObject(field)) throw invalid(id, `${JSON.stringify(name)} is not a field of this form`);
    answer.set(
      name,
      parseValue(field, value, (problem) => invalid(id, `${name} ${problem}`)),
    );
  }
  if (JSON.stringify([...answer]).length > MAX_ANSWER_CHARS) throw invalid(id, "the answer is too long");
  return Object.fromEntries(answer);
}

type Refuse = (problem: string) => GloveboxError;

function parseValue(field: JsonObject, value: Json, refuse: Refuse): InputRequest["content"][string] {
  const { type, enum: choices, items } = field;
  if (type === "array") return parseChoices(field, isJsonObject(items) ? items : {}, value, refuse);
  if (type === "boolean") {
    if (typeof value !== "boolean") throw refuse("must be true or false");
    return value;
  }
  if (type === "string") {
    if (typeof value !== "string") throw refuse("must be a string");
    if (Array.isArray(choices) && !choices.includes(value)) throw refuse("must be one of the choices");
    if (isOutside(value.length, field, "Length")) throw refuse("has a length that is not allowed");
    return value;
  }
  if (typeof value !== "number" || (type === "integer" && !Number.isInteger(value)))
    throw refuse(type === "integer" ? "must be an integer" : "must be a number");
  if (isOutside(value, field, "imum")) throw refuse("is outside of the allowed range");
  return value;
}

function parseChoices(
  field: JsonObject,
  { enum: choices }: JsonObject,
  value: Json,
  refuse: Refuse,
): readonly string[] {
  const known = Array.isArray(choices) ? choices : [];
  const chosen = Array.isArray(value)
    ? value.filter((one) => typeof one === "string" && known.includes(one))
    : undefined;
  if (!chosen || !Array.isArray(value) || chosen.length !== value.length) throw refuse("must be a list of the choices");
  if (isOutside(chosen.length, field, "Items")) throw refuse("has a number of choices that is not allowed");
  return chosen.filter((one) => typeof one === "string");
}

function isOutside(value: number, field: JsonObject, what: "Length" | "Items" | "imum"): boolean {
  const [least, most] = [field[`min${what}`], field[`max${what}`]];
  return (typeof least === "number" && value < least) || (typeof most === "number" && value > most);
}

function invalid(id: string, problem: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", `This answer to ${id} cannot be sent: ${problem}`, {
    hint: `\`glovebox approvals show ${id}\` shows what the server asks for`,
  });
}
