/** Shows a notification on the desktop of this machine, with the program that the system has for it. */

import { spawn } from "node:child_process";

import { GloveboxError } from "../domain/index.ts";

export interface DesktopOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  /** Called once if no notification can be shown. */
  readonly warn: (thrown: unknown) => void;
}

/** All that these programs need. Everything else in the environment may be secret. */
const PASSED = [
  ..."PATH HOME LANG DISPLAY WAYLAND_DISPLAY XAUTHORITY".split(" "),
  ..."XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS".split(" "),
];
const MAX_RUNNING = 5;
const RUN_MS = 10_000;
const SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

/** Returns at once and never throws. Notifications beyond a few at a time are left out. */
export function createDesktop({ environment, platform, warn }: DesktopOptions) {
  const env = Object.fromEntries(PASSED.map((name) => [name, environment[name]]));
  let running = 0;
  let hasFailed = false;
  return (title: string, text: string): void => {
    if (running >= MAX_RUNNING) return;
    running += 1;
    const [command, args] = toCommand(platform, title, text);
    const child = spawn(command, args, { stdio: "ignore", timeout: RUN_MS, env });
    let hasEnded = false;
    const end = (isShown: boolean, why: string): void => {
      if (!hasEnded) running -= 1;
      hasEnded = true;
      if (isShown || hasFailed) return;
      hasFailed = true;
      warn(notShown(command, why));
    };
    child.once("error", () => end(false, "could not be started"));
    child.once("exit", (code) => end(code === 0, "failed"));
    child.unref();
  };
}

/** No shell, and a fixed list: both texts are one argument each, after the options. */
function toCommand(platform: string, title: string, text: string): readonly [command: string, args: readonly string[]] {
  if (platform === "darwin") return ["osascript", ["-e", SCRIPT, title, text]];
  return ["notify-send", ["--app-name=Glovebox", "--", title, escapeMarkup(text)]];
}

/** For desktops, which read the text as markup, and for Slack. */
export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function notShown(command: string, why: string): GloveboxError {
  return new GloveboxError("CONFIG_INVALID", `No desktop notification can be shown: ${command} ${why}`, {
    hint: "Install it (on Debian the package libnotify-bin), or set `approvals.notify.desktop` to false",
  });
}
