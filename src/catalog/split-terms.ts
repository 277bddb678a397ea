/** Words for the index and for queries: names of every style fall apart alike, plurals and singulars meet. */

/** Words that mean the same in tools' names. Each group is symmetric; a value of two words stands for both. */
const SYNONYMS: readonly (readonly string[])[] = [
  ["pr", "pull request"],
  ["mr", "merge request"],
  ["repo", "repository"],
  ["msg", "message"],
  ["dm", "direct message"],
  ["dir", "folder", "directory"],
  ["delete", "remove", "destroy", "erase"],
  ["create", "add", "new", "make"],
  ["update", "edit", "modify", "change"],
  ["list", "browse", "enumerate"],
  ["get", "fetch", "read", "retrieve"],
  ["search", "find", "query", "lookup"],
  ["send", "post"],
  ["issue", "ticket", "bug"],
  ["doc", "document"],
  ["db", "database"],
  ["env", "environment"],
  ["org", "organization"],
  ["config", "configuration", "setting"],
  ["img", "image", "picture"],
  ["mail", "email"],
  ["user", "member", "person", "people"],
  ["run", "execute", "start"],
  ["stop", "cancel", "abort"],
  ["copy", "duplicate", "clone"],
  ["move", "rename"],
];

const RELATED = toRelated();

/** `listPull_requests-v2` → `list`, `pull`, `request`, `v2`. Letters and digits of every script count. */
export function splitTerms(text: string): string[] {
  const parted = text
    .normalize("NFKC")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return (parted.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(toSingular);
}

/** What else a person might have called it; nothing for a word without a synonym. */
export function relatedTerms(term: string): readonly string[] {
  return RELATED.get(term) ?? [];
}

/** Light on purpose: a wrong stem on both sides still matches, only a merged one would mislead. */
function toSingular(word: string): string {
  if (word.length < 4 || /(ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

function toRelated(): ReadonlyMap<string, readonly string[]> {
  const related = new Map<string, string[]>();
  for (const group of SYNONYMS) {
    for (const word of group.filter((one) => !one.includes(" "))) {
      const others = group.filter((one) => one !== word).flatMap((one) => one.split(" "));
      related.set(word, [...(related.get(word) ?? []), ...others]);
    }
  }
  return related;
}
