/** What happened, and is the record intact? Search, one record, its proof, and an export. All choices are in the address. */

import { useEffect, useState } from "preact/hooks";

import { ledgerSchema } from "../../../src/surfaces/admin/contract/ledger.ts";
import type { LedgerAnswer } from "../../../src/surfaces/admin/contract/ledger.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Pager } from "../../parts/list.tsx";
import { Loading } from "../../parts/notice.tsx";
import { navigate, place, withQuery } from "../../router.ts";
import { Filters, toFilter } from "./filters.tsx";
import { ProofNote, ProofState, useProof } from "./proof.tsx";
import { Detail } from "./record.tsx";
import { Records } from "./records.tsx";

export type LedgerRecord = LedgerAnswer["records"][number];

const PAGE = 100;

export function Page({ api }: PageProps) {
  const { query } = place.value;
  const filter = toFilter(query, Date.now());
  const key = ["actor", "action", "subject", "outcome", "execution", "since"].map((name) => query.get(name)).join(" ");
  const read = (before?: number) => api.read(ledgerSchema, "/api/ledger", { limit: PAGE, before, ...filter });
  const { value, error } = useAnswer(() => read(), { key, topics: ["executions", "approvals", "servers"] });
  const [older, setOlder] = useState<readonly LedgerRecord[]>([]);
  const proof = useProof(api);
  useEffect(() => setOlder([]), [key]);
  const newest = value?.records ?? [];
  const records = [...newest, ...older.filter(({ seq }) => seq < (newest.at(-1)?.seq ?? 0))];
  const wanted = Number(query.get("record") ?? 0);
  const chosen = useRecord(api, wanted, records);
  const showOlder = async (): Promise<void> => {
    const answer = await read(records.at(-1)?.seq);
    setOlder((before) => [...before, ...answer.records]);
  };
  return (
    <>
      <Head title="Ledger">
        <ProofState proof={proof} />
        <button class="btn" type="button" disabled={proof.isRunning} onClick={proof.start}>
          Verify
        </button>
        <a class="btn" href="/api/ledger/export" download>
          Export
        </a>
      </Head>
      <div class="content">
        <ProofNote proof={proof} />
        <Filters />
        {error && <Problem message={error.message} />}
        {!value && !error && <Loading what="records" />}
        {value && records.length === 0 && <NoRecords isFiltered={Object.keys(filter).length > 0} />}
        {records.length > 0 && (
          <section class={chosen ? "with-record" : ""} aria-label="Records">
            <div>
              <Records records={records} chosen={chosen?.seq} onChoose={choose} />
              {records.length % PAGE === 0 && records.at(-1)?.seq !== 1 && (
                <Pager text={`${records.length} shown`} onOlder={showOlder} />
              )}
            </div>
            {chosen && <Detail record={chosen} signed={proof.signed} isImplicit={wanted === 0} />}
          </section>
        )}
      </div>
    </>
  );
}

function choose(seq: number): void {
  navigate(withQuery("record", String(seq)), "replace");
}

/** The record that the address names, also if the list does not have it; otherwise the newest. */
function useRecord(api: PageProps["api"], seq: number, records: readonly LedgerRecord[]): LedgerRecord | undefined {
  const listed = records.find((record) => record.seq === seq);
  const isElsewhere = seq > 0 && !listed && records.length > 0;
  const { value } = useAnswer(
    async () => (isElsewhere ? api.read(ledgerSchema, "/api/ledger", { limit: 1, before: seq + 1 }) : { records: [] }),
    { key: `record ${seq} ${isElsewhere}`, topics: [] },
  );
  if (seq === 0) return records[0];
  return listed ?? value?.records.find((record) => record.seq === seq);
}

function NoRecords({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Empty title={isFiltered ? "No record matches" : "Nothing is recorded"}>
      {isFiltered ? (
        <a class="btn small" href="/ledger">
          Clear filters
        </a>
      ) : (
        <p>The first start of the gateway writes the first record.</p>
      )}
    </Empty>
  );
}
