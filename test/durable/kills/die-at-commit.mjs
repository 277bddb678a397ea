/**
 * Loaded before a gateway: ends the process with SIGKILL just before or just after its n-th commit, as `DIE_AT`
 * specifies. Only at these moments can a step be partly recorded.
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
