/** One row for each execution: its state, the beginning of its program, its tools, and how long it took. */

import type { ListedExecution } from "../../page-props.ts";
import { State } from "../../parts/status.tsx";
import { Id, Visible } from "../../parts/text.tsx";
import { Ago, formatDuration, useNow } from "../../parts/time.tsx";
import { toTitle } from "../../parts/title.ts";
import { withQuery } from "../../router.ts";

const SHOWN_TOOLS = 2;

interface TableProps {
  readonly executions: readonly ListedExecution[];
  readonly selected: number;
}

export function Table({ executions, selected }: TableProps) {
  const now = useNow();
  return (
    <table class="t stackable flush bleed executions" aria-label="Executions">
      <thead>
        <tr>
          <th>State</th>
          <th>Program</th>
          <th>Tools</th>
          <th>Principal</th>
          <th class="num">Took</th>
          <th class="num">Started</th>
        </tr>
      </thead>
      <tbody>
        {executions.map((execution, index) => (
          <Row key={execution.id} {...{ execution, now, isSelected: index === selected }} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly execution: ListedExecution;
  readonly now: number;
  readonly isSelected: boolean;
}

function Row({ execution, now, isSelected }: RowProps) {
  const { id, state, errorCode, principal, startedAt, endedAt, head } = execution;
  const title = toTitle(head);
  return (
    <tr class={isSelected ? "selected" : ""} data-row={isSelected ? "on" : undefined}>
      <td class="second">
        <State name={state} />
      </td>
      <td class="first title">
        <a class="row-link" href={`/executions/${id}`}>
          {title === "" ? <Id id={id} /> : <Visible text={title} />}
        </a>
        {errorCode !== null && <code class="cause small"> {errorCode}</code>}
      </td>
      <td>
        <Tools execution={execution} />
      </td>
      <td class="soft">
        <a class="quiet-link" href={withQuery("principal", principal)} title={`Only those of ${principal}`}>
          {principal}
        </a>
      </td>
      <td class="num">{endedAt === null ? "" : formatDuration(endedAt - startedAt)}</td>
      <td class="num">
        <Ago at={startedAt} now={now} />
      </td>
    </tr>
  );
}

function Tools({ execution: { tools } }: { readonly execution: ListedExecution }) {
  const more = tools.length - SHOWN_TOOLS;
  return (
    <span class="tools small">
      {tools.slice(0, SHOWN_TOOLS).map((tool) => (
        <code key={tool}>
          <Visible text={tool} />
        </code>
      ))}
      {more > 0 && (
        <span class="muted" title={tools.slice(SHOWN_TOOLS).join(", ")}>
          +{more}
        </span>
      )}
    </span>
  );
}
