/** The settings that are in force, with where each is from. Nothing that could be a credential is in them. */

import { parseSettings } from "../config/index.ts";
import type { Settings } from "../config/index.ts";
import { findPlaintextCredentials } from "../vault/index.ts";

export interface DescribedSetting {
  /** As in the configuration, such as `sandbox.limits.wallMs`. */
  readonly key: string;
  /** As JSON. */
  readonly value: string;
  /** `default` also for one that is written with its default. */
  readonly source: "default" | "configuration";
}

/** What sections are called in a configuration, where settings have another name. */
const WRITTEN: Readonly<Record<string, string>> = { upstreams: "mcpServers", apis: "openapi" };
/** Values below these are never shown, only that they are set. */
const HIDDEN = /(?:^|\.)(?:env|headers|auth|clientSecret|proxyToken|password|proxyLogin)(?:\.|$)/;
const NOT_SHOWN = ["source", "folder"];
const SET = '"(set)"';
const MIN_CREDENTIAL = 4;

/** Sorted by key. */
export function describeSettings(settings: Settings): readonly DescribedSetting[] {
  const credentials = findPlaintextCredentials(settings).filter((text) => text.length >= MIN_CREDENTIAL);
  const strip = (text: string): string => credentials.reduce((shown, one) => shown.replaceAll(one, "(set)"), text);
  const usual = new Map(flatten(parseSettings({}, { folder: settings.folder }, {})));
  return flatten(settings)
    .map(([key, value]): DescribedSetting => {
      const source = usual.get(key) === value ? "default" : "configuration";
      const isSecret = HIDDEN.test(key) && key !== "server.auth";
      return { key, value: isSecret ? showReferences(value) : strip(value), source };
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** References to secrets are names; everything else of such a value stays hidden. */
function showReferences(value: string): string {
  const names = [...value.matchAll(/\{"secret":"(\w+)"\}/g)].map(([, name = ""]) => `\${secret:${name}}`);
  return names.length === 0 ? SET : JSON.stringify(names.join(" "));
}

/** Each leaf with its path. Lists, and what has no keys, are leaves. */
function flatten(settings: object): readonly (readonly [key: string, value: string])[] {
  const leaves: (readonly [string, string])[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    const entries = entriesOf(value);
    if (!entries) {
      if (value !== undefined && typeof value !== "function") leaves.push([path.join("."), JSON.stringify(value)]);
      return;
    }
    for (const [key, one] of entries) walk(one, [...path, path.length === 0 ? (WRITTEN[key] ?? key) : key]);
  };
  for (const [key, value] of Object.entries(settings)) if (!NOT_SHOWN.includes(key)) walk({ [key]: value }, []);
  return leaves;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (value instanceof Map) return value.size === 0 ? undefined : [...value].map(([key, one]) => [String(key), one]);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.length === 0 ? undefined : entries;
}
