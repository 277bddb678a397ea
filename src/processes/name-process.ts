/** Names a process so that another one can tell later whether it has ended: a pid alone is reused. */

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Fields of `/proc/<pid>/stat` after the command's closing parenthesis, counted from the process state as 0. */
const START_TICKS = 19;
const PARTS = 5;

/** Machine, boot, pid namespace, pid and start time. Empty where the system does not provide them. */
export function nameProcess(pid: number = process.pid): string {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim());
  const namespace = attempt(() => readlinkSync("/proc/self/ns/pid")).replaceAll(/\D/g, "");
  return [hostname().replaceAll("/", "_"), boot, namespace, pid, findStart(pid)].join("/");
}

/** True only when it is certain. A process of another machine or container cannot be seen from here. */
export function hasEnded(name: string): boolean {
  const parts = name.split("/");
  const [host = "", boot = "", namespace = "", pid = "", start = ""] = parts;
  const [ownHost = "", ownBoot = "", ownNamespace = ""] = nameProcess().split("/");
  if (parts.length !== PARTS || !/^[1-9]\d*$/.test(pid) || host !== ownHost) return false;
  if (boot !== ownBoot) return true;
  if (namespace !== ownNamespace) return false;
  return isGone(Number(pid)) || findStart(Number(pid)) !== start;
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH";
  }
}

/** When the process started, in ticks since the machine did. The command's name in brackets may contain brackets. */
export function findStart(pid: number): string {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_TICKS] ?? "";
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
