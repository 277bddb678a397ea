/** What a text must look like in the settings that are more than a text. */

const TOOL_PATTERN = /^(?:\*|[a-z][A-Za-z0-9]{0,127}\.(?:\*|[a-z][A-Za-z0-9]{0,127}))$/;
const IPV4_PART = "(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])";
const LOOPBACK = new RegExp(`^(?:127(?:\\.${IPV4_PART}){3}|::1|localhost)$`);

const SQLITE_SCHEME = "sqlite:";
const SQLITE_MEMORY = ":memory:";

/** `*`, `github.*` or `github.createIssue`: the three forms that the policy room matches. */
export function isToolPattern(value: string): boolean {
  return TOOL_PATTERN.test(value);
}

/** Only spellings that every resolver reads alike; `127.1` and `127.0.0.01` are not among them. */
export function isLoopbackHost(value: string): boolean {
  return LOOPBACK.test(value);
}

/**
 * A user name or password in a URL ends up in logs and is refused by fetch, so it has to be a header.
 * The parser drops white space without a word, so a text with any is refused before it.
 */
export function isHttpUrl(value: string): boolean {
  if (/\s/.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

/** What a client ID metadata document may be called: an authorization server fetches it, so it is public and exact. */
export function isClientMetadataUrl(value: string): boolean {
  const url = isHttpUrl(value) ? URL.parse(value) : null;
  return url !== null && url.protocol === "https:" && url.pathname !== "/" && url.search === "" && url.hash === "";
}

/** Scheme, host and port, and nothing else: a proxy has no path, and its credentials would end up in messages. */
export function isProxyUrl(value: string): boolean {
  const url = isHttpUrl(value) ? URL.parse(value) : null;
  return url !== null && url.protocol === "http:" && url.href === `${url.origin}/`;
}

/** Options after `?` and hosts after `//` would silently become part of a file's name, so neither is taken. */
export function isSqliteUrl(value: string): boolean {
  if (!value.startsWith(SQLITE_SCHEME)) return false;
  const location = value.slice(SQLITE_SCHEME.length);
  if (location === SQLITE_MEMORY) return true;
  return location !== "" && !location.startsWith(":") && !/[?#\0]|^\/\/(?!\/)|[/\\]$/.test(location);
}

/** The path in a URL that `isSqliteUrl` accepts, not yet resolved; `:memory:` stays as it is. */
export function toSqliteLocation(url: string): string {
  return url.slice(SQLITE_SCHEME.length);
}

/** True for the location of a store that lives in memory. */
export function isMemoryLocation(location: string): boolean {
  return location === SQLITE_MEMORY;
}

/** Where records of the ledger may be sent: a syslog receiver with its port, or an address for OpenTelemetry. */
export function isExportUrl(value: string): boolean {
  return isHttpUrl(value) || isSyslogUrl(value);
}

/** `tcp://host:port` or `udp://host:port` and nothing more. */
export function isSyslogUrl(value: string): boolean {
  if (/\s/.test(value)) return false;
  const url = URL.parse(value);
  if (url === null || !/^(?:tcp|udp):$/.test(url.protocol)) return false;
  return url.hostname !== "" && url.port !== "" && /^(?:tcp|udp):\/\/[^/@?#]+$/.test(value);
}
