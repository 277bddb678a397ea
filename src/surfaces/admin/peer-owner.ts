/**
 * Which user owns the other end of a connection on this machine. Linux only: the kernel lists the owner of every socket.
 * What cannot be found is `undefined`, and counts as another user.
 */

import { readFile } from "node:fs/promises";
import { isIPv4, isIPv6 } from "node:net";

/** Both ends, as this process sees them. */
export interface SocketEnds {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

export type ReadTable = (name: "tcp" | "tcp6") => Promise<string>;

const readProc: ReadTable = (name) => readFile(`/proc/self/net/${name}`, "latin1");

/** True where owners can be found at all. */
export async function canFindOwners(read: ReadTable = readProc): Promise<boolean> {
  return read("tcp").then(
    (text) => text.includes("uid"),
    () => false,
  );
}

/** Looks for the socket whose local end is our remote end. An IPv4 client may be in either table. */
export async function findPeerOwner(ends: SocketEnds, read: ReadTable = readProc): Promise<number | undefined> {
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = ends;
  const [theirs, ours] = [toWords(remoteAddress), toWords(localAddress)];
  if (!theirs || !ours) return undefined;
  for (const name of ["tcp", "tcp6"] as const) {
    const toHex = (words: Words): string | undefined => (name === "tcp" ? toShort(words) : toLong(words));
    const [from, to] = [toHex(theirs), toHex(ours)];
    if (from === undefined || to === undefined) continue;
    const table = await read(name).catch(() => "");
    const owner = findIn(table, `${from}:${toPort(remotePort)}`, `${to}:${toPort(localPort)}`);
    if (owner !== undefined) return owner;
  }
  return undefined;
}

const ESTABLISHED = "01";

/** Columns: number, local end, remote end, state, queues, timers, retransmits, owner. */
function findIn(table: string, local: string, remote: string): number | undefined {
  for (const line of table.split("\n")) {
    const [, from, to, state, , , , owner] = line.trim().split(/\s+/);
    if (from === local && to === remote && state === ESTABLISHED) return Number(owner);
  }
  return undefined;
}

/** The eight words of an IPv6 address; an IPv4 address is a mapped one. */
type Words = readonly number[];

function toWords(address: string): Words | undefined {
  const plain = address.replace(/%.*$/, "");
  if (isIPv4(plain)) return [0, 0, 0, 0, 0, 0xffff, ...toPairs(plain)];
  if (!isIPv6(plain)) return undefined;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  const text = dotted
    ? `${dotted[1]}${toPairs(dotted[2] ?? "")
        .map((word) => word.toString(16))
        .join(":")}`
    : plain;
  const [head = "", tail] = text.split("::");
  const [left, right] = [head, tail ?? ""].map((part) =>
    part === "" ? [] : part.split(":").map((word) => parseInt(word, 16)),
  );
  if (!left || !right) return undefined;
  return tail === undefined ? left : [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function toPairs(ipv4: string): readonly [number, number] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** As the kernel writes it: 32-bit groups in the byte order of the machine. */
function toLong(words: Words): string {
  let text = "";
  for (let at = 0; at < words.length; at += 2) text += toGroup(words[at] ?? 0, words[at + 1] ?? 0);
  return text;
}

function toShort(words: Words): string | undefined {
  const isMapped = words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff;
  return isMapped ? toGroup(words[6] ?? 0, words[7] ?? 0) : undefined;
}

const IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function toGroup(high: number, low: number): string {
  const bytes = Buffer.from([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  return Buffer.from(IS_LITTLE ? bytes.toReversed() : bytes)
    .toString("hex")
    .toUpperCase();
}

function toPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}
