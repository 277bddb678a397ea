/** Sends messages to a syslog receiver that the operator named: TCP with octet counting (RFC 6587 §3.4.1), or UDP. */

import { createSocket } from "node:dgram";
import type { Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

import { GloveboxError } from "../domain/index.ts";
import { untilAborted } from "../timing/index.ts";

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
    try {
      await once(fresh, "connect", { signal });
    } catch (thrown) {
      fresh.destroy();
      const isError = thrown instanceof Error && !signal.aborted;
      throw failed(isError ? thrown.message : "The connection attempt was aborted");
    }
    return (socket = fresh.unref());
  };
  return {
    async send(messages, signal) {
      const open = await reach(signal);
      const text = messages.map((message) => `${Buffer.byteLength(message)} ${message}`).join("");
      const written = Promise.withResolvers<void>();
      written.promise.catch(() => undefined); // it may fail after the signal ended the wait
      open.once("close", written.reject);
      open.write(text, (error) => (error ? written.reject(error) : written.resolve()));
      try {
        await untilAborted(written.promise, signal);
      } catch {
        open.destroy();
        throw failed(`${host}:${port} did not accept the messages`);
      } finally {
        open.off("close", written.reject);
      }
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

function failed(message: string): GloveboxError {
  return new GloveboxError("UPSTREAM_UNREACHABLE", message, { hint: "Check the address in `audit.export`" });
}
