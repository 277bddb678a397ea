/** Puts secrets into the texts that name them, at the moment an upstream starts and for that upstream alone. */

import type { SecretTemplate } from "../domain/index.ts";

import type { Vault } from "./open-vault.ts";
import { Secret } from "./secret.ts";

/** The finished texts, each a secret as a whole. Rejects when a secret is missing. */
export async function fillTemplates(
  templates: Readonly<Record<string, SecretTemplate>>,
  vault: Pick<Vault, "lend">,
  purpose: string,
): Promise<Readonly<Record<string, Secret>>> {
  const entries = Object.entries(templates).map(async ([key, parts]): Promise<[string, Secret]> => {
    const texts = parts.map(async (part) =>
      typeof part === "string" ? part : (await vault.lend(part.secret, purpose)).reveal(),
    );
    return [key, new Secret((await Promise.all(texts)).join(""))];
  });
  return Object.fromEntries(await Promise.all(entries));
}
