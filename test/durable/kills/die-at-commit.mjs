/**
 * Loaded before a gateway or a command: ends the process with SIGKILL just before or just after its n-th commit
 * (`DIE_AT` is `before 3`), or before or after a file is replaced (`after rules.json`). Only at these moments can a step
 * be partly recorded.
 */

import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { StatementSync } from "node:sqlite";

const [side, at] = (process.env.DIE_AT ?? "").split(" ");
const { run } = StatementSync.prototype;
let commits = 0;

StatementSync.prototype.run = function (...values) {
  if (this.sourceSQL !== "COMMIT") return run.apply(this, values);
  commits += 1;
  if (side === "before" && commits === Number(at)) process.kill(process.pid, "SIGKILL");
  const done = run.apply(this, values);
  if (side === "after" && commits === Number(at)) process.kill(process.pid, "SIGKILL");
  return done;
};

const { rename } = promises;
promises.rename = async (from, to) => {
  const isChosen = at !== undefined && String(to).endsWith(`/${at}`);
  if (side === "before" && isChosen) process.kill(process.pid, "SIGKILL");
  await rename(from, to);
  if (side === "after" && isChosen) process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();
