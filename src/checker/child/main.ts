/** The entry of the checker's process: requests on standard input, replies on standard output, one per line. */

import { createLineReader, parseCheckerRequest } from "../wire.ts";
import type { CheckerReply, CheckerRequest } from "../wire.ts";
import { createCompiler } from "./compiler.ts";
import type { Compiler } from "./compiler.ts";
import { judge } from "./judge.ts";

function answer(compiler: Compiler, { id, api, declarations, text }: CheckerRequest): CheckerReply {
  try {
    if (!compiler.knows(api)) {
      if (declarations === undefined) return { id, kind: "unknownApi" };
      compiler.learn(api, declarations);
    }
    return { id, kind: "checked", mistakes: compiler.check(api, text, judge) };
  } catch {
    return { id, kind: "failed" };
  }
}

const compiler = createCompiler();
process.stdin.once("end", () => process.exit()); // the gateway is gone
process.stdin.setEncoding("utf8").on(
  "data",
  createLineReader((line) => process.stdout.write(`${JSON.stringify(answer(compiler, parseCheckerRequest(line)))}\n`)),
);
