/** Reads the arguments of npx: which package it would fetch, and what of it it would run. Pure. */

export interface NpxRequest {
  /** As npm takes it: `name`, `name@1.2.3`, `name@^1` or `name@latest`. */
  readonly spec: string;
  readonly name: string;
  /** The command of the package; `undefined` is the one that npx would choose. */
  readonly bin: string | undefined;
  readonly args: readonly string[];
}

/** Options that only tell npx not to ask or to print less. */
const QUIET = ["-y", "--yes", "-q", "--quiet"];
const PACKAGE = ["-p", "--package"];
/** A package of a registry. Addresses, folders and aliases have no version that a registry vouches for. */
const SPEC = /^((?:@[a-z0-9~_-][\w.~-]*\/)?[a-z0-9~_-][\w.~-]*)(?:@([^\s/:@]+))?$/i;

/** Returns why it cannot be pinned if it asks for more than one package of a registry. */
export function parseNpx(all: readonly string[]): NpxRequest | { readonly problem: string } {
  const rest = [...all];
  let named: string | undefined;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (QUIET.includes(word)) continue;
    const [option = "", value] = word.startsWith("--") ? word.split("=", 2) : [word];
    if (PACKAGE.includes(option)) {
      if (named !== undefined) return { problem: "it names more than one package" };
      named = value ?? rest.shift();
      continue;
    }
    const first = word === "--" ? rest.shift() : word;
    if (first === undefined) break;
    if (word !== "--" && word.startsWith("-")) return { problem: `its option ${option} is not supported` };
    return named === undefined ? toRequest(first, undefined, rest) : toRequest(named, first, rest);
  }
  return { problem: "it names no package" };
}

function toRequest(
  spec: string,
  bin: string | undefined,
  args: readonly string[],
): NpxRequest | { readonly problem: string } {
  const [, name] = SPEC.exec(spec) ?? [];
  if (name === undefined) return { problem: `${JSON.stringify(spec)} is not the name of a package in a registry` };
  return { spec, name, bin, args };
}
