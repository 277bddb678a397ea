/** Brings the forms of an English word together: `deletes`, `deleted`, `deleting` and `deletion` are one. */

const VOWEL = /[aeiouy]/;
/** `run-n-ing`, `stop-p-ed`. */
const DOUBLED = /([bdfgmnprt])\1$/;

interface Ending {
  readonly pattern: RegExp;
  readonly put: string;
  /** How long the rest must be at least, so that `string` is not taken for a form of `str`. */
  readonly rest: number;
}

/** The first that fits is applied. Derived words come before their parts. */
const ENDINGS: readonly Ending[] = [
  { pattern: /ifications?$/, put: "ify", rest: 3 },
  { pattern: /(?:ation|ition|ator)s?$/, put: "", rest: 4 },
  { pattern: /(?:ate|ated|ating)$/, put: "", rest: 5 },
  { pattern: /(?<=[st])ions?$/, put: "", rest: 4 },
  { pattern: /ments?$/, put: "", rest: 5 },
  { pattern: /(?:iness|ness)$/, put: "", rest: 4 },
  { pattern: /ally$|ly$/, put: "", rest: 4 },
  { pattern: /ings?$/, put: "", rest: 3 },
  { pattern: /ied$/, put: "y", rest: 2 },
  { pattern: /ed$/, put: "", rest: 3 },
  { pattern: /ers?$|ors?$/, put: "", rest: 5 },
];

const stems = new Map<string, string>();
/** Words come from servers and clients, so the memory of them is bounded. */
const KEPT_STEMS = 20_000;
const MAX_LENGTH = 40;

/** A wrong stem on both sides still matches; only two words that become one would mislead. */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const found = toStem(word);
  if (stems.size >= KEPT_STEMS) stems.clear();
  stems.set(word, found);
  return found;
}

function toStem(word: string): string {
  if (word.length < 4 || word.length > MAX_LENGTH || !/^[a-z]+$/.test(word)) return word;
  const single = toSingular(word);
  const ending = ENDINGS.find(({ pattern, rest }) => isForm(single, pattern, rest));
  if (!ending) return dropE(single);
  return dropE(single.replace(ending.pattern, ending.put).replace(DOUBLED, "$1"));
}

function isForm(word: string, pattern: RegExp, rest: number): boolean {
  const at = word.search(pattern);
  return at >= rest && VOWEL.test(word.slice(0, at));
}

function toSingular(word: string): string {
  if (/(ss|us|is)$/.test(word)) return word;
  if (/[^aeiou]ies$/.test(word)) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (/(ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

/** `delete` and `delet-ion`, `create` and `creat-or`; also the `y` of `history` and `histor-ies`. */
function dropE(word: string): string {
  if (word.length > 3 && word.endsWith("e")) return word.slice(0, -1);
  return word.length > 3 && /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}i` : word;
}
