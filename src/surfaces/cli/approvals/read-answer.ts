/** Reads the values of a form: from flags, and at a terminal from the person. */

import { createInterface } from "node:readline/promises";

import { GloveboxError, isJsonObject } from "../../../domain/index.ts";
import type { Approval, Json, JsonObject } from "../../../domain/index.ts";
import { toVisible } from "../../../text/index.ts";
import type { Terminal } from "../powers.ts";
import { printLine } from "../print.ts";

/** An empty line leaves an optional field out. The queue checks the values. */
export async function readAnswer(
  { args }: Pick<Approval, "args">,
  flags: readonly string[],
  { stdin, stderr }: Pick<Terminal, "stdin" | "stderr">,
): Promise<JsonObject> {
  const { server, message, url, schema } = isJsonObject(args) ? args : {};
  const { properties, required } = isJsonObject(schema) ? schema : {};
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  const given = new Map(flags.map(splitFlag));
  printLine(stderr, `The server ${toVisible(textOf(server))} says: ${toVisible(textOf(message))}`);
  if (typeof url === "string") printLine(stderr, `It asks you to open ${toVisible(url)}`);
  if (stdin.isTTY === true) {
    const lines = createInterface({ input: stdin, output: stderr });
    for (const [name, field] of fields.filter(([name]) => !given.has(name))) {
      const isNeeded = Array.isArray(required) && required.includes(name);
      const line = await lines.question(`${toVisible(name)} ${describeField(field)}${isNeeded ? "" : ", optional"}: `);
      if (line !== "" || isNeeded) given.set(name, line);
    }
    lines.close();
  }
  const known = new Map(fields);
  return Object.fromEntries([...given].map(([name, text]) => [name, toValue(text, known.get(name))]));
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function splitFlag(flag: string): readonly [string, string] {
  const at = flag.indexOf("=");
  if (at > 0) return [flag.slice(0, at), flag.slice(at + 1)];
  throw new GloveboxError("REQUEST_INVALID", `--field ${JSON.stringify(flag)} has no value`, {
    hint: "Write --field name=value",
  });
}

function describeField(field: Json): string {
  const { type, title, description, enum: choices, items } = isJsonObject(field) ? field : {};
  const chosen = choices ?? (isJsonObject(items) ? items["enum"] : undefined);
  const offered = Array.isArray(chosen) ? `: ${chosen.map(String).join(", ")}` : "";
  const text = [textOf(title), textOf(description)].filter((part) => part !== "");
  return toVisible(`(${[...text, `${textOf(type)}${offered}`].join("; ")})`);
}

function toValue(text: string, field: Json | undefined): Json {
  const type = isJsonObject(field) ? field["type"] : undefined;
  if (type === "boolean" && /^(true|false|yes|no|y|n)$/i.test(text)) return /^(true|y)/i.test(text);
  if ((type === "number" || type === "integer") && text.trim() !== "") return Number(text);
  if (type === "array")
    return text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  return text;
}
