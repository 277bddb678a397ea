/**
 * Writes the next program from the answer to a wrong one, as a careful model does: only what the answer says is applied,
 * and the right program is not known here. A mistake that asks for another program takes the one of the task, but only if
 * the answer names the cause.
 */

import { isJsonObject } from "../../src/domain/index.ts";
import type { Json } from "../../src/domain/index.ts";
import type { Answer } from "./open-client.ts";
import { findEnd, readFields } from "./signatures.ts";
import { placeIn } from "./task.ts";
import type { Task } from "./task.ts";

export interface ProgramRequest {
  readonly code: string;
  readonly input?: Json;
}

/** One thing that the answer says, about one place of the program. */
interface Note {
  /** Message and hint. */
  readonly said: string;
  readonly line: number;
  readonly column: number;
}

type Repair = (code: string, note: Note) => string | undefined;

const REPAIRS: readonly Repair[] = [
  writeLine,
  removeLine,
  replaceName,
  replaceValue,
  fitArguments,
  readOtherField,
  awaitCall,
  omitMissing,
  moveIntoFolder,
];

/** Returns `undefined` if the answer leads to no other program. */
export function repairProgram(
  task: Task,
  request: ProgramRequest,
  answer: Answer,
  work: string,
): ProgramRequest | undefined {
  const notes = readNotes(answer);
  for (const note of notes) {
    for (const repair of REPAIRS) {
      const code = repair(request.code, note);
      if (code !== undefined && code !== request.code) return { ...request, code };
    }
  }
  const { rewrite } = task;
  const isTold = rewrite && notes.some(({ said }) => rewrite.when.test(said));
  const code = isTold ? placeIn(work, rewrite.program) : request.code;
  return code === request.code ? undefined : { ...request, code };
}

/** The error first, then the findings that are not only for information. */
function readNotes({ content }: Answer): readonly Note[] {
  const { error, findings } = content;
  const all = [error, ...(Array.isArray(findings) ? findings : [])];
  return all.filter(isJsonObject).flatMap(({ message, hint, line, column, severity }) => {
    if (severity === "info") return [];
    const said = [message, hint].filter((part) => typeof part === "string").join("\n");
    return [{ said, line: Number(line ?? 1), column: Number(column ?? 1) }];
  });
}

/** `Write: …` is a whole line; it replaces the one that it resembles most. */
function writeLine(code: string, { said }: Note): string | undefined {
  const written = /\bWrite: (.+)/.exec(said)?.[1];
  if (written === undefined) return undefined;
  const lines = code.split("\n");
  const words = new Set(wordsOf(written));
  const shared = lines.map((line) => wordsOf(line).filter((word) => words.has(word)).length);
  return replaceAt(lines, shared.indexOf(Math.max(...shared)), written);
}

function removeLine(code: string, { said, line }: Note): string | undefined {
  if (!/\bremove the line\b/i.test(said)) return undefined;
  return code
    .split("\n")
    .filter((_, at) => at !== line - 1)
    .join("\n");
}

/** The first name of `Did you mean …`, in the place of the name that the program has there. */
function replaceName(code: string, { said, line, column }: Note): string | undefined {
  const [, better] = /Did you mean ([a-z]\w*\.\w+)/.exec(said) ?? [];
  const lines = code.split("\n");
  const text = lines[line - 1];
  if (better === undefined || text === undefined) return undefined;
  // The position may be that of the last part of the name.
  const names = [...text.matchAll(/[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+(?=\()/g)];
  const name = names.find((found) => found.index <= column - 1 && column - 1 <= found.index + found[0].length);
  if (!name) return undefined;
  return replaceAt(lines, line - 1, spliced(text, name.index, name[0].length, better));
}

/** A literal that the message quotes, replaced by the one that it suggests. */
function replaceValue(code: string, { said }: Note): string | undefined {
  const wrong = /Type '("[^']*")' is not assignable/.exec(said)?.[1];
  const right = /Did you mean '("[^']*")'/.exec(said)?.[1];
  return wrong === undefined || right === undefined ? undefined : code.replace(wrong, right);
}

