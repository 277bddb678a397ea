/** The credentials that an upstream's settings hold as plain text: written there, or filled in from a variable. */

import type { ApiSettings, SecretTemplate, ServerSettings } from "./domain/index.ts";
import { findCredentials } from "./vault/index.ts";

type Named = readonly [name: string, text: string];

/** Of an MCP server: in its variables, options, headers and address. */
export function findWritten(upstream: ServerSettings): readonly string[] {
  if (upstream.transport !== "stdio") {
    return findCredentials([...toNamed(upstream.headers), ...fromUrl(upstream.url)]);
  }
  return findCredentials([...toNamed(upstream.env), ...fromOptions(upstream.args)]);
}

/** Of an API: in its headers and addresses. Whatever stands in `auth` is one. */
export function findWrittenInApi({ headers, auth, baseUrl, document }: ApiSettings): readonly string[] {
  const addresses = [baseUrl, document.kind === "url" ? document.url : undefined];
  const named = [...toNamed(headers), ...addresses.flatMap((url) => (url === undefined ? [] : fromUrl(url)))];
  return findCredentials([...named, ...toNamed(auth).map(([, text]): Named => ["auth", text])]);
}

/** What is written beside a secret is no secret: `Bearer `, `user:`. */
function toNamed(templates: Readonly<Record<string, SecretTemplate>>): readonly Named[] {
  return Object.entries(templates).flatMap(([name, [first, ...rest]]): readonly Named[] =>
    typeof first === "string" && rest.length === 0 ? [[name, first]] : [],
  );
}

/** `--token=value` and `--token value`; every other argument is looked at without a name. */
function fromOptions(args: readonly string[]): readonly Named[] {
  return args.map((arg, index): Named => {
    const [, name, text] = /^-+([\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (name !== undefined && text !== undefined) return [name, text];
    const before = args[index - 1] ?? "";
    return [before.startsWith("-") && !arg.startsWith("-") ? before : "", arg];
  });
}

function fromUrl(text: string): readonly Named[] {
  return URL.canParse(text) ? [["", text], ...new URL(text).searchParams] : [];
}
