/** Turns secret references into the plain strings that a process or a request is made of. */

import type { SecretTemplate } from "../domain/index.ts";
import { fillTemplates } from "../vault/index.ts";
import type { Mask, Vault } from "../vault/index.ts";

/** Pass the strings on and do not keep them. Rejects when a secret is missing. */
export async function resolveTemplates(
  templates: Readonly<Record<string, SecretTemplate>>,
  vault: Pick<Vault, "lend">,
  purpose: string,
): Promise<Readonly<Record<string, string>>> {
  const filled = Object.entries(await fillTemplates(templates, vault, purpose));
  return Object.fromEntries(filled.map(([name, secret]) => [name, secret.reveal()]));
}

/** Returns the login for a proxy and masks its password, which may be plain or contain secrets. */
export async function resolveProxyLogin(
  { user, password }: { readonly user: string; readonly password: SecretTemplate },
  vault: Pick<Vault, "lend">,
  mask: Pick<Mask, "add">,
): Promise<{ readonly user: string; readonly password: string }> {
  const { password: resolved = "" } = await resolveTemplates({ password }, vault, "proxy");
  mask.add(resolved);
  return { user, password: resolved };
}
