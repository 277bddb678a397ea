/** The planted secrets, and a search for them that shares no code with the product. */

import { randomBytes } from "node:crypto";

const random = (bytes: number): string => randomBytes(bytes).toString("hex");
const key = randomBytes(16).toString("base64");

/** By the place where they are planted. Each looks like a real secret of its kind. */
export const CANARIES = {
  vaultPlain: `canary1${random(12)}`,
  vaultOdd: `c2/+"q<&'>é=~ ${random(8)}`,
  literalKey: `-----BEGIN KEY-----\n${key}${random(8)}\n${random(16)}${key}\n-----END KEY-----`,
  vaultShared: `canary4-${random(10)}`,
  literalToken: `canary5-${random(10)}`,
  variableToken: `canary6-${random(10)}`,
  variableRandom: `canary7${random(12)}`,
  passwordInUrl: `canary8${random(10)}`,
  bearer: `canary9.${random(10)}`,
  customHeader: `canary10-${random(10)}`,
  variableHeader: `canary11-${random(10)}`,
  queryToken: `canary12${random(10)}`,
  apiKey: `canary13-${random(10)}`,
  apiHeader: `canary14-${random(10)}`,
  apiVariable: `canary15-${random(10)}`,
  adapterKey: `canary16-${random(10)}`,
  encryptionKey: random(32),
  option: `canary18-${random(10)}`,
  otherServer: `canary19-${random(10)}`,
  crashed: `canary20-${random(10)}`,
} as const;

export type CanaryName = keyof typeof CANARIES;

/** The part of the base64 form of `text` that does not depend on the bytes before and after it. */
function coreOf(text: string, before: number, encoding: "base64" | "base64url"): string {
  const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
  const start = [0, 2, 3][before] ?? 0;
  const full = Math.floor((whole.length * 8) / 6);
  return whole.toString(encoding).slice(start, full);
}

function encodingsOf(text: string): readonly string[] {
  const hex = Buffer.from(text).toString("hex");
  const json = JSON.stringify(text).slice(1, -1);
  const html = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const cores = [0, 1, 2].flatMap((before) => [coreOf(text, before, "base64"), coreOf(text, before, "base64url")]);
  const escaped = [json, JSON.stringify(json).slice(1, -1), html, html.replaceAll("'", "&#39;")];
  return [text, hex, hex.toUpperCase(), encodeURIComponent(text), ...cores, ...escaped];
}

/** One line of a canary with several lines is enough to find it. */
function needlesOf(secret: string): readonly Buffer[] {
  const lines = secret.split("\n").filter((line) => line.length > 20);
  const texts = new Set([secret, ...lines].flatMap(encodingsOf));
  return [...texts].map((text) => Buffer.from(text));
}

/** Returns the names of the secrets that occur in these bytes, in any encoding. */
export function findCanaries(bytes: Buffer | string, secrets: Readonly<Record<string, string>>): readonly string[] {
  const hay = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  return Object.entries(secrets).flatMap(([name, secret]) =>
    needlesOf(secret).some((needle) => hay.includes(needle)) ? [name] : [],
  );
}
