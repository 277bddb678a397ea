/** Opens a URL in the default browser of this machine. */

import { spawn } from "node:child_process";

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Runs without a shell and with http and https only, so the URL cannot be a command or an option. Never rejects. */
export function openBrowser(url: URL, platform: string = process.platform): void {
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("Only http and https URLs can be opened");
  const [command, ...args] = OPENERS[platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url.href], { stdio: "ignore", detached: true });
  child.on("error", () => undefined); // the URL is printed as well
  child.unref();
}
