/** States, effects and labels: always an icon, a word and a color. */

import type { ComponentChildren } from "preact";

import { Icon } from "./icon.tsx";
import type { IconName } from "./icon.tsx";

type Tone = "ok" | "bad" | "wait" | "run" | "idle";

const ICONS: Readonly<Record<Tone, IconName>> = { ok: "done", bad: "cross", wait: "wait", run: "run", idle: "idle" };

export function Status({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`st ${tone}`}>
      <Icon name={ICONS[tone]} small />
      {children}
    </span>
  );
}

const STATES: Readonly<Record<string, Tone>> = {
  running: "run",
  paused: "wait",
  completed: "ok",
  failed: "bad",
  cancelled: "idle",
  pending: "wait",
  approved: "ok",
  rejected: "bad",
  expired: "idle",
  revoked: "idle",
  ready: "ok",
  connecting: "run",
  idle: "idle",
  "needs-login": "wait",
  suspended: "bad",
  closed: "idle",
  ok: "ok",
  error: "bad",
  denied: "bad",
  unknown: "wait",
};
const WORDS: Readonly<Record<string, string>> = { "needs-login": "login needed", connecting: "starting" };

/** Of an execution, an approval, a server or a call. */
export function State({ name }: { readonly name: string }) {
  return <Status tone={STATES[name] ?? "idle"}>{WORDS[name] ?? name}</Status>;
}

/** The effect of a tool, or a label of its data. */
export function Tag({ name }: { readonly name: "read" | "write" | "destroy" | "unknown" | (string & {}) }) {
  const icon = TAGS.find((one) => one === name) ?? "info";
  return (
    <span class={`tag ${name === "unknown" ? "line" : name}`}>
      <Icon name={icon} />
      {name === "unknown" ? "unknown effect" : name}
    </span>
  );
}

const TAGS = ["read", "write", "destroy", "unknown", "private", "untrusted", "external"] as const;
