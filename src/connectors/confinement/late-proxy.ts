/** How a confined server learns about its proxy. Node loads its support of proxies late, because that takes long. */

import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The build copies it beside this module. */
export const LATE_PROXY = fileURLToPath(new URL("./late-proxy.cjs", import.meta.url));

const ASK_MS = 5_000;
/** By program: whether it has what the file above calls. */
const KNOWN = new Map<string, Promise<boolean>>();

/** True if `file` is Node and has `http.setGlobalProxyFromEnv`. Another Node is asked for its version, once. */
export function knowsLateProxy(file: string): Promise<boolean> {
  const program = realpathSync(file);
  if (program === realpathSync(process.execPath)) return Promise.resolve(isRecent(process.version));
  if (basename(program) !== "node") return Promise.resolve(false);
  const known = KNOWN.get(program) ?? askVersion(program).then(isRecent);
  KNOWN.set(program, known);
  return known;
}

async function askVersion(program: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, ["--version"], { env: {}, timeout: ASK_MS });
    return stdout;
  } catch {
    return "";
  }
}

/** 24.14, 25.4 and newer. */
function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = /^v(\d+)\.(\d+)\./.exec(version)?.slice(1).map(Number) ?? [];
  return major > 25 || (major === 25 && minor >= 4) || (major === 24 && minor >= 14);
}

interface ProxyRequest {
  readonly proxy: string;
  /** Hosts that are reached without the proxy. */
  readonly unproxied: string;
  /** What the configuration sets, which takes precedence. */
  readonly env: Readonly<Record<string, string>>;
  /** The path at which the server finds the file above; `undefined` if it cannot use it. */
  readonly lateProxy?: string;
}

export function toProxyVariables({ proxy, unproxied, env, lateProxy }: ProxyRequest): Readonly<Record<string, string>> {
  const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxy] as const);
  const own = env["NODE_OPTIONS"] === undefined ? "" : ` ${env["NODE_OPTIONS"]}`;
  return {
    ...(lateProxy === undefined ? { NODE_USE_ENV_PROXY: "1" } : {}),
    NO_PROXY: unproxied,
    no_proxy: unproxied,
    ...Object.fromEntries(proxies),
    ...env,
    ...(lateProxy === undefined ? {} : { NODE_OPTIONS: `--require=${JSON.stringify(lateProxy)}${own}` }),
  };
}
