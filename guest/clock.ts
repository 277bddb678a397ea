/**
 * Time and randomness inside the isolate. Both come from the host: the clock stands still while the program computes and
 * moves with each delivery, so that no program can measure fine timing and every execution can be repeated.
 */

import {
  apply,
  construct,
  dateToText,
  defineOwn,
  defineProperty,
  floor,
  getOwnPropertyDescriptor,
  numberToText,
  padStart,
} from "./intrinsics.ts";

const RealDate = Date;

let nowMs = 0;
let [a, b, c, counter] = [1, 2, 3, 4];

/** Called by the wire with the time of each delivery. */
export function setNow(atMs: number): void {
  nowMs = atMs;
}

export function seedRandom(seed: readonly number[]): void {
  a = seed[0] ?? 1;
  b = seed[1] ?? 2;
  c = seed[2] ?? 3;
  counter = seed[3] ?? 4;
  for (let round = 0; round < 12; round += 1) next32();
}

/** sfc32: small, fast, passes PractRand; not for keys. */
function next32(): number {
  const sum = (a + b + counter) | 0;
  counter = (counter + 1) | 0;
  a = b ^ (b >>> 9);
  b = (c + (c << 3)) | 0;
  c = (((c << 21) | (c >>> 11)) + sum) | 0;
  return sum >>> 0;
}

export function random(): number {
  return ((next32() >>> 5) * 67_108_864 + (next32() >>> 6)) / 9_007_199_254_740_992;
}

/** RFC 9562 version 4, from the execution's own seed. */
export function randomUuid(): string {
  let hex = "";
  for (let word = 0; word < 4; word += 1) hex += padStart(numberToText(next32(), 16), 8, "0");
  const variant = numberToText(8 + floor(random() * 4), 16);
  let uuid = "";
  for (let at = 0; at < 32; at += 1) {
    if (at === 8 || at === 12 || at === 16 || at === 20) uuid += "-";
    uuid += at === 12 ? "4" : at === 16 ? variant : (hex[at] as string);
  }
  return uuid;
}

/** Replaces the machine's clock by the host's: `Date`, `Date.now` and the defaults of `Intl.DateTimeFormat`. */
export function installClock(): void {
  function GuestDate(this: unknown, ...args: unknown[]): unknown {
    if (new.target === undefined) return dateToText(new RealDate(nowMs));
    return construct(RealDate, args.length === 0 ? [nowMs] : args, new.target);
  }
  defineProperty(GuestDate, "name", { value: "Date", configurable: true });
  defineProperty(GuestDate, "length", { value: 7, configurable: true });
  defineProperty(GuestDate, "prototype", { value: RealDate.prototype, writable: false });
  defineOwn(GuestDate, "now", () => nowMs, false);
  defineOwn(GuestDate, "parse", RealDate.parse, false);
  defineOwn(GuestDate, "UTC", RealDate.UTC, false);
  defineOwn(RealDate.prototype, "constructor", GuestDate, false);
  defineOwn(globalThis, "Date", GuestDate, false);
  installFormatDefaults();
}

/** Without an argument these read the machine's clock, so they always get one. Not every engine has them. */
function installFormatDefaults(): void {
  if (typeof Intl === "undefined") return;
  const prototype = Intl.DateTimeFormat.prototype;
  const getFormat = getOwnPropertyDescriptor(prototype, "format")?.get;
  const { formatToParts } = prototype;
  defineProperty(prototype, "format", {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const format = apply(getFormat as () => unknown, this, []) as (date: unknown) => string;
      return (date?: unknown) => format(date === undefined ? nowMs : date);
    },
  });
  defineProperty(prototype, "formatToParts", {
    configurable: true,
    writable: true,
    value(this: Intl.DateTimeFormat, date?: unknown) {
      return apply(formatToParts, this, [date === undefined ? nowMs : date]);
    },
  });
}
