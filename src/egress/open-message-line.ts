/** Sends messages to a syslog receiver that the operator named: TCP with octet counting (RFC 6587 §3.4.1), or UDP. */

import { createSocket } from "node:dgram";
import type { Socket as DatagramSocket } from "node:dgram";
import { connect } from "node:net";
import type { Socket } from "node:net";

import { GloveboxError } from "../domain/index.ts";

export interface MessageAddress {
  readonly transport: "tcp" | "udp";
  readonly host: string;
  readonly port: number;
}

/** One receiver. It connects on first use and again after a failure. */
export interface MessageLine {
  /** Resolves when all messages were handed to the network; rejects if the connection failed before. */
  send(messages: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** RFC 5424 §6.1 requires receivers to accept 2 KiB; most accept this much. A longer datagram is cut. */
const DATAGRAM_BYTES = 8_192;

export function openMessageLine(address: MessageAddress): MessageLine {
  return address.transport === "udp" ? openDatagrams(address) : openStream(address);
}

function openStream({ host, port }: MessageAddress): MessageLine {
  let socket: Socket | undefined;
  const reach = async (signal: AbortSignal): Promise<Socket> => {
    if (socket && !socket.destroyed) return socket;
    const fresh = connect({ host, port });
    // A receiver sends nothing back; any data is dropped, and an error shows at the next write.
    fresh.on("error", () => undefined).resume();
    await once(fresh, "connect", signal);
    return (socket = fresh.unref());
  };
  return {
    async send(messages, signal) {
      const open = await reach(signal);
      const text = messages.map((message) => `${Buffer.byteLength(message)} ${message}`).join("");
      await new Promise<void>((resolve, reject) => {
        const fail = (): void => reject(failed(`${host}:${port} did not accept the messages`));
        signal.addEventListener("abort", fail, { once: true });
        open.once("close", fail);
        open.write(text, (error) => {
          signal.removeEventListener("abort", fail);
          open.off("close", fail);
          if (error) fail();
          else resolve();
        });
      }).catch((thrown: unknown) => {
        open.destroy();
        throw thrown;
      });
    },
    close: async () => void socket?.destroy(),
  };
}

function openDatagrams({ host, port }: MessageAddress): MessageLine {
  let socket: DatagramSocket | undefined;
  const send = (open: DatagramSocket, message: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const datagram = Buffer.from(message).subarray(0, DATAGRAM_BYTES);
      open.send(datagram, port, host, (error) => (error ? reject(failed(error.message)) : resolve()));
    });
  return {
    async send(messages) {
      socket ??= createSocket(host.includes(":") ? "udp6" : "udp4")
        .on("error", () => undefined)
        .unref();
      for (const message of messages) await send(socket, message);
    },
    close: async () => void socket?.close(),
  };
}

function once(socket: Socket, event: "connect", signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error?: Error): void => {
      socket.destroy();
      reject(failed(error instanceof Error ? error.message : "The connection attempt was aborted"));
    };
    signal.addEventListener("abort", () => fail(), { once: true });
    socket.once("error", fail);
    socket.once(event, () => {
      socket.off("error", fail);
      resolve();
    });
  });
}

function failed(message: string): GloveboxError {
  return new GloveboxError("UPSTREAM_UNREACHABLE", message, { hint: "Check the address in `audit.export`" });
}
