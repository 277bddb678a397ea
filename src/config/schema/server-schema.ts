/** Schema of `server`: where `glovebox serve` listens, and whom it answers. */

import { z } from "zod";

import { isLoopbackHost } from "../formats.ts";
import { choice, integer, nonEmptyString, optional } from "./fields.ts";
import { oauthSchema } from "./oauth-schema.ts";
import { oidcSchema } from "./oidc-schema.ts";

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45})$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const MIN_PROXY_TOKEN = 16;
/** 30 days, as long as a session. */
const MAX_STEP_UP_MINUTES = 43_200;

const host = z.string().refine((text) => HOST.test(text), "expected an address or a host name without a port");
const port = integer([0, 65_535], 4747, "The port of `glovebox serve`; 0 chooses a free port.");

/** A public address: https, or http on this machine. The path of a proxy is not supported. */
export function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.href !== `${url.origin}/` || /\s/.test(text)) return false;
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(name));
}

/** An address, or a network such as `10.0.0.0/8`. */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const isFour = IPV4.test(address);
  const isSix = /^[0-9A-Fa-f:.]+$/.test(address) && URL.canParse(`http://[${address}]/`);
  if ((!isFour && !isSix) || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isFour ? 32 : 128));
}

export const serverSchema = z
  .strictObject({
    host: host
      .default("127.0.0.1")
      .describe("The address that `glovebox serve` listens on. One that other machines can reach needs logins."),
    port,
    auth: choice(
      ["local", "required"],
      "Whether processes of this user need an access token for `/mcp`. For an address that other machines can reach, it is always required.",
    ),
    oauth: oauthSchema,
    oidc: oidcSchema,
    sessions: z
      .strictObject({
        stepUpMinutes: optional(
          z.int().min(0).max(MAX_STEP_UP_MINUTES),
          "How long after a login a session on the page may change something; then it must log in again. 0 never asks. Without it: 15, and 0 in local mode.",
        ),
      })
      .prefault({})
      .describe("Sessions of people on the page."),
    publicUrl: optional(
      z.string().refine(isPublicUrl, "expected an https URL without a path; http is allowed for this machine only"),
      "The address that clients use, such as that of a reverse proxy.",
    ),
    allowedHosts: z
      .array(
        z
          .string()
          .refine((text) => /^[^\s/@]{1,260}$/.test(text), "expected a host, with its port unless it is the default"),
      )
      .max(100)
      .default([])
      .describe("Further valid values of the Host header."),
    trustedProxies: z
      .array(z.string().refine(isNetwork, "expected an IP address or a network such as 10.0.0.0/8"))
      .max(100)
      .default([])
      .describe("Reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count."),
    proxyToken: optional(
      z.string().refine((text) => text.length >= MIN_PROXY_TOKEN, `expected at least ${MIN_PROXY_TOKEN} characters`),
      "A string that every request must have in the header `X-Glovebox-Proxy-Token`, as ${VAR}.",
    ),
    tls: optional(
      z.strictObject({
        cert: nonEmptyString.describe("The file of the certificate chain, PEM."),
        key: nonEmptyString.describe("The file of the private key, PEM."),
      }),
      "Serve https. Both files are read again when they change.",
    ),
    admin: optional(
      z.strictObject({
        host: host.default("127.0.0.1").describe("The address of the page and its API."),
        port: integer([0, 65_535], 4748, "Its port; 0 chooses a free port."),
      }),
      "Another address for the page and its API; without it they share the one of `/mcp`.",
    ),
  })
  .prefault({})
  .describe("Where `glovebox serve` listens, and whom it answers.");
