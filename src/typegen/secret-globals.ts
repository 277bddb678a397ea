/** The declaration of `secrets`: which ones programs of one principal have, and where each is of use. */

import type { SecretGrant, SecretGrants } from "../domain/index.ts";
import { toCommentText } from "./escape-text.ts";

const COMMENT = `/** Texts that stand for secrets. In a \`fetch\` to a host that one is granted for, the host puts the value in; anywhere else it stays a useless text. */`;
const MAX_HOSTS_LENGTH = 500;

/** Declared without any, too, so that whoever writes one is told before the program runs. */
export function declareSecrets(grants: SecretGrants): string {
  if (grants.size === 0) return "declare const secrets: {};";
  const members = [...grants].map(([name, grant]) => `${describe(grant)}\n  readonly ${name}: string;`);
  return `${COMMENT}\ndeclare const secrets: {\n  ${members.join("\n  ")}\n};`;
}

function describe({ hosts, places }: SecretGrant): string {
  const where = toCommentText(hosts.map(({ written }) => written).join(", "), MAX_HOSTS_LENGTH);
  return `/** In the ${places.map((place) => WORDS[place]).join(" or the ")} of a request to ${where}. */`;
}

const WORDS = { header: "headers", body: "body" } as const;
