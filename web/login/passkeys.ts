/** Passkeys in the browser: to make one, and to log in with it. */

import type { LoginAnswer } from "../../src/surfaces/admin/contract.ts";
import { creationSchema, requestSchema } from "../../src/surfaces/admin/login-contract.ts";
import { ApiError } from "../api.ts";
import type { Api } from "../api.ts";

/** True if passkeys count on this page and the browser has what they need. */
export function hasPasskeys({ passkeyOrigin }: LoginAnswer): boolean {
  if (passkeyOrigin !== location.origin || !("PublicKeyCredential" in window)) return false;
  return "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Asks the person for a passkey. With `stepUp` only those of this session count. */
export async function logInWithPasskey(api: Pick<Api, "change" | "enterPasskey">, stepUp = false): Promise<void> {
  const options = await api.change(requestSchema, "/api/login/passkey/start", { stepUp });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  await api.enterPasskey(await ask(() => navigator.credentials.get({ publicKey })));
}

/** Makes one on this device, for the person of the session. */
export async function addPasskey(api: Pick<Api, "addPasskey" | "change">): Promise<void> {
  const options = await api.change(creationSchema, "/api/passkeys/start");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await ask(() => navigator.credentials.create({ publicKey }));
  await api.addPasskey(`${nameDevice()}, ${new Date().toLocaleDateString()}`, made);
}

async function ask(work: () => Promise<Credential | null>): Promise<object> {
  const answer = await work().catch(() => null);
  if (answer instanceof PublicKeyCredential) {
    const json: unknown = answer.toJSON();
    if (typeof json === "object" && json !== null) return json;
  }
  throw new ApiError("refused", "No passkey was chosen, or the device did not verify you.");
}

/** What tells passkeys apart in a list. */
function nameDevice(): string {
  const found = /Android|iPhone|iPad|Macintosh|Windows|CrOS|Linux/.exec(navigator.userAgent);
  return found?.[0] ?? "Browser";
}
