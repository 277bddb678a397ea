/**
 * Loaded before a gateway: it ends the process with a real SIGKILL just before or just after its n-th commit, as
 * `DIE_AT` says. There is no other moment at which less than a whole step is written down.
 */

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
