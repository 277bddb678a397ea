/** The vault of a configuration: it seals backups of clients' files, and keeps their secrets. */

import type { Settings } from "../../../config/index.ts";
import { GloveboxError, parseSecretName } from "../../../domain/index.ts";
import type { SecretName } from "../../../domain/index.ts";
import { Secret } from "../../../vault/index.ts";
import type { Invocation } from "../add-command.ts";

export async function openSealedRecords(
  { powers, principal }: Pick<Invocation, "powers" | "principal">,
  settings: Settings,
) {
  const records = await powers.openRecords(settings);
  try {
    const { vault } = records;
    await vault.ready();
    return {
      seal: await vault.openSeal(),
      setSecret: (name: string, value: string) => vault.set(toName(name), new Secret(value), principal.id),
      removeSecret: (name: string) => vault.remove(toName(name), principal.id),
      [Symbol.asyncDispose]: () => records[Symbol.asyncDispose](),
    };
  } catch (thrown) {
    await records[Symbol.asyncDispose]();
    throw thrown;
  }
}

function toName(text: string): SecretName {
  const name = parseSecretName(text);
  if (name) return name;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(text)} is not a valid secret name`, {
    hint: "Use letters, digits and underscores, a letter first",
  });
}
