/**
 * Holds the plain English of the repository: banned phrases and British spelling in code, tests and documents, and the
 * length of sentences in documents. With arguments it checks only paths that start with one of them.
 */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MAX_WORDS = 30;

const CHECKED = /\.(?:ts|js|mjs|md|html|css|c|json|sh)$|^\.ci\//;
/** Generated files, texts of other people, programs as models write them, words of search queries, and this list itself. */
const EXCLUDED =
  /generated\.ts$|^package-lock\.json$|^scripts\/check-words\.ts$|^test\/docs\/words\.test\.ts$|\/corpus[^/]*\.json$|^bench\/search\/|^src\/catalog\/search\/synonyms\.ts$/;

/** Between words there may be a line break with the mark of a comment. */
const GAP = String.raw`\s+(?:(?:\*|//)\s+)?`;
const phrase = (...words: readonly string[]): string => words.join(GAP);

const BANNED: readonly string[] = [
  "whoever",
  "whomever",
  "nobody",
  "somebody",
  "anew",
  phrase("(?:is|are)", "no") +
    String.raw`\b(?!${GAP}(?:longer|more|less|different|wider|larger|smaller|better|worse)\b)`,
  phrase("be", "a", "text"),
  phrase("cannot", "be", "had"),
  phrase("put", "away"),
  phrase("puts", "away"),
  phrase("set", "aside"),
  phrase("go", "on"),
  phrase("goes", "on"),
  phrase("going", "on"),
  phrase("went", "on"),
];

/** British words, each as the beginning of its forms. `cancelled` is the name of a state on the wire. */
const BRITISH = [
  "behaviour",
  "defence",
  "offence",
  "labell",
  "catalogue",
  "honour",
  "colour",
  "favour",
  "neighbour",
  "centre",
  "licence",
  "judgement",
  "artefact",
  "whilst",
  "grey",
  "analys(?:ed?|ing)",
  "travell",
  "modell",
  "signall",
  "fulfil(?!l)",
  "(?:recogn|organ|serial|initial|normal|canonical|minim|maxim|optim|synchron|author|summar|random|standard|final|general|token|sanit)is(?:e|ing|ation)",
];

const WORDS = new RegExp(String.raw`\b(?:${[...BANNED, ...BRITISH.map((word) => `${word}\\w*`)].join("|")})\b`, "gi");

/** Every problem of the files below `folder` as `path:line message`. */
export function checkWords(folder: string, paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => CHECKED.test(path) && !EXCLUDED.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(folder, path), "utf8");
      const found = [...findPhrases(text), ...(path.endsWith(".md") ? findLongSentences(text) : [])];
      return found.map(({ line, message }) => `${path}:${line} ${message}`);
    });
}

interface Problem {
  readonly line: number;
  readonly message: string;
}

function findPhrases(text: string): readonly Problem[] {
  return Array.from(text.matchAll(WORDS), (match) => ({
    line: lineOf(text, match.index),
    message: `write plain English instead of "${match[0].replace(/\s+(?:(?:\*|\/\/)\s+)?/g, " ")}"`,
  }));
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** A paragraph, a list item, a heading or a cell of a table, with the line it starts on. */
interface Passage {
  readonly line: number;
  readonly text: string;
}

function findLongSentences(text: string): readonly Problem[] {
  return listPassages(text).flatMap(({ line, text: passage }) =>
    splitSentences(passage.replaceAll(/<!--.*?-->/g, ""))
      .map((sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length)
      .filter((words) => words > MAX_WORDS)
      .map((words) => ({ line, message: `a sentence has ${words} words, at most ${MAX_WORDS} are allowed` })),
  );
}

function listPassages(text: string): readonly Passage[] {
  const passages: { line: number; text: string }[] = [];
  let isFenced = false;
  let isOpen = false;
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (/^(?:```|~~~)/.test(line)) isFenced = !isFenced;
    const cells = line.startsWith("|") ? line.split(/(?<!\\)\|/) : undefined;
    if (isFenced || line === "" || cells || /^(?:```|~~~|<!--)/.test(line)) {
      isOpen = false;
      if (!isFenced && cells) passages.push(...cells.map((cell) => ({ line: index + 1, text: cell })));
      continue;
    }
    const last = passages.at(-1);
    if (isOpen && last && !/^(?:[-*+]|\d+\.|#+|>)\s/.test(line)) last.text += ` ${line}`;
    else passages.push({ line: index + 1, text: line });
    isOpen = !line.startsWith("#");
  }
  return passages;
}

/** A code span counts as one word, and a link as its text. */
function splitSentences(passage: string): readonly string[] {
  const plain = passage.replace(/(`+).+?\1/g, "code").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return plain.split(/(?<=[.!?])["')*_]*\s+/);
}

if (import.meta.main) {
  const chosen = process.argv.slice(2);
  const tracked = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).split("\n").filter(Boolean);
  const paths = tracked.filter((path) => chosen.length === 0 || chosen.some((start) => path.startsWith(start)));
  const problems = checkWords(ROOT, paths);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
