/** Declarations of globals: helpers for data, the network and secrets. */

import type { SecretGrant, SecretGrants } from "../domain/index.ts";
import { toCommentText } from "./escape-text.ts";

/** The helpers of `guest/helpers.ts`. A program may declare the same name itself. */
export const HELPER_GLOBALS = `/** Helpers for arrays of records. \`By\` is a field name, a path such as "user.login", or a function of the item. */
declare type By<T> = (keyof T & string) | \`\${string}.\${string}\` | ((item: T) => unknown);
declare function pick<T extends object, K extends keyof T>(list: readonly T[], ...names: (K | readonly K[])[]): Pick<T, K>[];
declare function pick<T extends object, K extends keyof T>(record: T, ...names: (K | readonly K[])[]): Pick<T, K>;
declare function omit<T extends object, K extends keyof T>(list: readonly T[], ...names: (K | readonly K[])[]): Omit<T, K>[];
declare function omit<T extends object, K extends keyof T>(record: T, ...names: (K | readonly K[])[]): Omit<T, K>;
declare function first<T>(list: readonly T[]): T | undefined;
declare function first<T>(list: readonly T[], size: number): T[];
declare function last<T>(list: readonly T[]): T | undefined;
declare function last<T>(list: readonly T[], size: number): T[];
/** Numeric strings count, null and undefined are skipped, anything else throws. */
declare function sum<T>(list: readonly T[], by?: By<T>): number;
/** The number of items, or with \`by\` the number for each value. */
declare function count(list: readonly unknown[]): number;
declare function count<T>(list: readonly T[], by: By<T>): Record<string, number>;
declare function groupBy<T>(list: readonly T[], by: By<T>): Record<string, T[]>;
/** A sorted copy; null and undefined come last. With several \`by\`, the first that differs decides. */
declare function sortBy<T>(list: readonly T[], by: By<T> | readonly By<T>[], order?: "asc" | "desc"): T[];
declare function unique<T>(list: readonly T[], by?: By<T>): T[];
declare function chunk<T>(list: readonly T[], size: number): T[][];
/** A Markdown table of all fields, or of the given ones. */
declare function table(list: readonly object[], ...columns: (string | readonly string[])[]): string;`;

/** The network of `guest/web/`, declared only if the network policy allows requests. */
export const NETWORK_GLOBALS = `/** Sends a request to a host that the operator allowed. Counts as a call. Follows redirects; responses are not streamed. */
declare function fetch(url: string | URL, init?: { method?: string; headers?: Headers | Record<string, string> | [string, string][]; body?: string | ArrayBuffer | ArrayBufferView | URLSearchParams | null; signal?: AbortSignal | null }): Promise<Response>;
interface Response {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly redirected: boolean;
  readonly headers: Headers;
  readonly bodyUsed: boolean;
  json(): Promise<any>;
  text(): Promise<string>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  arrayBuffer(): Promise<ArrayBuffer>;
  clone(): Response;
}
declare class Headers {
  constructor(init?: Headers | Record<string, string> | Iterable<[string, string]>);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(visit: (value: string, name: string, headers: Headers) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: any): void;
}
declare class AbortSignal {
  static abort(reason?: any): AbortSignal;
  static timeout(ms: number): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: any) => any) | null;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: (event: any) => any): void;
  removeEventListener(type: "abort", listener: (event: any) => any): void;
}`;

const COMMENT = `/** Placeholders for secrets. In a \`fetch\` to an allowed host, the placeholder is replaced by the secret; anywhere else it is a useless string. */`;
const MAX_HOSTS_LENGTH = 500;

/** Declared even without secrets, so that the type check finds a use of one before the program runs. */
export function declareSecrets(grants: SecretGrants): string {
  if (grants.size === 0) return "declare const secrets: {};";
  const members = [...grants].map(([name, grant]) => `${describe(grant)}\n  readonly ${name}: string;`);
  return `${COMMENT}\ndeclare const secrets: {\n  ${members.join("\n  ")}\n};`;
}

function describe({ hosts, places }: SecretGrant): string {
  const where = toCommentText(hosts.map(({ written }) => written).join(", "), MAX_HOSTS_LENGTH);
  return `/** For the ${places.map((place) => WORDS[place]).join(" or the ")} of a request to ${where}. */`;
}

const WORDS = { header: "headers", body: "body" } as const;
