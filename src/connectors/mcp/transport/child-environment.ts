/** What a child server sees of the gateway's environment. */

const INHERITED = ["PATH", "HOME", "LANG", "TMPDIR", "USER"] as const;

/**
 * Five harmless variables of the gateway plus those that the configuration names, which take precedence.
 * Everything else is left out: the gateway's own key, tokens of other servers, `NODE_OPTIONS`, `LD_PRELOAD`.
 */
export function toChildEnvironment(
  base: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => {
    const value = base[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...configured };
}
