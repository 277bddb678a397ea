/** What agents are doing: all executions, the latest first, with filters that are in the address. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { ExecutionsAnswer } from "../../../src/surfaces/admin/contract/executions.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { ListedExecution, PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Pager } from "../../parts/list.tsx";
import { listExecutions } from "../../parts/executions-api.ts";
import { Loading } from "../../parts/notice.tsx";
import { Command } from "../../parts/text.tsx";
import { useRowKeys } from "../../parts/use-rows.ts";
import { Filters, countFilters, readFilters, toExecutionQuery } from "./filters.tsx";
import { Table } from "./table.tsx";

const PAGE = 50;
/** More rows are not kept in the page. */
const MAX_ROWS = 1_000;

export function Page({ api, status }: PageProps) {
  const values = readFilters();
  const key = JSON.stringify(values);
  const load = () => listExecutions(api, toExecutionQuery(values, PAGE));
  const { value, error } = useAnswer(load, { key, topics: ["executions"] });
  const list = useSteadyRows(key, value);
  const [older, setOlder] = useState<ExecutionsAnswer>();
  useEffect(() => setOlder(undefined), [key]);
  const rows = merge(list.rows, older?.executions ?? []);
  const next = older ? older.next : value?.next;
  const showOlder = async (): Promise<void> => {
    const page = await listExecutions(api, { ...toExecutionQuery(values, PAGE), before: next });
    setOlder({ ...page, executions: [...(older?.executions ?? []), ...page.executions] });
  };
  const selected = useRowKeys(rows.map(({ id }) => `/executions/${id}`));
  const servers = status.upstreams.map(({ name }) => name);
  return (
    <>
      <Head title="Executions" sub={describe(rows)} />
      <div class="content">
        <Filters values={values} servers={servers} />
        {error && <Problem message={error.message} />}
        {!value && !error && <Loading what="executions" />}
        {value && rows.length === 0 && next === undefined && <NoExecutions isFiltered={countFilters(values) > 0} />}
        {list.fresh > 0 && (
          <button class="btn quiet fresh" type="button" onClick={list.show}>
            {list.fresh === 1 ? "1 new execution" : `${list.fresh} new executions`}
          </button>
        )}
        <div
          onPointerEnter={list.hold}
          onPointerLeave={list.release}
          onFocusCapture={list.hold}
          onBlurCapture={list.release}
        >
          {rows.length > 0 && <Table executions={rows} selected={selected} />}
        </div>
        {next !== undefined && rows.length < MAX_ROWS && (
          <Pager text={describeEnd(rows.length, value?.executions.length)} onOlder={showOlder} />
        )}
        {rows.length >= MAX_ROWS && <p class="muted">{MAX_ROWS} are shown; filter to see older ones.</p>}
      </div>
    </>
  );
}

/** A search looks at a part of the list at a time. */
function describeEnd(count: number, first: number | undefined): string {
  if (count === 0 || (first ?? PAGE) < PAGE) return `${count} found so far; older ones are not searched yet`;
  return `${count} executions`;
}

function merge(first: readonly ListedExecution[], older: readonly ListedExecution[]): readonly ListedExecution[] {
  const known = new Set(first.map(({ id }) => id));
  return [...first, ...older.filter(({ id }) => !known.has(id))];
}

/** Rows do not move while the pointer or the focus is among them: they change in place, and new ones are counted. */
function useSteadyRows(key: string, value: ExecutionsAnswer | undefined) {
  const latest = value?.executions ?? [];
  const [held, setHeld] = useState<{ readonly key: string; readonly ids: readonly string[] }>();
  const places = useRef(new Set<"pointer" | "focus">());
  const change = (event: { readonly type: string }, isIn: boolean): void => {
    const place = event.type.startsWith("pointer") ? "pointer" : "focus";
    if (isIn) places.current.add(place);
    else places.current.delete(place);
    if (places.current.size === 0) setHeld(undefined);
    else setHeld((before) => before ?? { key, ids: latest.map(({ id }) => id) });
  };
  const isHeld = held?.key === key && latest.length > 0;
  const isKnown = ({ id }: ListedExecution): boolean => !isHeld || held.ids.includes(id);
  const rows = latest.filter(isKnown);
  return {
    rows,
    fresh: latest.length - rows.length,
    show: () => setHeld(undefined),
    hold: (event: { readonly type: string }) => change(event, true),
    release: (event: { readonly type: string }) => change(event, false),
  };
}

function describe(executions: readonly ListedExecution[]): string {
  const count = (state: string): number => executions.filter((one) => one.state === state).length;
  const parts = [
    [count("running"), "running"],
    [count("paused"), "waiting for a person"],
  ] as const;
  return parts.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(", ");
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
      <p>
        Connect a client in <a href="/setup">Setup</a>, and ask it for something that needs a tool. Or run one in a
        terminal:
      </p>
      <Command text="echo 'return 6 * 7' | glovebox run -" />
    </Empty>
  );
}
