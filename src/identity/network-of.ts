/** What counts as one address for limits: a network of IPv6 is as easy to get as an address of IPv4. */

const GROUPS = 8;
/** Providers give a whole /64 to one customer. */
const KEPT = 4;

/** The /64 of an IPv6 address, and anything else as it is. */
export function networkOf(origin: string): string {
  const url = origin.includes(":") ? URL.parse(`http://[${origin.replace(/%.*$/, "")}]`) : null;
  if (!url) return origin;
  const canonical = url.hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(GROUPS - head.length - tail.length).fill("0");
  return `${[...head, ...zeros, ...tail].slice(0, KEPT).join(":")}::/64`;
}
