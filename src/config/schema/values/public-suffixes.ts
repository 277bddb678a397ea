/** Names below which anyone can register a name, so that a wildcard below one of them would allow any server. */

import { PUBLIC_SUFFIXES } from "./public-suffixes.generated.ts";

/** Shared hosting, tunnels and collectors that are not in the Public Suffix List. Every customer gets a name below. */
const SHARED: ReadonlySet<string> = new Set(
  [
    "amazonaws.com on.aws windows.net core.windows.net azure.com cloudapp.azure.com googleusercontent.com storage.googleapis.com",
    "fastly.net b-cdn.net wasabisys.com backblazeb2.com firebaseio.com herokudns.com render.com railway.app",
    "kinsta.page koyeb.app glitch.me stackblitz.io webcontainer.io codesandbox.io gitpod.io huggingface.co",
    "github.dev app.github.dev preview.app.github.dev neocities.org wordpress.com weebly.com shopify.com",
    "squarespace.com atlassian.net zendesk.com nip.io sslip.io xip.io localtest.me lvh.me vcap.me traefik.me",
    "loca.lt serveo.net localhost.run lhr.life webhook.site requestbin.net pipedream.net m.pipedream.net",
    "oastify.com oast.fun interact.sh",
  ].flatMap((line) => line.split(" ")),
);

/** Below a name of `SHARED`, labels for a region or a kind of storage, which belong to all customers too. */
const REGION = /\d|^(?:s3|blob|dfs|file|queue|table|web)$|^(?:execute-api|lambda-url|elb|compute|s3-website)\b/;

/** What registries of countries sell or reserve below their two letters, also where the list lacks it. */
const REGISTRY = /^(?:ac|co|com|edu|gov|mil|net|or|org)\.[a-z]{2}$/;

/** `name` is canonical: lower case, punycode, no dot at the end. */
export function isPublicSuffix(name: string): boolean {
  const labels = name.split(".");
  const [top = "", second = ""] = labels.toReversed();
  if (labels.length < 2 || SHARED.has(name) || REGISTRY.test(name) || isListed(top, labels.slice(0, -1))) return true;
  return SHARED.has(`${second}.${top}`) && REGION.test(labels[0] ?? "");
}

/** True for a suffix of the Public Suffix List, and for a name below which every name is one (`*.ck`). */
function isListed(top: string, [first = "", ...others]: readonly string[]): boolean {
  const start = PUBLIC_SUFFIXES.indexOf(`|${top} `);
  if (start < 0) return false;
  const rules = PUBLIC_SUFFIXES.slice(start + top.length + 2, PUBLIC_SUFFIXES.indexOf("|", start + 1)).split(" ");
  const rest = [first, ...others].join(".");
  if (rules.includes(`!${rest}`)) return false;
  return [rest, ["*", ...others].join("."), `*.${rest}`].some((rule) => rules.includes(rule));
}
