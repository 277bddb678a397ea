/** Characters that a reviewer cannot see, or that display text in another order than it runs. */

import type { ProgramSyntax } from "../program-syntax.ts";
import type { Objection, AnalysisRule } from "./rule.ts";

/**
 * Letters that look like Latin ones; of Greek only those few, since `Δx` and `μs` are ordinary names. A name in a single
 * other script is fine.
 */
const LOOKALIKES =
  /[\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03b9\u03bd]/u;
const LATIN = /\p{Script=Latin}/u;
const ASCII_ONLY = /^[\u0000-\u007f]*$/u;

/** Joiners inside emoji, and a byte order mark at the start, are fine. */
const INVISIBLE = new RegExp(
  [
    /(?<!\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d|\u200d(?!\p{Extended_Pictographic})/u,
    /(?<!^)\ufeff|\u00ad|\u034f|\u180e|[\u200b\u200c\u2060-\u2064]/u,
    /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/u,
    /[\u115f\u1160\u3164\uffa0]/u,
    /[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/u,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gu",
);

/** Checks the text, not the tree: comments and strings can mislead too. One objection per line. */
export const noInvisibleCharacters: AnalysisRule = {
  name: "no-invisible-characters",
  severity: "warn",
  check: (syntax) => (ASCII_ONLY.test(syntax.source) ? [] : [...hidden(syntax), ...mixedNames(syntax)]),
};

function hidden({ source }: ProgramSyntax): readonly Objection[] {
  const objections: Objection[] = [];
  let lineEnd = -1;
  for (const match of source.matchAll(INVISIBLE)) {
    if (match.index < lineEnd) continue;
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const message = `the invisible character U+${code} hides what the program does`;
    objections.push({
      offset: match.index,
      inSource: true,
      message,
      fix: `remove it or write it as \\u{${code}} in a string`,
    });
    const next = source.indexOf("\n", match.index);
    lineEnd = next < 0 ? source.length : next;
  }
  return objections;
}

/** `t\u043e\u043els` looks like `tools` and is another name. */
function mixedNames({ tree }: ProgramSyntax): readonly Objection[] {
  return tree.nodes.flatMap((node): Objection[] => {
    if (node.type !== "Identifier" || !LOOKALIKES.test(node.name) || !LATIN.test(node.name)) return [];
    const message = "a name mixes letters of different scripts that look alike";
    return [{ offset: node.start, message, fix: "write it in one script" }];
  });
}
