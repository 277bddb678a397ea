/** One record: all of it, its place in the chain, and what it is about. */

import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import { CopyButton } from "../../parts/text.tsx";
import { formatTime } from "../../parts/time.tsx";
import { withQuery } from "../../router.ts";
import type { LedgerRecord } from "./page.tsx";
import { count } from "./proof.tsx";

const DIGEST_CHARS = 20;

interface DetailProps {
  readonly record: LedgerRecord;
  readonly signed: number | undefined;
  /** It was not chosen by the person: a phone leaves it out. */
  readonly isImplicit: boolean;
}

export function Detail({ record, signed, isImplicit }: DetailProps) {
  const text = toPlainJson({ ...record, at: new Date(record.at).toISOString() }, 2);
  const isSigned = signed !== undefined && record.seq <= signed;
  return (
    <aside class={isImplicit ? "side stack implicit" : "side stack"} aria-label={`Record ${record.seq}`}>
      <div class="h">
        <h2>Record {count(record.seq)}</h2>
        {isSigned && <span class="tag ok">signed</span>}
        <span class="muted small">{formatTime(record.at)}</span>
        <span class="end">
          <CopyButton text={text} label="Copy the record" />
        </span>
      </div>
      <pre class="block" tabIndex={0} aria-label="Record as JSON">
        {text}
      </pre>
      <dl class="kv small">
        <dt>Digest</dt>
        <dd class="mono" title={record.digest}>
          {record.digest.slice(0, DIGEST_CHARS)}…
        </dd>
        {record.seq > 1 && (
          <>
            <dt>Before</dt>
            <dd>
              <a class="link mono" href={withQuery("record", String(record.seq - 1))} title={record.previous}>
                {count(record.seq - 1)} {record.previous.slice(0, DIGEST_CHARS)}…
              </a>
            </dd>
          </>
        )}
        <dt>After</dt>
        <dd>
          <a class="link mono" href={withQuery("record", String(record.seq + 1))}>
            {count(record.seq + 1)}
          </a>
        </dd>
        <Related record={record} />
      </dl>
      <p class="small muted">
        Arguments and results are not here, only their digests. An export is checked without this gateway:{" "}
        <code>glovebox audit verify FILE</code>
      </p>
    </aside>
  );
}

/** Links to what the record is about, made of ids only. */
function Related({ record: { subject, detail, actor } }: { readonly record: LedgerRecord }) {
  const execution = [subject, detail["execution"]].find(isId("ex"));
  const approval = [subject, detail["approval"]].find(isId("(?:ap|ir)"));
  return (
    <>
      <dt>Related</dt>
      <dd class="row tight">
        {execution !== undefined && (
          <>
            <a class="link" href={`/executions/${execution}`}>
              execution
            </a>
            <a class="link" href={`/ledger?${new URLSearchParams({ execution }).toString()}`}>
              its records
            </a>
          </>
        )}
        {approval !== undefined && (
          <a class="link" href={`/approvals/${approval}`}>
            approval
          </a>
        )}
        <a class="link" href={`/ledger?${new URLSearchParams({ subject }).toString()}`}>
          same subject
        </a>
        <a class="link" href={`/ledger?${new URLSearchParams({ actor }).toString()}`}>
          same actor
        </a>
      </dd>
    </>
  );
}

function isId(prefix: string): (value: unknown) => value is string {
  const pattern = new RegExp(`^${prefix}_[0-9a-f]{24}$`);
  return (value): value is string => typeof value === "string" && pattern.test(value);
}
