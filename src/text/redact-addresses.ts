/** Removes addresses of the inner network from a text. */

const PART = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
/** RFC 1918, loopback, link-local with the metadata service, shared (RFC 6598), and "this host". */
const PRIVATE_V4 = [
  String.raw`(?:10|127|0)\.${PART}\.${PART}\.${PART}`,
  String.raw`192\.168\.${PART}\.${PART}`,
  String.raw`169\.254\.${PART}\.${PART}`,
  String.raw`172\.(?:1[6-9]|2\d|3[01])\.${PART}\.${PART}`,
  String.raw`100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.${PART}\.${PART}`,
].join("|");
/** Loopback, unique local (RFC 4193) and link-local. */
const PRIVATE_V6 = String.raw`\[?(?:::1|f[cd][0-9a-f]{2}:[0-9a-f:]{2,40}|fe80:[0-9a-f:]{2,40})(?:%\w{1,16})?\]?`;
/** `localhost` without a port reveals nothing. */
const LOCAL_NAME = String.raw`localhost(?=:\d)|[\w-][\w.-]{0,200}\.(?:internal|intranet|local|localdomain|lan|corp)(?![\w.-])`;
const PORT = String.raw`(?::\d{1,5}(?!\d))?`;
const ADDRESS = new RegExp(
  String.raw`(?<![\w.:-])(?:(?:${PRIVATE_V4})(?![\d.]*\d)|${PRIVATE_V6}|${LOCAL_NAME})${PORT}`,
  "gi",
);

/** Addresses become `[address]`, with their port. Public ones are kept: they help the reader. */
export function redactAddresses(text: string): string {
  return text.replace(ADDRESS, "[address]");
}
