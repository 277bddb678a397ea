/** Formats refuse what is certainly wrong and accept what real servers accept. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { FORMATS } from "./formats.ts";

const CASES: Readonly<Record<string, readonly [fits: readonly string[], fails: readonly string[]]>> = {
  "date-time": [
    ["2024-02-29T10:00:00Z", "2024-01-01 10:00:00+02:00", "2024-01-01T10:00:00", "2024-01-01t10:00:00.123456z"],
    ["2024-02-30T10:00:00Z", "2023-02-29T10:00:00Z", "yesterday", "2024-01-01", "2024-01-01T25:00:00Z", ""],
  ],
  date: [
    ["0000-01-01", "9999-12-31", "2024-02-29"],
    ["2024-02-30", "24-01-01", "2024-01-00", "2024/01/01", "1900-02-29", "2024-13-01"],
  ],
  time: [
    ["10:00", "10:00:00", "10:00:00Z", "23:59:60Z", "10:00:00.5+02:00"],
    ["25:00", "10", "10:60:00", "noon"],
  ],
  duration: [
    ["P1D", "PT1.5S", "P1Y2M3W4DT5H6M7S", "-P1D", "P2W"],
    ["P", "PT", "1 day", "P1DT", "P1S"],
  ],
  email: [
    ["a@b.c", "jörg@bücher.example", '"a b"@c.d', "a+b@localhost"],
    ["a", "@b", "a@", "a b@c.d", "a@b c"],
  ],
  "idn-email": [["jörg@bücher.example"], ["jörg"]],
  hostname: [
    ["a", "a.b", "localhost", "_dmarc.example.com", "xn--a.b.", "a".repeat(63)],
    ["-a", "a-", "a..b", "", "a b", "a:80", "ü.de", "a".repeat(64), "a.".repeat(130)],
  ],
  "idn-hostname": [
    ["ü.de", "例え.jp"],
    ["a b", "-a"],
  ],
  ipv4: [
    ["1.2.3.4", "255.255.255.255", "0.0.0.0"],
    ["1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4.", "a", "1.2.3.4/8"],
  ],
  ipv6: [
    ["::", "::1", "2001:db8::1", "fe80::1%eth0", "::ffff:1.2.3.4"],
    [":", "1.2.3.4", "g::", "::1%", "1::2::3", "12345::"],
  ],
  uri: [
    ["https://a.b/c?d#e", "mailto:a@b", "urn:x:y", "file:///a", "data:text/plain,hi", "https://ä.de/ö"],
    ["/a", "a", "https://", "http://a b", "", "https://a/b c", "https://a/\n"],
  ],
  url: [["http://localhost:3000/"], ["localhost"]],
  iri: [["https://ä.de/ö"], ["ö"]],
  "uri-reference": [
    ["/a", "a", "../x", "?q", "#f", "https://a", "//h/p", ""],
    ["a b", "http://[", "\n"],
  ],
  "iri-reference": [["/ö"], ["ö ö"]],
  uuid: [
    [
      "00000000-0000-0000-0000-000000000000",
      "000000000000400080000000000000AB",
      "urn:uuid:00000000-0000-4000-8000-000000000000",
    ],
    ["x", "00000000-0000-4000-8000-00000000000", "0000000-00000-4000-8000-000000000000"],
  ],
  "json-pointer": [
    ["", "/a/0", "/~0~1"],
    ["a", "/~2"],
  ],
  "relative-json-pointer": [
    ["0", "1/a", "2#", "0+1/a"],
    ["-1", "01", "/a"],
  ],
};

describe("a format", () => {
  it("a format has cases here", () =>
    assert.deepEqual(Object.keys(CASES).toSorted(), [...FORMATS.keys()].map(String).toSorted()));
  for (const [name, format] of FORMATS) {
    const [fits, fails] = CASES[String(name)] ?? [[], []];
    it(`a format accepts its example and what servers accept: ${String(name)}`, () => {
      assert.deepEqual(
        [format.example, ...fits].filter((text) => !format.fits(text)),
        [],
      );
    });
    it(`a format refuses other strings: ${String(name)}`, () => {
      assert.deepEqual(
        fails.filter((text) => format.fits(text)),
        [],
      );
    });
  }
  it("a format takes time that grows with the string and not faster", () => {
    const cpu = (fits: (text: string) => boolean, text: string): number => {
      const start = process.threadCpuUsage(); // a busy machine does not decide
      for (const around of [text, `https://${text}!`, `P${text}!`, `/${text}~`]) fits(around);
      return process.threadCpuUsage(start).user;
    };
    for (const [name, { fits }] of FORMATS) {
      for (const piece of ["a", "1", "a@", "1.", "1:", "/", "-", "1D", "a.", "http://a/", "::", "é"]) {
        const [some, many] = [20_000, 200_000].map((length) => piece.repeat(length / piece.length));
        cpu(fits, some ?? "");
        assert.ok(cpu(fits, many ?? "") < 50 * cpu(fits, some ?? "") + 100_000, `${String(name)} ${piece}`);
      }
    }
  });
});
