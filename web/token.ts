/**
 * The token of this start. It arrives in the fragment of the address, which a browser does not send, and moves at once
 * from the address bar into the memory of this tab.
 */

const KEY = "glovebox.token";

/** Returns `undefined` without a token. One in the URL takes precedence over a remembered one. */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null || given === "") return sessionStorage.getItem(KEY) ?? undefined;
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname);
  return given;
}

/** Called when the gateway refuses the token, which belongs to an earlier start. */
export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}
