/** Checks every signed statement about a ledger and says what they promise together about its records. */

import type { Digest } from "../../domain/index.ts";
import type { StatementRow, Store } from "../../store/index.ts";

import type { LedgerProblem } from "../chain-check.ts";
import { GENESIS } from "../record.ts";
import type { LedgerHead } from "../record.ts";
import type { FoundHead } from "./head-file.ts";
import { createSignatureCheck } from "./signer.ts";
import type { PublicKey } from "./public-key.ts";
import { parseStatementText } from "./statement.ts";
import type { Cut, SignedStatement, Statement } from "./statement.ts";

/** What the statements promise. */
export interface SignedState {
  readonly ok: true;
  /** Where the records begin: after the last cut. */
  readonly start: LedgerHead;
  /** Records of these numbers exist and have these digests. */
  readonly signed: ReadonlyMap<number, Digest>;
  /** True while records before `start` may still be there, because dropping them is not finished. */
  readonly isDropping: boolean;
  /** `undefined` when nothing was ever signed. */
  readonly key: PublicKey | undefined;
}

/** What is checked: the head beside the store, the statements in it, and who must have signed them. */
export interface StatementSources {
  /** `undefined` for a store that has no place for one. */
  readonly head: FoundHead | undefined;
  readonly rows: readonly StatementRow[];
  /** Left out, the key of the statements themselves: then they must only agree with one another. */
  readonly key?: PublicKey;
}

const PAGE = 1_000;
/** Signatures that are checked at once. */
const AT_ONCE = 64;

/** Every row, in order. */
export async function readStatements(store: Store["statements"]): Promise<readonly StatementRow[]> {
  const rows: StatementRow[] = [];
  for (;;) {
    // From below the first number: what was put there is not to be overlooked.
    const page = await store.read({ from: (rows.at(-1)?.number ?? Number.MIN_SAFE_INTEGER) + 1, limit: PAGE });
    rows.push(...page);
    if (page.length < PAGE || !Number.isSafeInteger(rows.at(-1)?.number)) return rows;
  }
}

/** Numbers without gaps, rows that say what they hold, good signatures of one key, and a head that is not further on. */
export async function checkStatements(sources: StatementSources): Promise<SignedState | LedgerProblem> {
  const { head, rows, key } = sources;
  // The head is made together with the key, before the first record.
  if (head === "missing" && (rows.length > 0 || key !== undefined)) return problem(0, "the signed head is missing");
  if (head === "unreadable") return problem(0, "the signed head was changed");
  const parsed = rows.map((row) => ({ row, statement: parseRow(row) }));
  const bad = parsed.find(({ statement }) => !statement);
  if (bad) return problem(bad.row.seq, `statement ${bad.row.number} was changed`);
  const statements = parsed.flatMap(({ statement }) => statement ?? []);
  const all = typeof head === "object" ? [...statements, head] : statements;
  const signer = key ?? all.at(-1)?.key;
  if (signer === undefined) return { ok: true, start: GENESIS, signed: new Map(), isDropping: false, key: undefined };
  const forged = await findForged(all, signer);
  if (forged) return problem(forged.seq, `${nameOf(forged)} was changed, or is not signed by ${signer}`);
  const cut = statements.findLast((statement) => statement.kind === "cut");
  const gap = findGap(statements, cut, typeof head === "object" ? head.number : 0);
  if (gap !== undefined) return problem(cut?.seq ?? 0, `statement ${gap} is missing`);
  // The statements that a cut made useless go with the last of the records.
  const isDropping = cut !== undefined && statements.some(({ number }) => number <= cut.checkpoint);
  return { ok: true, ...promise(all, cut), isDropping, key: signer };
}

function promise(all: readonly Statement[], cut: Cut | undefined): Pick<SignedState, "start" | "signed"> {
  const start = cut ? { seq: cut.seq, digest: cut.digest } : GENESIS;
  const places = all.filter(({ kind, seq }) => kind !== "cut" && seq > start.seq);
  return { start, signed: new Map(places.map(({ seq, digest }) => [seq, digest])) };
}

/** A row whose columns tell another story than its signed text is a changed row. */
function parseRow({
  number,
  kind,
  seq,
  at,
  text,
}: StatementRow): SignedStatement<Exclude<Statement, { kind: "trailer" }>> | undefined {
  const statement = parseStatementText(text);
  if (!statement || statement.kind === "trailer" || statement.kind === "head") return undefined;
  const isSame = statement.number === number && statement.kind === kind && statement.seq === seq && statement.at === at;
  return isSame ? statement : undefined;
}

async function findForged(all: readonly SignedStatement[], key: PublicKey): Promise<SignedStatement | undefined> {
  const isGood = createSignatureCheck(key);
  for (let index = 0; index < all.length; index += AT_ONCE) {
    const some = all.slice(index, index + AT_ONCE);
    const good = await Promise.all(some.map(isGood));
    const forged = some.find((_, place) => good[place] !== true);
    if (forged) return forged;
  }
  return undefined;
}

/** Statements that went with a cut need not be there any more, whether or not they have been deleted yet. */
function findGap(
  statements: readonly { readonly number: number }[],
  cut: Cut | undefined,
  atLeast: number,
): number | undefined {
  const from = cut?.checkpoint ?? 0;
  const numbers = statements.map(({ number }) => number).filter((number) => number > from);
  const wrong = numbers.findIndex((number, index) => number !== from + 1 + index);
  if (wrong >= 0) return from + 1 + wrong;
  const next = from + numbers.length + 1;
  return next <= atLeast ? next : undefined;
}

function nameOf(statement: Statement): string {
  if (statement.kind === "head" || statement.kind === "trailer") return `the signed ${statement.kind}`;
  return `statement ${statement.number}`;
}

function problem(seq: number, text: string): LedgerProblem {
  return { ok: false, seq: seq + 1, problem: text };
}
