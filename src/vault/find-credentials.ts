/**
 * Credentials that stand in a configuration as plain text, because a variable was filled in or somebody wrote them
 * there. The vault does not know them, but they are as secret as its own.
 */

/** Words in the names of headers, variables and options that hold a credential. */
const TELLING =
  /^(?:api)?(?:keys?|tokens?|secrets?|pass|passwd|password|passphrase|pwd|pat|credentials?|cookies?|auth|authorization|bearer)$/;
/** Shorter texts are found in ordinary words. */
const SHORTEST = 8;
/** What stands before the credential itself: `Bearer …`. */
const SCHEME_WORD = /^[A-Za-z-]{1,20}\s+/;
/** `postgres://user:password@host`. */
const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]*:([^/?#\s@]+)@/i;
const RANDOM = /^(?=.*[A-Za-z])(?=.*\d)[\w+/=.~-]{20,}$/;
const PLACE = /^(?:[.~]{0,2}\/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/)/i;

/** The credentials among named texts: what a name calls one, passwords in URLs, and what looks like nothing else. */
export function findCredentials(named: Iterable<readonly [name: string, text: string]>): readonly string[] {
  const found = [...named].flatMap(([name, text]) => {
    const [, password] = PASSWORD_IN_URL.exec(text) ?? [];
    if (password !== undefined) return [password, decode(password)];
    const bare = text.replace(SCHEME_WORD, "");
    if (PLACE.test(bare)) return [];
    return isTelling(name) || RANDOM.test(bare) ? [text, bare] : [];
  });
  return found.filter((text) => text.length >= SHORTEST);
}

/** `MAX_TOKENS` tells, and a number is too short; `AUTHOR` and `monkey` do not. */
function isTelling(name: string): boolean {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  return words.some((word) => TELLING.test(word.toLowerCase()));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
