/** What narrows the records. Every filter is in the address, so that a search can be shared. */

import { useEffect, useState } from "preact/hooks";

import { Icon } from "../../parts/icon.tsx";
import { SearchBox } from "../../parts/list.tsx";
import { Visible } from "../../parts/text.tsx";
import { navigate, place, withQuery } from "../../router.ts";

const HOUR_MS = 3_600_000;
/** Delay between the last key stroke and the search. */
const PAUSE_MS = 250;

/** Actions by their first word. */
const ACTIONS = [
  "call",
  "execution",
  "approval",
  "input",
  "policy",
  "labels",
  "secret",
  "tool",
  "upstream",
  "package",
  "skill",
  "person",
  "role",
  "token",
  "session",
  "login",
  "consent",
  "client",
  "anomaly",
  "configuration",
  "gateway",
  "ledger",
];
const OUTCOMES = [
  "ok",
  "error",
  "denied",
  "pending",
  "unknown",
  "completed",
  "failed",
  "cancelled",
  "allow",
  "ask",
  "deny",
];
const PERIODS = [
  ["1", "last hour"],
  ["24", "last 24 hours"],
  ["168", "last 7 days"],
  ["720", "last 30 days"],
] as const;

export interface LedgerFilter {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly outcome?: string;
  readonly execution?: string;
  readonly since?: number;
}

/** As the API takes it. `since` is in hours in the address, so that a shared search keeps its meaning. */
export function toFilter(query: URLSearchParams, now: number): LedgerFilter {
  const pick = (name: string) => {
    const value = query.get(name);
    return value === null || value === "" ? {} : { [name]: value };
  };
  const hours = Number(query.get("since") ?? 0);
  return {
    ...pick("actor"),
    ...pick("action"),
    ...pick("subject"),
    ...pick("outcome"),
    ...pick("execution"),
    ...(hours > 0 && { since: Math.floor(now - hours * HOUR_MS) }),
  };
}

export function Filters() {
  const { query } = place.value;
  const set = (name: string, value: string): void => navigate(withQuery(name, value), "replace");
  return (
    <div class="bar">
      <SubjectSearch subject={query.get("subject") ?? ""} onSearch={(subject) => set("subject", subject)} />
      <Choose label="Action" name="action" options={ACTIONS.map((one) => [one, `${one}.*`])} onChoose={set} />
      <Choose label="Outcome" name="outcome" options={OUTCOMES.map((one) => [one, one])} onChoose={set} />
      <Choose label="Period" name="since" options={PERIODS} onChoose={set} />
      {["actor", "execution"].map((name) => (
        <Chip key={name} name={name} value={query.get(name) ?? ""} onClear={() => set(name, "")} />
      ))}
    </div>
  );
}

/** A subject is compared as a whole, so it is sent when the person stops to type. */
function SubjectSearch(props: { readonly subject: string; readonly onSearch: (subject: string) => void }) {
  const { subject, onSearch } = props;
  const [text, setText] = useState(subject);
  useEffect(() => setText(subject), [subject]);
  useEffect(() => {
    if (text.trim() === subject) return undefined;
    const timer = setTimeout(() => onSearch(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <SearchBox
      id="subject"
      label="Subject"
      placeholder="Tool, id or other subject, in full"
      value={text}
      onText={setText}
    />
  );
}

interface ChooseProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (name: string, value: string) => void;
}

/** Has the value of the address too if it is not among the options: a link may name any. */
function Choose({ label, name, options, onChoose }: ChooseProps) {
  const value = place.value.query.get(name) ?? "";
  const isListed = value === "" || options.some(([one]) => one === value);
  return (
    <select
      class="select"
      aria-label={label}
      value={value}
      onChange={(event) => onChoose(name, event.currentTarget.value)}
    >
      <option value="">{`${label}: any`}</option>
      {!isListed && <option value={value}>{value}</option>}
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  );
}

function Chip(props: { readonly name: string; readonly value: string; readonly onClear: () => void }) {
  const { name, value, onClear } = props;
  if (value === "") return null;
  return (
    <button class="chip on" type="button" aria-label={`Clear ${name}`} onClick={onClear}>
      {name}{" "}
      <b>
        <Visible text={value} />
      </b>
      <Icon name="cross" small />
    </button>
  );
}
