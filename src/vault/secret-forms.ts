/** The forms in which text contains a secret: as it is, and in the encodings that programs and servers use. */

/** Shorter encodings occur in unrelated text. */
const MIN_ENCODED = 8;
/** A line of this length in a longer secret, such as a private key, counts as a secret too. */
const MIN_LINE = 16;
const BITS = { byte: 8, digit: 6 } as const;

/** Returns every form once. Reversed, split and encrypted secrets are out of scope. */
export function formsOf(secret: string): readonly string[] {
  return [...new Set(withLines(secret).flatMap(formsOfOne))];
}

/** Returns the secret and its long lines. */
export function withLines(secret: string): readonly string[] {
  return [secret, ...secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE)];
}

function formsOfOne(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const encoded = [...toBase64Cores(bytes), ...toHexForms(bytes), ...toPercentForms(secret, bytes)];
  const whole = [secret, bytes.toString("base64"), ...toEscapedForms(secret)];
  return [...whole, ...encoded.filter((form) => form.length >= MIN_ENCODED)];
}

/**
 * Returns what the base64 of any longer text contains, wherever the secret is in it: three alignments, each without the
 * digits at its ends that depend on the surrounding bytes.
 */
export function toBase64Cores(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const start = Math.ceil((before * BITS.byte) / BITS.digit);
    const end = Math.floor(((before + bytes.length) * BITS.byte) / BITS.digit);
    const core = text.slice(start, end);
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function toHexForms(bytes: Buffer): readonly string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/** As written by `encodeURIComponent`, `encodeURI` and forms, with plain slashes, digits of both cases, or every byte encoded. */
function toPercentForms(secret: string, bytes: Buffer): readonly string[] {
  const usual = encodeURIComponent(secret.toWellFormed());
  const strict = usual.replaceAll(/[!'()*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const every = bytes.toString("hex").replaceAll(/../g, "%$&");
  const withSlashes = [usual, strict].map((form) => form.replaceAll("%2F", "/"));
  const encoded = [usual, strict, ...withSlashes, encodeURI(secret.toWellFormed())];
  const forms = [...encoded, ...encoded.map((form) => form.replaceAll("%20", "+")), every.toUpperCase()];
  return forms.flatMap((form) => [form, form.replaceAll(/%../g, (digits) => digits.toLowerCase())]);
}

/** Inside JSON, inside JSON in JSON, in ASCII only, with slashes escaped, and inside HTML. */
function toEscapedForms(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replaceAll(/[^ -~]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const slashes = json.replaceAll("/", String.raw`\/`);
  return [json, ascii, slashes, JSON.stringify(json).slice(1, -1), ...toHtmlForms(secret)];
}

function toHtmlForms(secret: string): readonly string[] {
  const plain = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const apostrophes = ["'", "&#39;", "&#x27;", "&apos;", "&#039;"];
  const quotes = ['"', "&quot;", "&#34;"];
  return quotes.flatMap((quote) =>
    apostrophes.map((apostrophe) => plain.replaceAll('"', quote).replaceAll("'", apostrophe)),
  );
}
