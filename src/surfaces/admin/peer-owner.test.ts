/** The owner of a connection, from the tables of the kernel. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";

import { canFindOwners, findPeerOwner } from "./peer-owner.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const line = (local: string, remote: string, state: string, uid: number): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 1 1 0 100 0 0 10 0`;
const tables =
  (tcp: readonly string[], tcp6: readonly string[] = []) =>
  async (name: "tcp" | "tcp6") =>
    [HEAD, ...(name === "tcp" ? tcp : tcp6)].join("\n");

const ENDS = { remoteAddress: "127.0.0.1", remotePort: 0x1234, localAddress: "127.0.0.1", localPort: 0x128b };
const [OURS, THEIRS] = ["0100007F:128B", "0100007F:1234"];

test("the owner is that of the socket with both ends swapped, and of no other", async () => {
  const own = line(OURS, THEIRS, "01", 0);
  const wrongState = line(THEIRS, OURS, "06", 7);
  const otherPort = line("0100007F:1235", OURS, "01", 8);
  const otherServer = line(THEIRS, "0100007F:128C", "01", 9);
  assert.equal(await findPeerOwner(ENDS, tables([own, wrongState, otherPort, otherServer])), undefined);
  assert.equal(await findPeerOwner(ENDS, tables([own, otherPort, line(THEIRS, OURS, "01", 1000)])), 1000);
});

test("the owner of an IPv6 and of a mapped connection is found", async () => {
  const six = "00000000000000000000000001000000";
  const ends6 = { ...ENDS, remoteAddress: "::1", localAddress: "::1" };
  assert.equal(await findPeerOwner(ends6, tables([], [line(`${six}:1234`, `${six}:128B`, "01", 5)])), 5);
  const mapped = "0000000000000000FFFF00000100007F";
  const table = tables([], [line(`${mapped}:1234`, `${mapped}:128B`, "01", 6)]);
  assert.equal(await findPeerOwner(ENDS, table), 6);
  const written = { ...ENDS, remoteAddress: "::ffff:127.0.0.1", localAddress: "::ffff:127.0.0.1" };
  assert.equal(await findPeerOwner(written, table), 6);
  assert.equal(await findPeerOwner(written, tables([line(THEIRS, OURS, "01", 4)])), 4);
});

test("a connection that cannot be found, and a table that cannot be read, have no owner", async () => {
  const broken = async (): Promise<string> => {
    throw new Error("no such file");
  };
  assert.equal(await findPeerOwner(ENDS, broken), undefined);
  assert.equal(await canFindOwners(broken), false);
  assert.equal(await findPeerOwner({ ...ENDS, remoteAddress: "nonsense" }, tables([])), undefined);
  assert.equal(await findPeerOwner({}, tables([])), undefined);
});

test("a real connection of this process belongs to this user", async (t) => {
  if (!(await canFindOwners())) return t.skip("this system does not list the owners of sockets");
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createServer();
    const listening = await new Promise<boolean>((done) => {
      server.once("error", () => done(false));
      server.listen(0, host, () => done(true));
    });
    if (!listening) continue; // no IPv6 here
    t.after(() => server.close());
    const arrived = once(server, "connection") as Promise<[Socket]>;
    const client = connect((server.address() as AddressInfo).port, host);
    const [socket] = await arrived;
    assert.equal(await findPeerOwner(socket), process.getuid?.());
    client.destroy();
    socket.destroy();
  }
});
