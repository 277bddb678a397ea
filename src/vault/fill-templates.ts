/** Replaces secret references by their values when they are needed. */

import type { SecretTemplate } from "../domain/index.ts";

import type { Vault } from "./vault.ts";
import { Secret } from "./secret.ts";

/** Returns the resolved strings, each as one secret. Rejects when a secret is missing. */
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