/** `The call is inventory.getProduct({ sku: string; })`: names and types of the arguments. */
function fitArguments(code: string, { said }: Note): string | undefined {
  const found = /The call is ([\w.]+)\(/.exec(said);
  const tool = found?.[1];
  const start = tool === undefined ? -1 : code.indexOf(`${tool}(`);
  if (!found || tool === undefined || start < 0) return undefined;
  const open = found.index + found[0].length - 1;
  const fields = readFields(said.slice(open + 1, findEnd(said, open) - 1));
  const from = start + tool.length;
  const end = findEnd(code, from);
  const given = code.slice(from + 1, end - 1).trim();
  const [required] = [...fields].filter(([name]) => !name.endsWith("?"));
  if (!given.startsWith("{")) return required && spliced(code, from, end - from, `({ ${required[0]}: ${given} })`);
  let fitted = given;
  for (const [name, type] of fields) {
    if (type === "number") fitted = fitted.replace(new RegExp(`\\b${name.replace("?", "")}: "(-?[\\d.]+)"`), unquote);
  }
  const unknown = /'(\w+)' does not exist in type|unknown (?:argument|field) `?(\w+)/.exec(said);
  const key = unknown?.[1] ?? unknown?.[2];
  const isGiven = required && new RegExp(`\\b${required[0]}\\b *[:,}]`).test(given);
  if (key !== undefined && required && !isGiven) fitted = fitted.replace(new RegExp(`\\b${key}\\b`), required[0]);
  return spliced(code, from, end - from, `(${fitted})`);
}

/** The declared field whose type has most of the words that the line uses, instead of one that does not exist. */
function readOtherField(code: string, { said, line }: Note): string | undefined {
  const [, value, field] = /(\w+) has no (\w+)/.exec(said) ?? [];
  const promised = said.indexOf("Promise<{");
  if (value === undefined || field === undefined || promised < 0) return undefined;
  const open = promised + "Promise<".length;
  const fields = [...readFields(said.slice(open, findEnd(said, open)))];
  const lines = code.split("\n");
  const text = lines[line - 1] ?? "";
  const used = wordsOf(text);
  const score = (type: string): number => wordsOf(type).filter((word) => used.includes(word)).length;
  const best = fields.toSorted(([, a], [, b]) => score(b) - score(a))[0]?.[0].replace("?", "");
  if (best === undefined) return undefined;
  const isMethod = text.includes(`${value}.${field}(`);
  return replaceAt(
    lines,
    line - 1,
    text.replace(`${value}.${field}`, isMethod ? `${value}.${best}.${field}` : `${value}.${best}`),
  );
}

function awaitCall(code: string, { said, line, column }: Note): string | undefined {
  const lines = code.split("\n");
  const text = lines[line - 1];
  if (!/\bawait\b/.test(said) || text === undefined || text.includes("await ")) return undefined;
  const start = /[\w$.]*$/.exec(text.slice(0, column - 1))?.index ?? column - 1;
  return replaceAt(lines, line - 1, spliced(text, start, 0, "await "));
}

/** A path that the server does not have, if the program lists it beside others. */
function omitMissing(code: string, { said }: Note): string | undefined {
  const missing = /(?:ENOENT|not found|no such file)[^]*?'([^']+)'/i.exec(said)?.[1];
  return missing === undefined ? undefined : code.replace(`"${missing}", `, "");
}

/** `… path outside allowed directories: A not in B`. */
function moveIntoFolder(code: string, { said }: Note): string | undefined {
  const [, path, folder] = /outside allowed directories: (\S+) not in ([^\s,"]+)/.exec(said) ?? [];
  if (path === undefined || folder === undefined) return undefined;
  return code.replace(path, folder + path.replace(/^\/[^/]+/, ""));
}

const unquote = (text: string): string => text.replaceAll('"', "");

const wordsOf = (text: string): readonly string[] => text.match(/\w+/g) ?? [];

const replaceAt = (lines: readonly string[], at: number, line: string): string => lines.with(at, line).join("\n");

const spliced = (text: string, start: number, length: number, added: string): string =>
  text.slice(0, start) + added + text.slice(start + length);
