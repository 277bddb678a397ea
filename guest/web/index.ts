/** The web-standard globals of the guest, for a bare ECMAScript realm. */

export { AbortController, AbortSignal, createTimeout } from "./abort.ts";
export { atob, btoa } from "./base64.ts";
export { createFetch } from "./fetch.ts";
export { Headers } from "./headers.ts";
export { structuredClone } from "./structured-clone.ts";
export { TextDecoder, TextEncoder } from "./text-encoding.ts";
export { createUrl } from "./url.ts";
export type { UrlHost } from "./url.ts";
export { URLSearchParams } from "./url-search-params.ts";
