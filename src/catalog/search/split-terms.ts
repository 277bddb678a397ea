/** Splits text into words and reduces them to stems: `deletes`, `deleted`, `deleting` and `deletion` are equal. */

/** `listPull_requests-v2` → `list`, `pull`, `requests`, `v2`; `PRs` → `pr`. Works for letters of every script. */
export function splitWords(text: string): readonly string[] {
  const joined = text.replace(NAMES, (name) => name.toLowerCase());
  // Nearly all text is ASCII, for which the simpler patterns are several times faster.
  return isAscii(joined) ? splitAscii(joined) : splitUnicode(joined);
}

/** Names that are one word although they have capital letters inside: servers write them in any case. */
const NAMES =
  /\b(?:arXiv|bioRxiv|medRxiv|GitHub|GitLab|BitBucket|YouTube|LinkedIn|WhatsApp|TikTok|WeChat|PayPal|QuickBooks|HubSpot|SalesForce|DropBox|OneDrive|OneNote|SharePoint|PowerPoint|JavaScript|TypeScript|GraphQL|PostgreSQL|MySQL|SQLite|MongoDB|BigQuery|DynamoDB|ClickHouse|OpenAI|OpenAPI|OpenStreetMap|LeetCode|DuckDuckGo|CoinGecko|PubMed|TripAdvisor|WordPress|DeepWiki|macOS)\b/g;

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}

function splitAscii(text: string): readonly string[] {
  const parted = text
    .replace(/'(?=[A-Za-z])/g, "")
    .replace(/([A-Z]{2})s(?![a-z])/g, "$1 ")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return parted.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

function splitUnicode(text: string): readonly string[] {
  const parted = text
    .normalize("NFKC")
    .replace(/['\u2019](?=\p{L})/gu, "")
    .replace(/(\p{Lu}{2})s(?!\p{Ll})/gu, "$1 ")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return parted.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

export function splitTerms(text: string): readonly string[] {
  return splitWords(text).map(stem);
}

const VOWEL = /[aeiouy]/;
/** `run-n-ing`, `stop-p-ed`. */
const DOUBLED = /([bdfgmnprt])\1$/;

/** The first match is applied. `rest` is the minimum length before it, so that `string` is not a form of `str`. */
const SUFFIXES = [
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
/** Words come from servers and clients, so the cache is bounded. */
const KEPT_STEMS = 20_000;
const MAX_LENGTH = 40;

/** Words that look like a form of another one: `news` is not the plural of `new`. */
const WHOLE: ReadonlyMap<string, string> = new Map([
  ["news", "news"],
  ["information", "info"],
  ["station", "station"],
  ["stations", "station"],
  ["statement", "statement"],
  ["statements", "statement"],
]);

/** A linguistically wrong stem does no harm as long as different words keep different stems. */
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
  const whole = WHOLE.get(word);
  if (whole !== undefined) return whole;
  const single = toSingular(word);
  const ending = SUFFIXES.find(({ pattern, rest }) => isForm(single, pattern, rest));
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
