/** Names of upstream resources and prompts, prefixed with the namespace of their server. */

/** The namespace of an upstream, and the upstream's own name of a resource or prompt. */
export interface UpstreamPlace {
  readonly namespace: string;
  readonly own: string;
}

const SCHEME = "glovebox://";
/** Marks an upstream URI that is not encoded. */
const WHOLE = "~";
const MAX_CHARS = 8_192;
const NAMESPACE = /^[a-z][A-Za-z0-9]{0,127}$/;

/** `glovebox://<namespace>/<its own URI, percent-encoded>`. */
export function toResourceUri(namespace: string, uri: string): string {
  return `${SCHEME}${namespace}/${encodeURIComponent(uri.toWellFormed()).replace(/^~/, "%7E")}`;
}

/**
 * `glovebox://<namespace>/~<its own template>`. The client encodes the values that it inserts (RFC 6570), and the server
 * decodes them, so the gateway must not change the URI.
 */
export function toTemplateUri(namespace: string, template: string): string {
  return `${SCHEME}${namespace}/${WHOLE}${template.toWellFormed()}`;
}

/** Returns `undefined` for any other URI. */
export function parseResourceUri(uri: string): UpstreamPlace | undefined {
  if (!uri.startsWith(SCHEME) || uri.length > MAX_CHARS) return undefined;
  const slash = uri.indexOf("/", SCHEME.length);
  if (slash < 0) return undefined;
  const rest = uri.slice(slash + 1);
  return toPlace(uri.slice(SCHEME.length, slash), rest.startsWith(WHOLE) ? rest.slice(1) : decode(rest));
}

/** `<namespace>_<name>`; a namespace has no underscore, so the first one is the separator. */
export function toPromptName(namespace: string, name: string): string {
  return `${namespace}_${name}`;
}

/** Returns `undefined` for any other name. */
export function parsePromptName(name: string): UpstreamPlace | undefined {
  const at = name.indexOf("_");
  if (at < 0 || name.length > MAX_CHARS) return undefined;
  return toPlace(name.slice(0, at), name.slice(at + 1));
}

function toPlace(namespace: string, own: string | undefined): UpstreamPlace | undefined {
  return own === undefined || own === "" || !NAMESPACE.test(namespace) ? undefined : { namespace, own };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
