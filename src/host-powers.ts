/** What only the machine can provide: time, randomness, ids, a log on standard error, and one mask per gateway. */

import { GloveboxError, describeError, parseApprovalId, parseExecutionId, parseResultId } from "./domain/index.ts";
import { readVersion } from "./surfaces/index.ts";
import { cleanText } from "./text/index.ts";
import { createMask, createRandom } from "./vault/index.ts";
import type { Mask } from "./vault/index.ts";

/** As the command line prints it and `/health` returns it. */
export const VERSION = readVersion(import.meta.url);

const MAX_TEXT_BYTES = 64 * 1024;

/** What the parts of one gateway share and no other gateway does. */
export interface HostPowers {
  /** Knows every secret that this gateway has opened, lent or read from its configuration. */
  readonly mask: Mask;
  /** Writes an internal fault to the operator's log and returns its id, which is all that a caller gets. */
  readonly report: (thrown: unknown) => string;
  /** Tells the operator what to correct, while the gateway continues. */
  readonly warn: (thrown: unknown) => void;
  /** Tells the operator what was done. */
  readonly announce: (text: string) => void;
}

export function createHostPowers(): HostPowers {
  const mask = createMask();
  const print = (text: string): void =>
    void process.stderr.write(`${cleanText(text, { maxBytes: MAX_TEXT_BYTES, hide: mask.hide })}\n`);
  const report = (thrown: unknown): string => {
    const incident = `in_${drawHex(6)}`;
    print(`incident ${incident}: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`);
    return incident;
  };
  const warn = (thrown: unknown): void => {
    if (!(thrown instanceof GloveboxError)) return void report(thrown);
    const { message, hint } = describeError(thrown);
    print(`warning: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`);
  };
  return { mask, report, warn, announce: print };
}

/** For what a model reads. */
export function cleanDescription(text: string): string {
  return cleanText(text, { maxBytes: MAX_TEXT_BYTES });
}

export const drawBytes = createRandom();

export function drawHex(bytes: number): string {
  return drawBytes(bytes).toString("hex");
}

/** Returns the four 32-bit numbers that seed the guest's generator. */
export function createSeed(): readonly number[] {
  const bytes = drawBytes(16);
  return [0, 4, 8, 12].map((offset) => bytes.readUInt32LE(offset));
}

/** Unguessable, in addition to the check of ownership, and unique without a counter: gateways can share a store. */
export const createResultId = createIds("rs", parseResultId);
export const createApprovalId = createIds("ap", parseApprovalId);
export const createExecutionId = createIds("ex", parseExecutionId);

function createIds<Id>(prefix: string, parse: (text: string) => Id | undefined): () => Id {
  return () => parse(`${prefix}_${drawHex(12)}`) ?? unreachable();
}

function unreachable(): never {
  throw new TypeError("A constant of this file is malformed");
}
