/** What waits for an operator, with its difference, and the operator's yes. No model has a way to this. */

import { GloveboxError, isJsonObject } from "../../domain/index.ts";
import type { ConnectorId, Digest, Instant, Json, JsonObject, Principal } from "../../domain/index.ts";
import type { HeldRow, PinRow } from "../../store/index.ts";
import type { PinPowers } from "./admit-tools.ts";
import { describeDifference } from "./describe-difference.ts";
import { nameTools } from "../name-tools.ts";
import type { Clean } from "../prose.ts";

/** One definition that is held back, as a person reads it. */
export interface HeldTool {
  readonly server: ConnectorId;
  /** The server's own name, cleaned and cut. */
  readonly tool: string;
  readonly why: "new" | "changed";
  readonly digest: Digest;
  readonly seenAt: Instant;
  readonly difference: readonly string[];
}

/** `tools` are the server's own names or what they become in a program; `"all"` is everything that is held of it. */
export interface ApproveRequest {
  readonly server: ConnectorId;
  readonly tools: readonly string[] | "all";
  readonly principal: Principal;
}

export interface HeldDefinitions {
  /** Of one server, or of all. */
  list(server?: ConnectorId): Promise<readonly HeldTool[]>;
  /**
   * Accepts exactly the definitions that are held now and that `show` was given first. REQUEST_NOT_FOUND when a named
   * one is not held; then nothing is accepted.
   */
  approve(request: ApproveRequest, show?: (held: readonly HeldTool[]) => void): Promise<readonly HeldTool[]>;
}

interface HeldPowers extends Pick<PinPowers, "store" | "record"> {
  readonly clean: Clean;
  readonly now: () => Instant;
}

interface Held {
  readonly row: HeldRow;
  readonly pin: PinRow | undefined;
}

const SHOWN_NAME_LENGTH = 128;

/** Works on what the store holds: no server is started, and an approval is for what was seen. */
export function openHeldDefinitions({ store, record, clean, now }: HeldPowers): HeldDefinitions {
  const read = async (server?: ConnectorId): Promise<readonly Held[]> => {
    const rows = await store.held(server);
    return Promise.all(rows.map(async (row) => ({ row, pin: await store.find(row.connector, row.remoteName) })));
  };
  const show = (held: Held): HeldTool => toHeldTool(held, clean);

  return {
    list: async (server) => (await read(server)).map(show),
    approve: async ({ server, tools, principal }, onShow) => {
      const wanted = choose(await read(server), server, tools);
      const shown = wanted.map(show);
      onShow?.(shown);
      for (const { row, pin } of wanted) {
        const detail = { server, definition: row.digest, previous: pin?.digest ?? null };
        await record({ actor: principal.id, action: "tool.approved", subject: row.remoteName, detail });
      }
      const pinnedAt = now();
      await store.approve(
        wanted.map(({ row: { seenAt: _, ...row } }) => ({ ...row, pinnedAt, pinnedBy: principal.id })),
      );
      return shown;
    },
  };
}

function choose(held: readonly Held[], server: ConnectorId, tools: ApproveRequest["tools"]): readonly Held[] {
  if (tools === "all") return held;
  const names = nameTools(held.map(({ row }) => row.remoteName));
  const chosen = tools.map((tool) => {
    const found = held.filter(({ row }) => row.remoteName === tool);
    const alike = found.length > 0 ? found : held.filter(({ row }) => names.get(row.remoteName) === tool);
    if (alike.length > 0) return alike;
    throw new GloveboxError("REQUEST_NOT_FOUND", `Nothing of ${server} is held back as ${JSON.stringify(tool)}`, {
      hint: "glovebox servers shows what is held back, with its difference",
    });
  });
  return [...new Set(chosen.flat())];
}

function toHeldTool({ row, pin }: Held, clean: Clean): HeldTool {
  const { connector: server, remoteName, digest, seenAt } = row;
  const before = pin ? parseDefinition(pin.definition) : null;
  return {
    server,
    tool: clean(remoteName.slice(0, SHOWN_NAME_LENGTH)).replaceAll(/[\n\t]+/g, " "),
    why: pin ? "changed" : "new",
    digest,
    seenAt,
    difference: describeDifference(before, parseDefinition(row.definition), clean),
  };
}

function parseDefinition(text: string): JsonObject {
  const value = JSON.parse(text) as Json;
  if (isJsonObject(value)) return value;
  throw new GloveboxError("STORE_UNAVAILABLE", "A definition in the store is damaged", {
    hint: "Restore a backup, or name another file in `store.url`",
  });
}
