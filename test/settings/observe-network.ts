/** What each network setting changes, observed with servers and proxies on loopback. */

import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";

import { compare, run } from "../fixtures/observe-settings.ts";
import type { Case } from "../fixtures/observe-settings.ts";

/** No resolver can resolve it, so nothing leaves this machine: a label has at most 63 characters. */
const NOWHERE = `${"x".repeat(64)}.example`;
/** A public address, as the proxies of these tests receive it. */
const FAR = "93.184.216.34:80";

interface Servers {
  /** A server that answers 204. */
  readonly place: string;
  /** Proxies that forward everything there, and one that refuses. */
  readonly proxy: string;
  readonly closedProxy: string;
  readonly askingProxy: string;
}

const fetched = (url: string): string => `return (await fetch("${url}")).status`;
const allowed = (more: object): unknown => ({ sandbox: { networkPolicy: { mode: "allowed", ...more } } });

const through = (egress: object): unknown => ({
  sandbox: { networkPolicy: { mode: "allowed", grants: [FAR] } },
  egress,
});

async function listen(listener?: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** The login of the proxy that requires one. */
const ADA = `Basic ${Buffer.from("ada:open sesame").toString("base64")}`;

async function openProxy(target: number | undefined, login?: string): Promise<Server> {
  const proxy = await listen();
  return proxy.on("connect", ({ headers }, socket) => {
    socket.on("error", () => undefined);
    const isKnown = login === undefined || headers["proxy-authorization"] === login;
    if (!isKnown) socket.end("HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\n\r\n");
    else if (target === undefined) socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    else socket.write("HTTP/1.1 200 OK\r\n\r\n", () => socket.pipe(connect(target, "127.0.0.1")).pipe(socket));
  });
}

/** Runs the program of `make` in both configurations, on servers that are closed afterwards. */
function compareIn(make: (servers: Servers) => readonly [code: string, one: Case, two: Case]): () => Promise<void> {
  return async () => {
    const server = await listen((_, response) => void response.writeHead(204).end());
    const [open, closed] = [await openProxy(portOf(server)), await openProxy(undefined)];
    const asking = await openProxy(portOf(server), ADA);
    try {
      const toUrl = (one: Server): string => `http://127.0.0.1:${portOf(one)}`;
      const place = `127.0.0.1:${portOf(server)}`;
      const [code, one, two] = make({
        place,
        proxy: toUrl(open),
        closedProxy: toUrl(closed),
        askingProxy: toUrl(asking),
      });
      await compare(run(code), one, two)();
    } finally {
      for (const one of [server, open, closed, asking]) one.close().closeAllConnections();
    }
  };
}

/** Keyed by setting path. */
export const NETWORK_OBSERVATIONS: Readonly<Record<string, () => Promise<void>>> = {
  "sandbox.networkPolicy.mode": compareIn(({ place }) => [
    fetched(`http://${place}/`),
    [{ sandbox: { networkPolicy: { mode: "blocked" } } }, "EGRESS_DENIED"],
    [allowed({ grants: [place] }), 204],
  ]),
  "sandbox.networkPolicy.grants": compareIn(({ place }) => [
    fetched(`http://${place}/`),
    [allowed({ grants: ["127.0.0.1:1"] }), "EGRESS_DENIED"],
    [allowed({ grants: [place] }), 204],
  ]),
  "sandbox.networkPolicy.domains": compare(
    run(fetched(`http://${NOWHERE}/`)),
    [allowed({ domains: ["other.example"] }), "EGRESS_DENIED"],
    [allowed({ domains: [NOWHERE] }), "UPSTREAM_UNREACHABLE"],
  ),
  "egress.proxy": compareIn(({ proxy, closedProxy }) => [
    fetched(`http://${FAR}/`),
    [through({ proxy: closedProxy }), "UPSTREAM_UNREACHABLE"],
    [through({ proxy }), 204],
  ]),
  "egress.proxyUser": compareIn(({ askingProxy: proxy }) => {
    process.env["GLOVEBOX_TEST_PROXY"] = "open sesame";
    const as = (proxyUser: string): unknown => through({ proxy, proxyUser, proxyPassword: "${GLOVEBOX_TEST_PROXY}" });
    return [fetched(`http://${FAR}/`), [as("eve"), "UPSTREAM_UNREACHABLE"], [as("ada"), 204]];
  }),
  "egress.proxyPassword": compareIn(({ askingProxy: proxy }) => {
    process.env["GLOVEBOX_TEST_PROXY"] = "open sesame";
    process.env["GLOVEBOX_TEST_WRONG"] = "open barley";
    const withPassword = (proxyPassword: string): unknown => through({ proxy, proxyUser: "ada", proxyPassword });
    return [
      fetched(`http://${FAR}/`),
      [withPassword("${GLOVEBOX_TEST_WRONG}"), "UPSTREAM_UNREACHABLE"],
      [withPassword("${GLOVEBOX_TEST_PROXY}"), 204],
    ];
  }),
};
