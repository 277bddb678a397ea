/** Verifies every signed statement about a ledger and returns what they state about its records. */

import type { Digest } from "../../domain/index.ts";
import type { StatementRow, Store } from "../../store/index.ts";

import type { LedgerProblem } from "../chain-check.ts";
import { GENESIS } from "../record.ts";
import type { LedgerHead } from "../record.ts";
import type { FoundHead } from "./head-file.ts";
import { createSignatureCheck } from "../signer.ts";
import { parseStatementText } from "../statement.ts";
import type { Checkpoint, Cut, PublicKey, SignedStatement, Statement } from "../statement.ts";

export interface SignedState {
  readonly ok: true;
  /** The records begin after this one, which the last cut covers. */
  readonly start: LedgerHead;
  /** Digests by record number. */
  readonly signed: ReadonlyMap<number, Digest>;
  /** True while records before `start` may still exist, because dropping them is not finished. */
  readonly isDropping: boolean;
  /** `undefined` if nothing was ever signed. */
  readonly key: PublicKey | undefined;
}

export interface StatementSources {
  /** The head beside the store; `undefined` for a store in memory. */
  readonly head: FoundHead | undefined;
  readonly rows: readonly StatementRow[];
  /** The required signer. Without it, all statements must have the same signer. */
  readonly key?: PublicKey;
}

const PAGE = 1_000;
/** How many signatures are verified in parallel. */
const AT_ONCE = 64;

/** Returns every row, in order. */
export async function readStatements(store: Store["statements"]): Promise<readonly StatementRow[]> {
  const rows: StatementRow[] = [];
  for (;;) {
    // Starts below the first number, to find rows that were inserted there.
    const page = await store.read({ from: (rows.at(-1)?.number ?? Number.MIN_SAFE_INTEGER) + 1, limit: PAGE });
    rows.push(...page);
    if (page.length < PAGE || !Number.isSafeInteger(rows.at(-1)?.number)) return rows;
  }
}

/** Checks that numbers have no gaps, rows match their text, one key signed everything, and the head is not ahead. */
export async function checkStatements(sources: StatementSources): Promise<SignedState | LedgerProblem> {
  const { head, rows, key } = sources;
  // The head is created together with the key, before the first record.
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
  // Statements that a cut made obsolete are dropped together with the last of its records.
  const isDropping = cut !== undefined && statements.some(({ number }) => number <= cut.checkpoint);
  const start = cut ? { seq: cut.seq, digest: cut.digest } : GENESIS;
  const places = all.filter(({ kind, seq }) => kind !== "cut" && seq > start.seq);
  return { ok: true, start, signed: new Map(places.map(({ seq, digest }) => [seq, digest])), isDropping, key: signer };
}

/** Returns `undefined` if the columns of a row do not match its signed text. */
function parseRow(row: StatementRow): SignedStatement<Checkpoint | Cut> | undefined {
  const statement = parseStatementText(row.text);
  if (statement?.kind !== "checkpoint" && statement?.kind !== "cut") return undefined;
  const { number, kind, seq, at } = statement;
  return number === row.number && kind === row.kind && seq === row.seq && at === row.at ? statement : undefined;
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

/** Ignores statements that a cut covers, whether or not they have been deleted. */
function findGap(statements: readonly (Checkpoint | Cut)[], cut: Cut | undefined, atLeast: number) {
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
