/** Schema of `sandbox.secrets`: grants of secrets to programs, and the settings they become. */

import { z } from "zod";

import { parseSecretName } from "../../domain/index.ts";
import type { SecretGrant, SecretGrants, SecretName } from "../../domain/index.ts";
import { readable, valueOf } from "./network-schema.ts";
import { readSecretHost } from "./values/host-pattern.ts";

const MAX_HOSTS = 100;

const grantSchema = z
  .strictObject({
    hosts: z.array(readable(readSecretHost)).min(1).max(MAX_HOSTS).meta({
      description:
        'Where the secret may be sent, over https: "host", "host:port" or "*.domain"; a local name or an address needs a port. The prefix "http://" allows it to be sent unencrypted.',
    }),
    in: z
      .array(z.enum(["header", "body"]))
      .min(1)
      .default(["header"])
      .meta({ description: "The parts of a request that may contain the secret: header, body or both." }),
    principals: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: "Principals whose programs may use the secret, by name. Default: all." }),
  })
  .meta({ description: "The grant of one secret." });

export const secretGrantsSchema = z
  .record(z.string(), grantSchema)
  .default({})
  .meta({ description: "Secrets of the vault that programs may use as secrets.NAME without reading them." });

/** Properties of every object, and methods that the language calls: `secrets.then` must not be a secret. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ..."applySync copyInto derefInto then toJSON".split(" "),
]);

/** True if a secret of this name can be a property of `secrets` in a program. */
export function isGrantable(name: string): boolean {
  return parseSecretName(name) !== undefined && !TAKEN.has(name);
}

/** Converts grants that passed the schema and `checkRelations`. */
export function toSecretGrants(checked: z.output<typeof secretGrantsSchema>): SecretGrants {
  return new Map(Object.entries(checked).map(([name, grant]) => [toName(name), toGrant(grant)]));
}

function toGrant({ hosts, in: places, principals = [] }: z.output<typeof grantSchema>): SecretGrant {
  return { hosts: hosts.map((text) => valueOf(readSecretHost(text))), places: [...new Set(places)], principals };
}

function toName(raw: string): SecretName {
  const name = parseSecretName(raw);
  if (name === undefined) throw new TypeError("The name of a granted secret was not checked");
  return name;
}
