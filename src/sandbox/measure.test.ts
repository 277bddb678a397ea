/** What the kernel's text says of a process, whatever the process calls itself. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { measureProcess, parseCpuMs, parseResidentBytes } from "./measure.ts";

function statOf(command: string): string {
  return `4242 (${command}) R 1 4242 4242 0 -1 4194304 100 0 3 0 137 25 7 9 20 0 7 0 12345 1000000 500 18446744073709551615\n`;
}

describe("parseCpuMs", () => {
  for (const command of ["node", "my node", "a) R 1 2 3", "((", ") (", "x) R 9 9 9 9 9 9 9 9 9 9 999 999 (y", ""]) {
    it(`adds user and system time for the command ${JSON.stringify(command)}`, () => {
      assert.equal(parseCpuMs(statOf(command)), 1_620);
    });
  }
});

describe("parseResidentBytes", () => {
  it("reads the resident kilobytes among the other lines", () => {
    const status =
      "Name:\tnode\nVmPeak:\t  999999 kB\nVmHWM:\t   77777 kB\nVmRSS:\t   54321 kB\nRssAnon:\t   11111 kB\n";
    assert.equal(parseResidentBytes(status), 54_321 * 1_024);
  });
  it("is not fooled by a name that looks like the line", () => {
    assert.equal(parseResidentBytes("Name:\tVmRSS: 1 kB\nVmRSS:\t2 kB\n"), 2_048);
  });
  it("is nothing for a process without memory, such as a zombie", () => {
    assert.equal(parseResidentBytes("Name:\tnode\nState:\tZ (zombie)\n"), 0);
  });
});

describe("measureProcess", () => {
  it("measures this very process", { skip: process.platform !== "linux" }, () => {
    const measure = measureProcess(process.pid);
    assert.ok(measure && measure.cpuMs >= 0 && measure.residentBytes > 10 * 1024 * 1024);
  });
  it("knows nothing of a process that is gone", () => {
    assert.deepEqual(
      [measureProcess(0x7fff_ffff), measureProcess(0), measureProcess(-1)],
      [undefined, undefined, undefined],
    );
  });
});
