/** Withheld definitions with their differences, and their approval by an operator. No model can reach this. */

import * as z from "zod";

import { GloveboxError, defined, isJsonObject, parseJson } from "../../domain/index.ts";
import type { Approval, ConnectorId, Digest, HeldChange, Instant, JsonObject, Principal } from "../../domain/index.ts";
import type { HeldRow, PinRow, Store } from "../../store/index.ts";
import type { PinPowers } from "./admit-tools.ts";
import { compareFields } from "./compare-fields.ts";
import { describeDifference } from "./describe-difference.ts";
import { findSuspicious } from "./find-suspicious.ts";
import { canBeNamespace, createCollisionTest, nameTools } from "../name-tools.ts";
import type { CleanText } from "../prose.ts";
import { namePins, namesOf, readPins } from "./read-pins.ts";

export interface HeldTool {
  readonly server: ConnectorId;
  /** The server's name for the tool, cleaned and shortened. */
  readonly tool: string;
  /** `collides`: new, with the name of an accepted tool; once approved, its name gets digits. */
  readonly why: "new" | "changed" | "collides";
  readonly digest: Digest;
  readonly seenAt: Instant;
  readonly difference: readonly string[];
  /** Text of the new definition that speaks to the model instead of describing the tool; absent if there is none. */
  readonly suspicious?: readonly string[];
  /** Who rejected exactly this definition; absent if it was not rejected. */
  readonly rejectedBy?: string;
}

/** With its fields, whole, for a person who compares them. */
export type HeldReview = HeldTool & ReturnType<typeof compareFields>;

/**
 * `tools` are the server's names or the names in programs; `"all"` means everything withheld of this server that was
 * not rejected.
 */
export interface HeldRequest {
  readonly server: ConnectorId;
  readonly tools: readonly string[] | "all";
  readonly principal: Principal;
}

export interface HeldDefinitions {
  list(server?: ConnectorId): Promise<readonly HeldTool[]>;
  /** The same as `list`, field by field. Text of servers is not cleaned. */
  review(): Promise<readonly HeldReview[]>;
  /**
   * Accepts exactly what it passed to `confirm`, unless that returns false; then the result is `undefined`. Accepts
   * nothing, with REQUEST_NOT_FOUND, if a named tool is not withheld.
   */
  approve(request: HeldRequest, confirm?: Confirm): Promise<readonly HeldTool[] | undefined>;
  /** Records that these definitions are unwanted. They stay withheld, and `"all"` no longer includes them. */
  reject(request: HeldRequest): Promise<readonly HeldTool[]>;
}

type Confirm = (held: readonly HeldTool[]) => boolean | Promise<boolean>;

interface HeldPowers extends Pick<PinPowers, "store" | "record"> {
  readonly clean: CleanText;
  readonly now: () => Instant;
  readonly values: Pick<Store["meta"], "get" | "set">;
  /** Called after every approval, so that running gateways notice it. */
  readonly onApproved: () => Promise<void>;
}

interface HeldDefinition {
  readonly row: HeldRow;
  readonly pin: PinRow | undefined;
  readonly collides: boolean;
  readonly rejectedBy: string | undefined;
}

const SHOWN_NAME_LENGTH = 128;
/** Where rejections are kept, newest last: a row of the store is gone when a server stops listing a tool. */
const REJECTED_KEY = "held.rejected";
const MAX_REJECTED = 1_000;
const REJECTED = z.array(z.tuple([z.string(), z.string()])).catch([]);

