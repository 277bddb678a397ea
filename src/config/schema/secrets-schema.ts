/** The part of the schema that grants secrets to programs, and the settings that it becomes. */

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
        'Where it may be sent, over https: "host", "host:port" or "*.domain"; a local name or an address with its port. "http://" before one sends it there unencrypted.',
    }),
    in: z
      .array(z.enum(["header", "body"]))
      .min(1)
      .default(["header"])
      .meta({ description: "The parts of a request that it may be put into: header, body or both." }),
    principals: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: "Whose programs may use it, by name. Left out, everybody's." }),
  })
  .meta({ description: "The grant of one secret." });

export const secretGrantsSchema = z
  .record(z.string(), grantSchema)
  .default({})
  .meta({ description: "Secrets of the vault that programs may use as secrets.NAME, without reading them." });

/** What every object has, or the language asks of it by itself: `secrets.then` must not be a secret. */
const TAKEN: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ..."applySync copyInto derefInto then toJSON".split(" "),
]);

/** Whether a secret of this name can be one of `secrets` in a program. */
export function isGrantable(name: string): boolean {
  return parseSecretName(name) !== undefined && !TAKEN.has(name);
}

/** Of grants that passed the schema and the check of their names. */
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
