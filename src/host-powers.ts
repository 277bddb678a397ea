/** What only the machine can give, for the composition root: randomness, ids, the log of incidents, and texts made safe. */

import { Script, createContext } from "node:vm";

import {
  GloveboxError,
  describeError,
  parseApprovalId,
  parseExecutionId,
  parsePrincipalId,
  parseResultId,
} from "./domain/index.ts";
import { cleanText } from "./text/index.ts";
import type { ApprovalId, ExecutionId, Principal, ResultId } from "./domain/index.ts";
import { createMask } from "./vault/index.ts";
import { drawBytes } from "./draw-bytes.ts";

/** Every secret that this process has opened, lent or read from its configuration, for everything that leaves it. */
export const mask = createMask();
const { hide } = mask;

const TEXT_BYTES = 64 * 1024;
const CAUSE_BYTES = 500;
const PREVIEW_BYTES = 512;
/** A program whose types take longer to strip than this was written to stall the gateway. */
const STRIP_MS = 500;

/** Made once: a context costs more than the work that is usually done under its watch. */
const watched = createContext({ work: undefined as unknown });
const callWork = new Script("work()");

/** Ends work that takes too long, also inside WebAssembly: the engine's own watchdog interrupts the thread. */
export function timebox<R>(work: () => R): R {
  watched["work"] = work;
  try {
    return callWork.runInContext(watched, { timeout: STRIP_MS }) as R;
  } finally {
    watched["work"] = undefined;
  }
}

/** The details of an internal fault are for the operator's log; whoever asked gets the id. */
export function reportIncident(thrown: unknown): string {
  const incident = `in_${drawBytes(6).toString("hex")}`;
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  process.stderr.write(`incident ${incident}: ${cleanText(text, { maxBytes: TEXT_BYTES, hide })}\n`);
  return incident;
}

/** Something that an operator should correct, while everything goes on as it was. */
export function warnOperator(thrown: unknown): void {
  if (!(thrown instanceof GloveboxError)) return void reportIncident(thrown);
  const { message, hint } = describeError(thrown);
  const text = `warning: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`;
  process.stderr.write(`${cleanText(text, { maxBytes: TEXT_BYTES, hide })}\n`);
}

/** For what a model reads. */
export function cleanDescription(text: string): string {
  return cleanText(text, { maxBytes: TEXT_BYTES });
}

/** What a server writes about its own troubles may hold paths of this machine and addresses of its network. */
export function cleanServerText(text: string): string {
  return cleanText(text, { maxBytes: TEXT_BYTES, paths: true, addresses: true, hide });
}

/** As `cleanServerText`, short enough for a record. */
export function cleanCause(text: string): string {
  return cleanText(text, { maxBytes: CAUSE_BYTES, paths: true, addresses: true, hide });
}

/** The beginning of arguments or a result as the ledger may keep it. */
export function createPreview(text: string): string {
  return cleanText(text, { maxBytes: PREVIEW_BYTES, hide });
}

/** Four 32-bit numbers, which is what the guest's generator takes. */
export function createSeed(): readonly number[] {
  const bytes = drawBytes(16);
  return [0, 4, 8, 12].map((offset) => bytes.readUInt32LE(offset));
}

/** Cannot be guessed: whoever knows a handle still has to be its owner, but need not be tempted. */
export function createResultId(): ResultId {
  return parseResultId(`rs_${drawBytes(12).toString("hex")}`) ?? unreachable();
}

/** Cannot be guessed, though knowing one is no right to decide it. */
export function createApprovalId(): ApprovalId {
  return parseApprovalId(`ap_${drawBytes(12).toString("hex")}`) ?? unreachable();
}

/** Unique without a counter, so that several gateways can share a store. */
export function createExecutionId(): ExecutionId {
  return parseExecutionId(`ex_${drawBytes(12).toString("hex")}`) ?? unreachable();
}

/** For the names of this program itself; a surface makes principals from credentials. */
export function createPrincipal(name: string, kind: Principal["kind"]): Principal {
  return { id: parsePrincipalId(name) ?? unreachable(), kind, groups: [] };
}

function unreachable(): never {
  throw new TypeError("A constant of this file is malformed");
}
