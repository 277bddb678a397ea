/**
 * Checks of the formats of JSON Schema. All of them take linear time, and they are lenient where servers are: they refuse
 * what is certainly not of the format. `regex` is missing, because servers mean the syntax of their own language.
 */

export interface Format {
  /** From the ranges that are reserved for examples (RFC 2606, RFC 3849, RFC 5737). */
  readonly example: string;
  readonly fits: (text: string) => boolean;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
/** Seconds and offset may be missing: many servers take local times. */
const TIME = /^([01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/i;
const AMOUNT = String.raw`\d+(?:[.,]\d+)?`;
const PART = (...units: readonly string[]): string => units.map((unit) => `(?:${AMOUNT}${unit})?`).join("");
const DURATION = new RegExp(`^[+-]?P(?=.)${PART("Y", "M", "W", "D")}(?:T(?=.)${PART("H", "M", "S")})?$`);
const UUID = /^(?:urn:uuid:)?\{?[\da-f]{8}(-?)(?:[\da-f]{4}\1){3}[\da-f]{12}\}?$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const LABEL = /^(?!-)[\da-z_-]{1,63}(?<!-)$/i;
const INTERNATIONAL_LABEL = /^(?!-)[\p{L}\p{M}\p{N}\p{Join_Control}_\u00b7\u30fb-]{1,63}(?<!-)$/u;
const MOST_HOST_CHARS = 253;
const MOST_EMAIL_CHARS = 1_000;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/u;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:[+-][1-9]\d*)?(?:#|(?:\/(?:[^~/]|~[01])*)*)$/;

const uri: Format = {
  example: "https://example.com/",
  fits: (text) => !SPACE_OR_CONTROL.test(text) && URL.canParse(text),
};
const reference: Format = {
  example: "/path",
  fits: (text) => !SPACE_OR_CONTROL.test(text) && URL.canParse(text, "https://example.com/"),
};
const hostname: Format = { example: "example.com", fits: (text) => isHost(text, LABEL) };
const email: Format = { example: "someone@example.com", fits: isEmail };

/** The formats that arguments are checked by. Others are not checked. */
export const FORMATS: ReadonlyMap<unknown, Format> = new Map<unknown, Format>([
  ["date-time", { example: "2000-01-01T00:00:00Z", fits: isDateTime }],
  ["date", { example: "2000-01-01", fits: isDate }],
  ["time", { example: "00:00:00Z", fits: (text) => TIME.test(text) }],
  ["duration", { example: "P1DT2H", fits: (text) => DURATION.test(text) }],
  ["email", email],
  ["idn-email", email],
  ["hostname", hostname],
  ["idn-hostname", { ...hostname, fits: (text) => isHost(text, INTERNATIONAL_LABEL) }],
  ["ipv4", { example: "192.0.2.1", fits: (text) => IPV4.test(text) }],
  ["ipv6", { example: "2001:db8::1", fits: isIpv6 }],
  ["uri", uri],
  ["url", uri],
  ["iri", uri],
  ["uri-reference", reference],
  ["iri-reference", reference],
  ["uuid", { example: "00000000-0000-4000-8000-000000000000", fits: (text) => UUID.test(text) }],
  ["json-pointer", { example: "/a/0", fits: (text) => POINTER.test(text) }],
  ["relative-json-pointer", { example: "1/a", fits: (text) => RELATIVE_POINTER.test(text) }],
]);

function isDate(text: string): boolean {
  const [, year = "", month = "", day = ""] = DATE.exec(text) ?? [];
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return year !== "" && date.getUTCMonth() === Number(month) - 1 && Number(day) > 0;
}

/** A space instead of `T` is common (RFC 3339, section 5.6). */
function isDateTime(text: string): boolean {
  return /^[t ]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11));
}

/** Something before and after the last `@`; the server decides which addresses exist. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at === text.length - 1 || text.length > MOST_EMAIL_CHARS) return false;
  const isQuoted = text.startsWith('"') && text[at - 1] === '"';
  return !SPACE_OR_CONTROL.test(isQuoted ? text.slice(at) : text);
}

function isHost(text: string, label: RegExp): boolean {
  if (text.length > MOST_HOST_CHARS + 1) return false;
  const labels = text.replace(/\.$/, "").split(".");
  return labels.every((one) => label.test(one));
}

/** The parser of URLs knows the notation; a zone may follow the address. */
function isIpv6(text: string): boolean {
  const [address = "", zone] = text.split("%", 2);
  return /^[\da-f:.]{2,45}$/i.test(address) && zone !== "" && URL.canParse(`http://[${address}]/`);
}
