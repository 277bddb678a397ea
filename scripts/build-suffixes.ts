/**
 * Writes the table of public suffixes from the rules of `tldts`. The gateway does not load `tldts` itself, because that
 * takes longer than reading the configuration and only a membership test is needed. Run it after an update of `tldts`:
 * `node scripts/build-suffixes.ts`. `public-suffixes.test.ts` compares the table with the package.
 */

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { domainToASCII } from "node:url";

const FILE = "src/config/schema/values/public-suffixes.generated.ts";

/** The trie inside `tldts`, which has no types: node `n` has the edges from `edgeStart[n]` up to `edgeStart[n + 1]`. */
interface Trie {
  readonly nodeFlags: Uint8Array;
  readonly edgeStart: Uint32Array;
  readonly edgeLength: Uint8Array;
  readonly edgeChild: Uint32Array;
  /** The labels of all edges, concatenated. */
  readonly labelText: string;
  readonly rulesRoot: number;
  readonly exceptionsRoot: number;
}

const trie: Trie = createRequire(import.meta.url)("tldts/dist/cjs/src/data/trie.js");

/** The label of each edge in punycode. */
function listLabels({ edgeLength, labelText }: Trie): readonly string[] {
  let start = 0;
  return Array.from(edgeLength, (length) => {
    const label = labelText.slice(start, (start += length));
    return /^[\x21-\x7e]*$/.test(label) ? label : domainToASCII(label);
  });
}

const labels = listLabels(trie);

/** Every rule at or below a node, as labels from the last to the first. */
function listRules(node: number, path: readonly string[] = []): readonly (readonly string[])[] {
  const [from = 0, to = 0] = trie.edgeStart.subarray(node, node + 2);
  const edges = Array.from({ length: to - from }, (_, at) => from + at);
  const below = edges.flatMap((edge) => listRules(trie.edgeChild[edge] ?? 0, [...path, labels[edge] ?? ""]));
  return trie.nodeFlags[node] ? [path, ...below] : below;
}

/** A single label is always a suffix, so rules of one label are omitted. */
function buildTable({ rulesRoot, exceptionsRoot }: Trie): string {
  const marked = [
    ...listRules(rulesRoot).map((path) => ({ path, mark: "" })),
    ...listRules(exceptionsRoot).map((path) => ({ path, mark: "!" })),
  ];
  const groups = Map.groupBy(
    marked.filter(({ path }) => path.length > 1),
    ({ path }) => path[0] ?? "",
  );
  const lines = [...groups].map(([top, group]) => {
    const rules = group.map(({ path, mark }) => mark + path.slice(1).toReversed().join("."));
    return [top, ...rules.toSorted()].join(" ");
  });
  return `|${lines.toSorted().join("|")}|`;
}

writeFileSync(
  FILE,
  `/**
 * Written by \`scripts/build-suffixes.ts\` from the Public Suffix List (https://publicsuffix.org/list/, MPL-2.0).
 * For each top-level domain its rules without that domain: \`|uk ac co …|\`. \`*\` is any label, \`!\` an exception.
 */
export const PUBLIC_SUFFIXES =
  ${JSON.stringify(buildTable(trie))};
`,
);
