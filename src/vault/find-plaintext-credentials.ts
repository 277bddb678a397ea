/**
 * Finds credentials that a configuration holds as plain text, because an environment variable was expanded or someone
 * wrote them there. They are not in the vault, but they must be masked like its secrets.
 */

import type { ApiSettings, SecretTemplate, ServerSettings, UpstreamSettings } from "../domain/index.ts";

import type { Mask } from "./mask.ts";
import type { Vault } from "./vault.ts";

/** Words in the names of headers, variables and options that hold a credential. */
const CREDENTIAL_WORD =
  /^(?:api)?(?:keys?|tokens?|secrets?|pass|passwd|password|passphrase|pwd|pat|credentials?|cookies?|auth|authorization|bearer)$/;
/** Shorter strings occur in ordinary words. */
const MIN_LENGTH = 8;
/** The scheme before the credential itself: `Bearer …`. */
const SCHEME_WORD = /^[A-Za-z-]{1,20}\s+/;
/** `postgres://user:password@host`. */
const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]*:([^/?#\s@]+)@/i;
const RANDOM = /^(?=.*[A-Za-z])(?=.*\d)[\w+/=.~-]{20,}$/;
const PATH_OR_URL = /^(?:[.~]{0,2}\/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/)/i;

type NamedString = readonly [name: string, text: string];

/** Returns the credentials of every MCP server and API. */
export function findPlaintextCredentials({
  upstreams,
  apis,
}: Pick<UpstreamSettings, "upstreams" | "apis">): readonly string[] {
  return [...[...upstreams.values()].flatMap(findInServer), ...[...apis.values()].flatMap(findInApi)];
}

/**
 * Masks every secret that is set and every plaintext credential; `mask` is also that of the vault. A gateway masks
 * secrets as it uses them; a command that only shows things has to mask all of them first.
 */
export async function maskKnownSecrets(
  settings: Pick<UpstreamSettings, "upstreams" | "apis">,
  vault: Pick<Vault, "known">,
  mask: Pick<Mask, "add">,
): Promise<void> {
  await vault.known(); // adds them to the vault's mask
  for (const credential of findPlaintextCredentials(settings)) mask.add(credential);
}

/** Looks into the variables, options, headers and URL of an MCP server. */
export function findInServer(server: ServerSettings): readonly string[] {
  if (server.transport !== "stdio") return findCredentials([...toNamed(server.headers), ...fromUrl(server.url)]);
  return findCredentials([...toNamed(server.env), ...fromOptions(server.args)]);
}

/** Looks into the headers and URLs of an API. Every plain value of `auth` is a credential. */
export function findInApi({ headers, auth, baseUrl, document }: ApiSettings): readonly string[] {
  const urls = [baseUrl, document.kind === "url" ? document.url : undefined];
  const named = [...toNamed(headers), ...urls.flatMap((url) => (url === undefined ? [] : fromUrl(url)))];
  return findCredentials([...named, ...toNamed(auth).map(([, text]): NamedString => ["auth", text])]);
}

/** Skips templates with a secret in them: the plain part beside it (`Bearer `, `user:`) is not secret. */
function toNamed(templates: Readonly<Record<string, SecretTemplate>>): readonly NamedString[] {
  return Object.entries(templates).flatMap(([name, [first, ...rest]]): readonly NamedString[] =>
    typeof first === "string" && rest.length === 0 ? [[name, first]] : [],
  );
}

/** Understands `--token=value` and `--token value`; every other argument has no name. */
function fromOptions(args: readonly string[]): readonly NamedString[] {
  return args.map((arg, index): NamedString => {
    const [, name, text] = /^-+([\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (name !== undefined && text !== undefined) return [name, text];
    const before = args[index - 1] ?? "";
    return [before.startsWith("-") && !arg.startsWith("-") ? before : "", arg];
  });
}

function fromUrl(text: string): readonly NamedString[] {
  return URL.canParse(text) ? [["", text], ...new URL(text).searchParams] : [];
}

/** Selects strings with a telling name, passwords in URLs, and strings that look random. */
function findCredentials(named: readonly NamedString[]): readonly string[] {
  const found = named.flatMap(([name, text]) => {
    const [, password] = PASSWORD_IN_URL.exec(text) ?? [];
    if (password !== undefined) return [password, decode(password)];
    const bare = text.replace(SCHEME_WORD, "");
    if (PATH_OR_URL.test(bare)) return [];
    return isCredentialName(name) || RANDOM.test(bare) ? [text, bare] : [];
  });
  return found.filter((text) => text.length >= MIN_LENGTH);
}

/** True for `MAX_TOKENS` too, whose value is too short to matter; false for `AUTHOR` and `monkey`. */
function isCredentialName(name: string): boolean {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  return words.some((word) => CREDENTIAL_WORD.test(word.toLowerCase()));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
