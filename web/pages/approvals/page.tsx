/** The queue: what waits for a person, the oldest first. A decision is taken on the page of the approval. */

import { useState } from "preact/hooks";

import { toVisible } from "../../../src/text/escape-hidden.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { ListedApproval, PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Icon } from "../../parts/icon.tsx";
import { State, Tag } from "../../parts/status.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, formatAge, useNow } from "../../parts/time.tsx";
import { useRowKeys } from "../../parts/use-rows.ts";

const ARGUMENT_CHARS = 240;

export function Page({ api }: PageProps) {
  const { value, error } = useAnswer(() => api.approvals(true), { key: "approvals", topics: ["approvals"] });
  const now = useNow();
  const all = value?.approvals ?? [];
  const waiting = all.filter(({ state }) => state === "pending").toSorted((a, b) => a.createdAt - b.createdAt);
  const decided = all.filter(({ state }) => state !== "pending");
  const selected = useRowKeys(waiting.map(({ id }) => `/approvals/${id}`));
  return (
    <>
      <Head title="Approvals" sub={value ? countText(waiting.length) : ""}>
        <NotifyButton />
      </Head>
      <div class="content">
        {error && <Problem message={error.message} />}
        {value && waiting.length === 0 && (
          <Empty title="Nothing waits for you">
            <p>
              When a call needs a person it appears here, in the title of the page and, if you allow it, as a
              notification.
            </p>
          </Empty>
        )}
        <ul class="queue bleed" aria-label="Waiting">
          {waiting.map((approval, index) => (
            <Waiting key={approval.id} {...{ approval, now, isSelected: index === selected }} />
          ))}
        </ul>
        {decided.length > 0 && <Decided approvals={decided} now={now} />}
      </div>
    </>
  );
}

function countText(count: number): string {
  if (count === 0) return "nothing waits";
  return count === 1 ? "1 waits for a person" : `${count} wait for a person`;
}

interface WaitingProps {
  readonly approval: ListedApproval;
  readonly now: number;
  readonly isSelected: boolean;
}

function Waiting({ approval, now, isSelected }: WaitingProps) {
  const { id, tool, effect, args, reason, principal, createdAt, expiresAt, labels } = approval;
  const address = `/approvals/${id}`;
  const kinds = [...new Set(labels.map(({ label }) => label))];
  return (
    <li id={id} class={isSelected ? "on" : ""} data-row={isSelected ? "on" : undefined}>
      <span>
        <Icon name="wait" />
      </span>
      <div>
        <div class="what row tight">
          <a href={address}>
            <code>{tool}</code>
          </a>
          <Tag name={effect} />
          {kinds.map((label) => (
            <Tag key={label} name={label} />
          ))}
        </div>
        <div class="arg">{summarize(args)}</div>
        <div class="meta">
          <span>
            <Visible text={reason} />
          </span>
          <span>{principal}</span>
          <Ago at={createdAt} now={now} />
          <span>expires in {formatAge(expiresAt - now)}</span>
        </div>
      </div>
      <div class="do">
        <a class={isSelected ? "btn primary" : "btn"} href={address}>
          Review<span class="vh"> {tool}</span>
        </a>
      </div>
    </li>
  );
}

/** The beginning only, and it says so: the page of the approval has all of it. */
function summarize(args: unknown): string {
  const text = toVisible(typeof args === "string" ? args : JSON.stringify(args));
  return text.length <= ARGUMENT_CHARS ? text : `${text.slice(0, ARGUMENT_CHARS)}… (cut here)`;
}

function Decided({ approvals, now }: { readonly approvals: readonly ListedApproval[]; readonly now: number }) {
  return (
    <section>
      <div class="h">
        <h2>Decided</h2>
        <span class="muted small">{approvals.length}</span>
      </div>
      <table class="t stackable flush bleed">
        <thead>
          <tr>
            <th>Decision</th>
            <th>Tool</th>
            <th>Scope</th>
            <th>By</th>
            <th class="num">When</th>
          </tr>
        </thead>
        <tbody>
          {approvals.map(({ id, state, tool, scope, decidedBy = "", decidedAt, createdAt }) => (
            <tr key={id}>
              <td class="second">
                <State name={state} />
              </td>
              <td class="first">
                <a class="row-link" href={`/approvals/${id}`}>
                  <code>{tool}</code>
                </a>
              </td>
              <td>{scope === undefined ? "" : `this ${scope}`}</td>
              <td>{decidedBy}</td>
              <td class="num">
                <Ago at={decidedAt ?? createdAt} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Offered while the browser has not been asked. */
function NotifyButton() {
  const [permission, setPermission] = useState("Notification" in window ? Notification.permission : "denied");
  if (permission !== "default") return null;
  const ask = (): void => void Notification.requestPermission().then(setPermission);
  return (
    <button class="btn" type="button" onClick={ask}>
      Notify me
    </button>
  );
}
