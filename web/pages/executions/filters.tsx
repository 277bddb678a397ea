/** The filters of the list. They are in the address, so a filtered list can be bookmarked and shared. */

import { useEffect, useState } from "preact/hooks";

import type { ExecutionQuery } from "../../parts/executions-api.ts";
import { SearchBox } from "../../parts/list.tsx";
import { useKey } from "../../parts/use-rows.ts";
import { navigate, place, withQuery } from "../../router.ts";

const STATES = ["running", "paused", "completed", "failed", "cancelled"];
const HOUR_MS = 3_600_000;
const PERIODS = [
  { name: "1h", words: "Last hour", ms: HOUR_MS },
  { name: "24h", words: "Last 24 hours", ms: 24 * HOUR_MS },
  { name: "7d", words: "Last 7 days", ms: 7 * 24 * HOUR_MS },
] as const;
const NAMES = ["state", "search", "server", "tool", "principal", "since", "until"] as const;
const MORE = ["server", "tool", "principal", "since", "until"] as const;
/** Delay between the last key stroke and the search. */
const PAUSE_MS = 200;

type FilterName = (typeof NAMES)[number];
export type FilterValues = Readonly<Record<FilterName, string>>;

export function readFilters(): FilterValues {
  const { query } = place.value;
  const read = (name: FilterName): string => query.get(name) ?? "";
  return {
    state: read("state"),
    search: read("search"),
    server: read("server"),
    tool: read("tool"),
    principal: read("principal"),
    since: read("since"),
    until: read("until"),
  };
}

/** A period counts back from now, when it is asked; anything else is a local date and time. */
export function toExecutionQuery({ since, until, ...rest }: FilterValues, limit: number): ExecutionQuery {
  return { ...rest, limit, since: toMoment(since), until: toMoment(until) };
}

function toMoment(text: string): number | undefined {
  const period = PERIODS.find(({ name }) => name === text);
  if (period) return Date.now() - period.ms;
  const at = text === "" ? Number.NaN : Date.parse(text);
  return Number.isFinite(at) ? at : undefined;
}

export function countFilters(values: FilterValues): number {
  return NAMES.filter((name) => values[name] !== "").length;
}

const setFilter = (name: FilterName, value: string): void => navigate(withQuery(name, value), "replace");

interface FiltersProps {
  readonly values: FilterValues;
  readonly servers: readonly string[];
}

export function Filters({ values, servers }: FiltersProps) {
  const isOpen = MORE.some((name) => values[name] !== "");
  useKey("/", () => document.getElementById("search")?.focus());
  return (
    <>
      <div class="bar">
        <Text name="search" value={values.search} isSearch />
        <select
          class="select"
          aria-label="State"
          value={values.state}
          onChange={(event) => setFilter("state", event.currentTarget.value)}
        >
          <option value="">Every state</option>
          {STATES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <details class="filters" open={isOpen}>
        <summary>More filters</summary>
        <div class="fields">
          <label>
            Server
            <select
              class="select"
              value={values.server}
              onChange={(event) => setFilter("server", event.currentTarget.value)}
            >
              <option value="">Every server</option>
              {[...new Set([...servers, values.server])]
                .filter((name) => name !== "")
                .map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
            </select>
          </label>
          <label>
            Tool
            <Text name="tool" value={values.tool} placeholder="github.listIssues" />
          </label>
          <label>
            Principal
            <Text name="principal" value={values.principal} placeholder="person:ada" />
          </label>
          <Period values={values} />
          {countFilters(values) > 0 && (
            <a class="btn quiet" href="/executions">
              Clear all
            </a>
          )}
        </div>
      </details>
    </>
  );
}

/** One of the periods, or any two times. */
function Period({ values: { since, until } }: { readonly values: FilterValues }) {
  const isPeriod = since === "" || PERIODS.some(({ name }) => name === since);
  const [isExact, setExact] = useState(!isPeriod || until !== "");
  const choose = (name: string): void => {
    setExact(name === "exact");
    if (name === "exact") return;
    setFilter("until", "");
    setFilter("since", name);
  };
  return (
    <>
      <label>
        Started
        <select
          class="select"
          value={isExact ? "exact" : since}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">At any time</option>
          {PERIODS.map(({ name, words }) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
          <option value="exact">Between two times</option>
        </select>
      </label>
      {isExact && (
        <>
          <label>
            From
            <Moment name="since" value={isPeriod ? "" : since} />
          </label>
          <label>
            To
            <Moment name="until" value={until} />
          </label>
        </>
      )}
    </>
  );
}

function Moment({ name, value }: { readonly name: "since" | "until"; readonly value: string }) {
  return (
    <input
      class="input"
      type="datetime-local"
      value={value}
      onChange={(event) => setFilter(name, event.currentTarget.value)}
    />
  );
}

interface TextProps {
  readonly name: FilterName;
  readonly value: string;
  readonly placeholder?: string;
  readonly isSearch?: boolean;
}

/** Changes the address a moment after the last key stroke. */
function Text({ name, value, placeholder = "", isSearch = false }: TextProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => setFilter(name, text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  if (isSearch) {
    return (
      <SearchBox
        id="search"
        label="Search executions"
        placeholder="Text in a program, tool or error code"
        value={text}
        onText={setText}
        shortcut="/"
      />
    );
  }
  return (
    <input
      class="input"
      autoComplete="off"
      spellcheck={false}
      placeholder={placeholder}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}
