/** The address of the admin page for links. */

import type { Settings } from "../../../config/index.ts";
import type { OperatorRecords } from "../../operator-records.ts";

/** Of a server that runs on the store, or of the one that the configuration describes. Without a slash at the end. */
export async function findPage(records: Pick<OperatorRecords, "findPage">, { server }: Settings): Promise<string> {
  const { host, port } = server.admin ?? server;
  const own = `${server.tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const usual = server.admin ? own : (server.publicUrl ?? own);
  return ((await records.findPage()) ?? usual).replace(/\/$/, "");
}
