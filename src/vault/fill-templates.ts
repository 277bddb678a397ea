/** Puts secrets into the texts that name them, at the moment an upstream starts and for that upstream alone. */

import type { SecretName } from "../domain/index.ts";

import type { Vault } from "./open-vault.ts";

/** Text with the secrets left out. */
export type SecretTemplate = readonly (string | { readonly secret: SecretName })[];

/** The finished texts, which the caller hands on and does not keep. Rejects when a secret is missing. */
export async function fillTemplates(
  templates: Readonly<Record<string, SecretTemplate>>,
  vault: Pick<Vault, "lend">,
  purpose: string,
): Promise<Record<string, string>> {
  const entries = Object.entries(templates).map(async ([key, parts]): Promise<[string, string]> => {
    const texts = parts.map(async (part) =>
      typeof part === "string" ? part : (await vault.lend(part.secret, purpose)).reveal(),
    );
    return [key, (await Promise.all(texts)).join("")];
  });
  return Object.fromEntries(await Promise.all(entries));
}
