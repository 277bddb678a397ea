/**
 * Loaded before a gateway: it ends the process with a real SIGKILL just before or just after its n-th commit, as
 * `DIE_AT` says. There is no other moment at which less than a whole step is written down.
 */

import { DatabaseSync } from "node:sqlite";

const [side, at] = (process.env.DIE_AT ?? "").split(" ");
const { exec } = DatabaseSync.prototype;
let commits = 0;

DatabaseSync.prototype.exec = function (sql) {
  if (sql !== "COMMIT") return exec.call(this, sql);
  commits += 1;
  if (side === "before" && commits === Number(at)) process.kill(process.pid, "SIGKILL");
  const done = exec.call(this, sql);
  if (side === "after" && commits === Number(at)) process.kill(process.pid, "SIGKILL");
  return done;
};
