/** Opens an address in the browser of whoever sits at this machine, when they asked for it. */

import { spawn } from "node:child_process";

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Without a shell, and only http and https, so the text can be neither a command nor an option. Never rejects. */
export function openBrowser(url: URL): void {
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("Only http and https addresses are opened");
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url.href], { stdio: "ignore", detached: true });
  child.on("error", () => undefined); // the address is printed as well
  child.unref();
}
