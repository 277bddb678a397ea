/** What a child server sees of the gateway's environment: next to nothing. */

const INHERITED = ["PATH", "HOME", "LANG", "TMPDIR", "USER"] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Five harmless variables of the gateway plus those that the configuration names, which win.
 * Everything else stays out: the gateway's own key, tokens of other servers, `NODE_OPTIONS`, `LD_PRELOAD`.
 */
export function toChildEnvironment(base: Environment, named: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => {
    const value = base[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...named };
}
