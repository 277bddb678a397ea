/** Which network policies hold for a call: the upstream's own, and those of every pattern that its tool fits. */

import type { NetworkPolicy, UpstreamNetwork } from "../domain/index.ts";

/** What an upstream has whose configuration says nothing about its network. */
export const PLAIN_NETWORK: UpstreamNetwork = { tools: [] };

/** All of them have to allow a request; `fits` says whether a pattern means the tool. */
export function policiesOf(
  { policy, tools }: UpstreamNetwork,
  fits: (pattern: string) => boolean = () => false,
): readonly NetworkPolicy[] {
  const own = tools.filter(({ pattern }) => fits(pattern)).map((tool) => tool.policy);
  return policy ? [policy, ...own] : own;
}

/** `*` stands for any text; case makes no difference. */
export function matchesText(pattern: string, text: string): boolean {
  return fitsPattern(pattern.toLowerCase(), text.toLowerCase());
}

/** Each piece between stars is looked for behind the one before it, so no pattern takes long. */
function fitsPattern(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let position = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return position <= text.length - last.length;
}
