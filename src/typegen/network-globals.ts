/** The declarations of the sandbox's network: shown and checked only where the network policy allows something. */

/** As `guest/web/` has them: the part of the standard that exists here. */
export const NETWORK_GLOBALS = `/** One request to a host that the operator allowed; counts as a call. Redirects are followed, responses are whole. */
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
