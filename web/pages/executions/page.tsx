/** What agents are doing: all executions, the latest first, with filters that are in the address. */

import { useEffect, useState } from "preact/hooks";

import { useAnswer } from "../../live/use-answer.ts";
import type { ListedExecution, PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Pager, SearchBox } from "../../parts/list.tsx";
import { State } from "../../parts/status.tsx";
import { Command, Id } from "../../parts/text.tsx";
import { Ago, formatDuration, useNow } from "../../parts/time.tsx";
import { navigate, place, withQuery } from "../../router.ts";
import { takesKeys } from "../../shortcuts.ts";

const PAGE = 50;
const STATES = ["running", "paused", "completed", "failed", "cancelled"];
/** Delay between the last key stroke and the search. */
const PAUSE_MS = 200;

export function Page({ api }: PageProps) {
  const { query } = place.value;
  const [state, search] = [query.get("state") ?? "", query.get("search") ?? ""];
  const [isHeld, setHeld] = useState(false);
  const [older, setOlder] = useState<readonly ListedExecution[]>([]);
  const key = `${state} ${search}`;
  const load = () => api.executions({ limit: PAGE, state, search });
  const { value, error } = useAnswer(load, { key, topics: ["executions"], isHeld });
  useEffect(() => setOlder([]), [key]);
  const first = value?.executions ?? [];
  const shown = [...first, ...older.filter(({ id }) => !first.some((one) => one.id === id))];
  const last = shown.at(-1);
  const showOlder = async (): Promise<void> => {
    const { executions } = await api.executions({ limit: PAGE, state, search, before: last?.id });
    setOlder((before) => [...before, ...executions]);
  };
  return (
    <>
      <Head title="Executions" sub={describe(first)}>
        <button class="btn" type="button" aria-pressed={isHeld} onClick={() => setHeld(!isHeld)}>
          {isHeld ? "Continue updates" : "Hold updates"}
        </button>
      </Head>
      <div class="content">
        <Filters state={state} search={search} />
        {error && <Problem message={error.message} />}
        {value && shown.length === 0 && <NoExecutions isFiltered={state !== "" || search !== ""} />}
        {shown.length > 0 && <Table executions={shown} />}
        {shown.length > 0 && shown.length % PAGE === 0 && (
          <Pager text={`${shown.length} executions`} onOlder={showOlder} />
        )}
      </div>
    </>
  );
}

function describe(executions: readonly ListedExecution[]): string {
  const count = (state: string): number => executions.filter((one) => one.state === state).length;
  const parts = [
    [count("running"), "running"],
    [count("paused"), "waiting for a person"],
  ] as const;
  return parts.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(", ");
}

function Filters({ state, search }: { readonly state: string; readonly search: string }) {
  const [text, setText] = useState(search);
  useEffect(() => {
    if (text === search) return undefined;
    const timer = setTimeout(() => navigate(withQuery("search", text), "replace"), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || !takesKeys(event)) return;
      event.preventDefault();
      document.getElementById("search")?.focus();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="bar">
      <SearchBox
        id="search"
        label="Search executions"
        placeholder="Text in a program, tool or error code"
        value={text}
        onText={setText}
        shortcut="/"
      />
      <select
        class="select"
        aria-label="State"
        value={state}
        onChange={(event) => navigate(withQuery("state", event.currentTarget.value), "replace")}
      >
        <option value="">Every state</option>
        {STATES.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function NoExecutions({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No execution matches">
        <a class="btn small" href="/executions">
          Clear filters
        </a>
      </Empty>
    );
  }
  return (
    <Empty title="No program has run">
      <p>Connect a client, and ask it for something that needs a tool. Or run one in a terminal:</p>
      <Command text="echo 'return 6 * 7' | glovebox run -" />
    </Empty>
  );
}

function Table({ executions }: { readonly executions: readonly ListedExecution[] }) {
  const now = useNow();
  return (
    <table class="t stackable flush bleed" aria-label="Executions">
      <thead>
        <tr>
          <th>State</th>
          <th>Execution</th>
          <th>Note</th>
          <th>Principal</th>
          <th class="num">Took</th>
          <th class="num">Started</th>
        </tr>
      </thead>
      <tbody>
        {executions.map(({ id, state, errorCode, principal, startedAt, endedAt }) => (
          <tr key={id}>
            <td class="second">
              <State name={state} />
            </td>
            <td class="first">
              <a class="row-link" href={`/executions/${id}`}>
                <Id id={id} />
              </a>
            </td>
            <td>{errorCode !== null && <code class="cause">{errorCode}</code>}</td>
            <td class="soft">{principal}</td>
            <td class="num">{endedAt === null ? "" : formatDuration(endedAt - startedAt)}</td>
            <td class="num">
              <Ago at={startedAt} now={now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
