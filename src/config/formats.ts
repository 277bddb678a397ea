/** Formats of settings that are strings. */

import { basename, dirname, join, resolve } from "node:path";

import { digestOf } from "../text/index.ts";

/** Names of servers and of their tools may have any character but a star. Stars stand after the last dot, or for all servers. */
const TOOL_PATTERN =
  /^(?:\*|[^*.\p{Cc}][^*\p{Cc}]{0,255}\.(?:\*|[^*\p{Cc}]{1,256}|(?!\*+$)[^.\s\p{Cc}]{1,256})|\*\.(?!\*+$)[^.\s\p{Cc}]{1,256})$/u;
const IPV4_PART = "(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])";
const LOOPBACK = new RegExp(`^(?:127(?:\\.${IPV4_PART}){3}|::1|localhost)$`);

const SQLITE_SCHEME = "sqlite:";
export const SQLITE_MEMORY = ":memory:";

const ORIGIN_DIGITS = 12;

/** What is not a pattern is refused with these words. */
export const TOOL_PATTERN_FORMS = 'expected "*", "namespace.*", "namespace.tool", "namespace.delete*" or "*.delete*"';

/** `*`, `github.*`, `github.createIssue`, `github.delete*` or `*.delete*`: the forms that the policy supports. */
export function isToolPattern(value: string): boolean {
  return TOOL_PATTERN.test(value);
}

/** Accepts only spellings that all resolvers read alike, so not `127.1` or `127.0.0.01`. */
export function isLoopbackHost(value: string): boolean {
  return LOOPBACK.test(value);
}

/**
 * A user name or password in a URL would appear in logs and is refused by fetch, so it must be a header.
 * The URL parser drops white space silently, so it is refused before.
 */
export function isHttpUrl(value: string): boolean {
  if (/\s/.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

/** The URL of a client ID metadata document: an authorization server fetches it, so it must be public and exact. */
export function isClientMetadataUrl(value: string): boolean {
  const url = isHttpUrl(value) ? URL.parse(value) : null;
  return url !== null && url.protocol === "https:" && url.pathname !== "/" && url.search === "" && url.hash === "";
}

/** Only scheme, host and port: a proxy has no path, and credentials would appear in messages. */
export function isProxyUrl(value: string): boolean {
  const url = isHttpUrl(value) ? URL.parse(value) : null;
  return url !== null && url.protocol === "http:" && url.href === `${url.origin}/`;
}

/** Refuses options after `?` and hosts after `//`, which would silently become part of the file name. */
export function isSqliteUrl(value: string): boolean {
  if (!value.startsWith(SQLITE_SCHEME)) return false;
  const location = value.slice(SQLITE_SCHEME.length);
  if (location === SQLITE_MEMORY) return true;
  return location !== "" && !location.startsWith(":") && !/[?#\0]|^\/\/(?!\/)|[/\\]$/.test(location);
}

/** Returns the absolute path of a URL that `isSqliteUrl` accepts; `:memory:` is unchanged. */
export function toSqliteLocation(url: string, folder: string): string {
  const location = url.slice(SQLITE_SCHEME.length);
  return location === SQLITE_MEMORY ? location : resolve(folder, location);
}

/**
 * Returns the store of a configuration that names none. It is outside of every project, because a file server of a
 * project could read its keys. `origin` is the real path of the configuration, or the working folder without one.
 */
export function toDefaultStore(stateFolder: string, origin: string, isFile: boolean): string {
  const folder = basename(isFile ? dirname(origin) : origin);
  const name = folder.replaceAll(/[^\p{L}\p{N}._-]/gu, "-").replace(/^\.+/, "");
  const [shortened = ""] = /^.{1,40}/u.exec(name) ?? ["root"];
  const [, digits = ""] = digestOf(origin).split(":");
  return join(stateFolder, `${shortened}-${digits.slice(0, ORIGIN_DIGITS)}`, "glovebox.db");
}

/** Destinations of ledger records: a syslog receiver with its port, or a URL for OpenTelemetry. */
export function isExportUrl(value: string): boolean {
  return isHttpUrl(value) || isSyslogUrl(value);
}

/** Exactly `tcp://host:port` or `udp://host:port`. */
export function isSyslogUrl(value: string): boolean {
  if (/\s/.test(value)) return false;
  const url = URL.parse(value);
  if (url === null || !/^(?:tcp|udp):$/.test(url.protocol)) return false;
  return url.hostname !== "" && url.port !== "" && /^(?:tcp|udp):\/\/[^/@?#]+$/.test(value);
}
