/** `TextEncoder` and `TextDecoder` for UTF-8, the only encoding inside the isolate. */

import { charCodeAt, regexExec, slice, toDomString } from "../intrinsics.ts";
import { bytesOf, typedArrayName } from "./buffer-source.ts";
import type { Progress } from "./utf8.ts";
import { encodeUtf8, encodeUtf8Into, Utf8Decoder } from "./utf8.ts";

const BOM = 0xfeff;
const EMPTY = new Uint8Array(0);
/** The standard's labels of UTF-8, without case and with surrounding ASCII whitespace. */
const UTF8_LABEL = /^[\t\n\f\r ]*(?:utf-?8|unicode-1-1-utf-8|unicode11utf8|(?:x-)?unicode20utf8)[\t\n\f\r ]*$/i;

interface DecoderOptions {
  readonly fatal?: boolean | undefined;
  readonly ignoreBOM?: boolean | undefined;
}

/** Turns strings into UTF-8 bytes; lone surrogates become U+FFFD. */
export class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  /** All bytes of a string; none for `undefined`. */
  encode(input?: unknown): Uint8Array<ArrayBuffer> {
    return encodeUtf8(input === undefined ? "" : toDomString(input));
  }

  /** Fills `target` with whole characters and returns how far it got. */
  encodeInto(source: unknown, target: Uint8Array): Progress {
    const text = toDomString(source);
    if (typedArrayName(target) !== "Uint8Array") throw new TypeError("encodeInto needs a Uint8Array to write to");
    return encodeUtf8Into(text, target);
  }

  get [Symbol.toStringTag](): string {
    return "TextEncoder";
  }
}

/** Turns UTF-8 bytes into strings, in one piece or as a stream. */
export class TextDecoder {
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;
  #decoder: Utf8Decoder;
  #isStreaming = false;
  #hasBegun = false;

  /** Labels other than those of UTF-8 are a RangeError. */
  constructor(label?: unknown, options?: DecoderOptions) {
    const name = label === undefined ? "utf-8" : toDomString(label);
    if (regexExec(UTF8_LABEL, name) === null)
      throw new RangeError('The encoding "' + name + '" is not supported; only utf-8 is');
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
    this.#decoder = new Utf8Decoder(this.#fatal);
  }

  get encoding(): string {
    return "utf-8";
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  /** Decodes a buffer or view. With `stream` an unfinished character waits for the next chunk. */
  decode(input?: ArrayBuffer | ArrayBufferView, options?: { readonly stream?: boolean | undefined }): string {
    const bytes = input === undefined ? EMPTY : bytesOf(input);
    const isLast = !options?.stream;
    if (!this.#isStreaming) {
      this.#decoder = new Utf8Decoder(this.#fatal);
      this.#hasBegun = false;
    }
    this.#isStreaming = false; // stays so if the decoder throws: the next call then begins a new text
    const text = this.#decoder.decode(bytes, isLast);
    this.#isStreaming = !isLast;
    return this.#withoutMark(text);
  }

  #withoutMark(text: string): string {
    if (this.#hasBegun || text.length === 0) return text;
    this.#hasBegun = true;
    return !this.#ignoreBOM && charCodeAt(text, 0) === BOM ? slice(text, 1) : text;
  }

  get [Symbol.toStringTag](): string {
    return "TextDecoder";
  }
}