/** Uses only the store: no server is started, and an approval covers exactly what was shown. */
export function openHeldDefinitions(powers: HeldPowers): HeldDefinitions {
  const { store, record, clean, now, values, onApproved } = powers;
  const readRejected = async () => REJECTED.parse(parseJson((await values.get(REJECTED_KEY)) ?? "[]"));
  const read = async (server?: ConnectorId): Promise<readonly HeldDefinition[]> => {
    const [rows, pinned] = await Promise.all([store.held(server), store.list(server)]);
    const rejected = new Map(await readRejected());
    const byServer = Map.groupBy(pinned, ({ connector }) => connector);
    const tests = new Map([...byServer].map(([id, own]) => [id, createCollisionTest(namesOf(namePins(own)))]));
    return Promise.all(
      rows.map(async (row) => ({
        row,
        pin: await store.find(row.connector, row.remoteName),
        collides: tests.get(row.connector)?.(row.remoteName) ?? false,
        rejectedBy: rejected.get(rejectionKey(row)),
      })),
    );
  };
  const select = async ({ server, tools }: HeldRequest) => {
    const held = await read(server);
    const remoteNames = held.map(({ row }) => row.remoteName);
    const names = nameTools(remoteNames, namesOf(await readPins(store, server)));
    return { names, wanted: choose(held, { server, tools, names }) };
  };
  const show = (held: HeldDefinition): HeldTool => toHeldTool(held, clean);

  return {
    list: async (server) => (await read(server)).map(show),
    review: async () => (await read()).map((held) => ({ ...show(held), ...compareHeld(held) })),
    approve: async (request, confirm) => {
      const { server, principal } = request;
      const { names, wanted } = await select(request);
      const shown = wanted.map(show);
      if (confirm && !(await confirm(shown))) return undefined;
      for (const { row, pin } of wanted) {
        const detail = { server, definition: row.digest, previous: pin?.digest ?? null };
        await record({ actor: principal.id, action: "tool.approved", subject: row.remoteName, detail });
      }
      const pinnedAt = now();
      await store.approve(
        wanted.map(({ row: { seenAt: _, ...row } }) => {
          return { ...row, pinnedAt, pinnedBy: principal.id, ...defined({ name: names.get(row.remoteName) }) };
        }),
      );
      await onApproved();
      return shown;
    },
    reject: async (request) => {
      const { server, principal } = request;
      const { wanted } = await select(request);
      for (const { row } of wanted) {
        const detail = { server, definition: row.digest };
        await record({ actor: principal.id, action: "tool.rejected", subject: row.remoteName, detail });
      }
      const fresh = wanted.map(({ row }): [string, string] => [rejectionKey(row), principal.id]);
      const all = [...new Map([...(await readRejected()), ...fresh])];
      await values.set(REJECTED_KEY, JSON.stringify(all.slice(-MAX_REJECTED)));
      return wanted.map((held) => show({ ...held, rejectedBy: principal.id }));
    },
  };
}

function rejectionKey({ connector, remoteName, digest }: HeldRow): string {
  return `${digest} ${connector} ${remoteName}`;
}

function choose(
  held: readonly HeldDefinition[],
  { server, tools, names }: Omit<HeldRequest, "principal"> & { readonly names: ReadonlyMap<string, string> },
): readonly HeldDefinition[] {
  if (tools === "all") return held.filter(({ rejectedBy }) => rejectedBy === undefined);
  const chosen = tools.map((tool) => {
    const found = held.filter(({ row }) => row.remoteName === tool);
    const alike = found.length > 0 ? found : held.filter(({ row }) => names.get(row.remoteName) === tool);
    if (alike.length > 0) return alike;
    throw new GloveboxError("REQUEST_NOT_FOUND", `${server} has no withheld tool ${JSON.stringify(tool)}`, {
      hint: "Run glovebox servers to list the withheld tools and their changes",
    });
  });
  return [...new Set(chosen.flat())];
}

function toHeldTool({ row, pin, collides, rejectedBy }: HeldDefinition, clean: CleanText): HeldTool {
  const { connector: server, remoteName, digest, seenAt } = row;
  const before = pin ? parseDefinition(pin.definition) : null;
  const suspicious = findSuspicious({ name: remoteName, ...parseDefinition(row.definition) }, clean);
  return {
    server,
    tool: clean(remoteName.slice(0, SHOWN_NAME_LENGTH)).replaceAll(/[\n\t]+/g, " "),
    why: pin ? "changed" : collides ? "collides" : "new",
    digest,
    seenAt,
    difference: describeDifference(before, parseDefinition(row.definition), clean),
    ...defined({ rejectedBy, suspicious: suspicious.length > 0 ? suspicious : undefined }),
  };
}

function compareHeld({ row, pin }: HeldDefinition): ReturnType<typeof compareFields> {
  return compareFields(pin ? parseDefinition(pin.definition) : null, parseDefinition(row.definition));
}

function parseDefinition(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isJsonObject(value)) return value;
  throw new GloveboxError("STORE_UNAVAILABLE", "A tool definition in the store is damaged", {
    hint: "Restore a backup, or name another file in `store.url`",
  });
}

/** Finds the withheld change of an approval's tool. Two servers can have equal definitions, so the address decides. */
export async function findChange(
  store: Pick<Store["pins"], "held" | "find">,
  { tool, definition }: Pick<Approval, "tool" | "definition">,
): Promise<HeldChange | undefined> {
  const namespace = tool.slice(0, tool.indexOf("."));
  for (const { connector, remoteName, digest, seenAt } of await store.held()) {
    if (!canBeNamespace(connector, namespace)) continue;
    const pin = await store.find(connector, remoteName);
    if (pin?.digest === definition) return { server: connector, definition: digest, seenAt };
  }
  return undefined;
}
