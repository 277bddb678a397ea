/** What `fetch` returns: a whole response in memory, whose body can be read once. */

import { Bytes, charCodeAt, parseJson } from "../intrinsics.ts";
import { atob } from "./base64.ts";
import { spanOf, typedArrayLength } from "./buffer-source.ts";
import { refuseToClone } from "./clone-refusals.ts";
import { Headers } from "./headers.ts";
import { Utf8Decoder, encodeUtf8 } from "./utf8.ts";

/** As the host sends it: the body is text when its bytes are, and base64 otherwise. */
export interface ResponseMessage {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly redirected: boolean;
  readonly headers: readonly (readonly [string, string])[];
  readonly text?: string;
  readonly base64?: string;
}

export class Response {
  readonly #message: ResponseMessage;
  readonly #headers = new Headers();
  #isUsed = false;

  constructor(message: ResponseMessage) {
    this.#message = message;
    const { headers } = message;
    for (let index = 0; index < headers.length; index += 1)
      this.#headers.append(headers[index]?.[0], headers[index]?.[1]);
  }

  get url(): string {
    return this.#message.url;
  }

  get status(): number {
    return this.#message.status;
  }

  get statusText(): string {
    return this.#message.statusText;
  }

  get ok(): boolean {
    return this.#message.status >= 200 && this.#message.status < 300;
  }

  get redirected(): boolean {
    return this.#message.redirected;
  }

  get headers(): Headers {
    return this.#headers;
  }

  get bodyUsed(): boolean {
    return this.#isUsed;
  }

  async text(): Promise<string> {
    const { text } = this.#use();
    return text ?? new Utf8Decoder(false).decode(this.#decode(), true);
  }

  async json(): Promise<unknown> {
    return parseJson(await this.text());
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const { text } = this.#use();
    return text === undefined ? this.#decode() : encodeUtf8(text);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return spanOf(await this.bytes()).buffer;
  }

  clone(): Response {
    if (this.#isUsed) throw new TypeError("The body has been read already; clone the response before");
    return new Response(this.#message);
  }

  get [Symbol.toStringTag](): string {
    return "Response";
  }

  #use(): ResponseMessage {
    if (this.#isUsed) throw new TypeError("The body has been read already; keep what text() or json() gave");
    this.#isUsed = true;
    return this.#message;
  }

  #decode(): Uint8Array<ArrayBuffer> {
    const binary = atob(this.#message.base64 ?? "");
    const bytes = new Bytes(binary.length);
    const length = typedArrayLength(bytes) ?? 0;
    for (let index = 0; index < length; index += 1) bytes[index] = charCodeAt(binary, index);
    return bytes;
  }
}
refuseToClone(Response.prototype, "Response");
