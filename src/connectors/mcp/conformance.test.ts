/** The MCP connector keeps the promises of a connector on every transport and in both eras. */

import { after, before, describe } from "node:test";

import { describeConnector } from "../connector.conformance.ts";
import type { ConnectorSubject } from "../connector.conformance.ts";
import type { Connector } from "../connector.ts";
import { child, connect, locate, modernChild, remote, startEverything } from "./fixtures/connect.ts";
import { startModernHttp } from "./fixtures/start-modern-http.ts";
import type { HttpFixture } from "./fixtures/start-modern-http.ts";

type Open = () => Connector;

/** The reference server, which speaks 2025-11-25. */
function everything(open: Open): ConnectorSubject {
  return {
    open: async () => open(),
    echo: { name: "echo", args: (n) => ({ message: `${n}` }), value: (n) => `Echo: ${n}` },
    failure: { name: "get-sum", args: { a: "x" } },
    slow: { name: "trigger-long-running-operation", args: { duration: 60, steps: 2 } },
  };
}

/** Our own server, which speaks only 2026-07-28. */
function fixture(open: Open): ConnectorSubject {
  return {
    open: async () => open(),
    echo: { name: "echo", args: (n) => ({ n }), value: (n) => ({ n }) },
    failure: { name: "fail", args: {} },
    slow: { name: "wait", args: {} },
  };
}

describeConnector(
  "stdio, 2025-11-25",
  everything(() => connect(child(locate("server-everything"), "stdio"))),
);
describeConnector(
  "stdio, 2026-07-28",
  fixture(() => connect(modernChild())),
);

describe("connectors over HTTP and SSE", () => {
  let modern: HttpFixture;
  let streamable: Awaited<ReturnType<typeof startEverything>>;
  let sse: Awaited<ReturnType<typeof startEverything>>;
  before(async () => {
    [modern, streamable, sse] = await Promise.all([
      startModernHttp(),
      startEverything("streamableHttp"),
      startEverything("sse"),
    ]);
  });
  after(async () => {
    streamable.process.kill("SIGKILL");
    sse.process.kill("SIGKILL");
    await modern.close();
  });
  describeConnector(
    "Streamable HTTP, 2025-11-25",
    everything(() => connect(remote(streamable.url))),
  );
  describeConnector(
    "Streamable HTTP, 2026-07-28",
    fixture(() => connect(remote(modern.url))),
  );
  describeConnector(
    "HTTP+SSE",
    everything(() => connect(remote(sse.url, "sse"))),
  );
});
