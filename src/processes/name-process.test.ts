/** Whether a named process still runs. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";

import { hasEnded, nameProcess } from "./name-process.ts";

/** The name with one part replaced: 0 machine, 1 boot, 2 namespace, 3 number, 4 start. */
function change(name: string, part: number, value: string): string {
  return name.split("/").with(part, value).join("/");
}

describe("the name of a process", () => {
  it("a process name shows that it runs, and after its end that it has ended", async () => {
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    await once(child, "spawn");
    const name = nameProcess(child.pid);
    assert.deepEqual([hasEnded(name), hasEnded(nameProcess())], [false, false]);
    child.stdin.end();
    await once(child, "exit");
    assert.equal(hasEnded(name), true);
  });

  it("a process name does not match a later process with the same pid, or one of another boot", () => {
    assert.equal(hasEnded(change(nameProcess(), 4, "1")), true);
    assert.equal(hasEnded(change(nameProcess(), 1, "another")), true);
  });

  it("a process name proves nothing about another machine, another container or a string that is not a name", () => {
    assert.equal(hasEnded(change(nameProcess(), 0, "elsewhere")), false);
    assert.equal(hasEnded(change(nameProcess(), 2, "1")), false);
    for (const text of ["", "x", "a/b/c/0/1", `${nameProcess()}/x`]) assert.equal(hasEnded(text), false, text);
  });
});
