/** ASCII character classes of the WHATWG Infra standard. */

/** True for tab, line feed, form feed, carriage return and space: the whitespace that the web standards skip. */
export function isAsciiSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0c || unit === 0x0d;
}
