/** Powers that a skill can ask for besides tools: hosts, and secrets that are sent to them. They go beyond its caller. */

import { z } from "zod";

import { GloveboxError, parseJson, parseSecretName } from "../domain/index.ts";
import type { HostPort, NetworkPolicy, SecretGrants, SecretName } from "../domain/index.ts";

type GrantedHost = Extract<NetworkPolicy, { mode: "allowed" }>["hosts"][number];

/** This machine or an IPv4 address, which needs a port. */
const LOCAL = /^(?:localhost|(?:[0-9]{1,3}\.){3}[0-9]{1,3}):[1-9][0-9]{0,4}$/;
/** `host`, `host:port` or `*.domain`: ASCII names only. */
const HOST = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?(?::[1-9][0-9]{0,4})?$/;
const MOST = 20;
const REASON_CHARS = 1_024;
const MOST_PORT = 65_535;

const host = z
  .string()
  .max(260)
  .refine(
    (text) => HOST.test(text) || LOCAL.test(text),
    "expected a host such as api.example.com, or an address with its port",
  )
  .refine((text) => (toPattern(text).port ?? 1) <= MOST_PORT, "expected a port up to 65535");
const secretName = z.custom<SecretName>((raw) => parseSecretName(raw) !== undefined, "expected the name of a secret");
const reason = z.string().max(REASON_CHARS).default("");
const hosts = z.array(host).min(1).max(MOST);
const places = z
  .array(z.enum(["header", "body"]))
  .min(1)
  .default(["header"]);

/** `needs.hosts` and `needs.secrets` of a skill. */
export const POWER_NEEDS = {
  hosts: z
    .array(z.union([host.transform((name) => ({ host: name, reason: "" })), z.strictObject({ host, reason })]))
    .max(MOST)
    .default([]),
  secrets: z
    .array(z.strictObject({ name: secretName, hosts, in: places, reason }))
    .max(MOST)
    .default([]),
};

const GRANTED = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("host"), host }),
  z.strictObject({ kind: z.literal("secret"), name: secretName, hosts, places }),
]);
export type SkillPower = Readonly<z.infer<typeof GRANTED>>;

/** A power that a skill asks for, and why. */
export interface WantedPower {
  readonly power: SkillPower;
  readonly reason: string;
}

type PowerNeeds = { readonly [Key in keyof typeof POWER_NEEDS]: z.output<(typeof POWER_NEEDS)[Key]> };

/** Throws REQUEST_INVALID for one that is asked for twice, or a secret for a host that is not. */
export function toWanted({ hosts: wanted, secrets }: PowerNeeds): readonly WantedPower[] {
  const all: readonly WantedPower[] = [
    ...wanted.map(({ host: name, reason: why }) => ({ power: { kind: "host" as const, host: name }, reason: why })),
    ...secrets.map(({ name, hosts: bound, in: parts, reason: why }) => ({
      power: { kind: "secret" as const, name, hosts: bound, places: parts },
      reason: why,
    })),
  ];
  const ids = all.map(({ power }) => toPowerId(power));
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw refuse(`\`needs\` of skill.ts lists ${twice} twice`);
  const own = new Set(wanted.map(({ host: name }) => name));
  const open = secrets.flatMap(({ hosts: bound }) => bound).find((name) => !own.has(name));
  if (open !== undefined) throw refuse(`A secret is for ${open}, which needs.hosts does not list`);
  return all;
}

function refuse(message: string): GloveboxError {
  return new GloveboxError("REQUEST_INVALID", message, { hint: "docs/guide/skills.md shows the form" });
}

/** Names it in a decision. */
export function toPowerId(power: SkillPower): string {
  return power.kind === "host" ? `host:${power.host}` : `secret:${power.name}`;
}

export function describePower(power: SkillPower): string {
  return power.kind === "host" ? power.host : `${power.name} to ${power.hosts.join(", ")} (${power.places.join(", ")})`;
}

/** `undefined` for what is not a grant of a power. */
export function parsePower(raw: unknown): SkillPower | undefined {
  return GRANTED.safeParse(raw).data;
}

/** The powers among stored grants. */
export function parsePowers(text: string): readonly SkillPower[] {
  const all = parseJson(text);
  return Array.isArray(all) ? all.flatMap((one: unknown) => parsePower(one) ?? []) : [];
}

/** What egress and the vault enforce; a secret only goes to hosts that were granted, too. */
export function toSkillPowers(granted: readonly SkillPower[]) {
  if (granted.length === 0) return undefined;
  const open = granted.flatMap((one) => (one.kind === "host" ? [one.host] : []));
  const network: NetworkPolicy = {
    mode: "allowed",
    hosts: open.filter((one) => !LOCAL.test(one)).map(toPattern),
    grants: open.filter((one) => LOCAL.test(one)).map(toLocal),
    setting: "the hosts that the skill was granted",
  };
  const secrets: SecretGrants = new Map(
    granted.flatMap((one) => {
      if (one.kind !== "secret") return [];
      const bound = one.hosts.filter((name) => open.includes(name));
      const to = bound.map((written) => ({ written, pattern: toPattern(written), isPlain: false }));
      return [[one.name, { hosts: to, places: one.places, principals: [] }]];
    }),
  );
  return { network, secrets };
}

function toLocal(text: string): HostPort {
  const { name, port } = toPattern(text);
  return { host: name, port: port ?? 0 };
}

function toPattern(text: string): GrantedHost {
  const isBelow = text.startsWith("*.");
  const [name = "", port] = text.slice(isBelow ? 2 : 0).split(":");
  return { name, isBelow, port: port === undefined ? null : Number(port) };
}

export interface PowerPlaces {
  /** The secrets that are set. */
  readonly listSecrets: () => Promise<readonly { readonly name: string }[]>;
  /** What everything in the gateway may reach at most. */
  readonly ceiling?: NetworkPolicy | undefined;
}

/** Says which granted host or secret is no longer there, as the end of a sentence. */
export async function findMissing(
  granted: readonly SkillPower[],
  { listSecrets, ceiling }: PowerPlaces,
): Promise<string | undefined> {
  const closed = granted.find((one) => one.kind === "host" && !isWithin(one.host, ceiling));
  if (closed) return `the host ${describePower(closed)} is not within egress.networkPolicy`;
  const wanted = granted.flatMap((one) => (one.kind === "secret" ? [one.name] : []));
  if (wanted.length === 0) return undefined;
  const set = new Set((await listSecrets()).map(({ name }) => name));
  const unset = wanted.find((name) => !set.has(name));
  return unset === undefined ? undefined : `the secret ${unset} is not set`;
}

function isWithin(text: string, ceiling: NetworkPolicy | undefined): boolean {
  const { name, isBelow, port } = toPattern(text);
  if (!ceiling) return true;
  if (ceiling.mode === "blocked") return false;
  if (LOCAL.test(text)) return ceiling.grants.some((one) => one.host === name && one.port === port);
  if (ceiling.mode === "unrestricted") return true;
  return ceiling.hosts.some((most) => {
    const isSame = most.name === name && most.isBelow === isBelow;
    return most.port === port && (isSame || (most.isBelow && name.endsWith(`.${most.name}`)));
  });
}
