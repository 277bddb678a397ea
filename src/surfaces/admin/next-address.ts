/** Where a login leads to: a path of this page, whatever the address says. */

/** Returns an absolute address of `origin`; the start page for anything that leads elsewhere. */
export function toNextAddress(raw: string | null, origin: string): string {
  const start = `${origin}/`;
  if (raw === null || !raw.startsWith("/")) return start;
  const url = URL.parse(raw, origin);
  return url !== null && url.origin === origin && url.pathname !== "/login" ? url.href : start;
}
