/**
 * Learns the result types of tools whose servers do not declare them. Shapes hold field names and types, never values.
 * A tool whose results have other shapes for other arguments, such as a query, has no learned type.
 * They belong to a tool's definition and to the person behind the calls: field names can be data, so no other person sees
 * them. Nothing is learned from tools that are private or untrusted, and the bridge passes on no result of a session that
 * has read labeled data. Learning starts after the
 * reply was sent, uses a bounded part of it, and cannot fail a call.
 */

import { canonicalJson, parseJson } from "../../domain/index.ts";
import type {
  CatalogSnapshot,
  ConnectorId,
  Digest,
  Instant,
  Json,
  JsonObject,
  JsonSchema,
  Principal,
  PrincipalId,
  Tool,
} from "../../domain/index.ts";
import { digestOf } from "../../text/index.ts";
import type { Store } from "../../store/index.ts";
import { createRecent } from "../../timing/index.ts";

import { UNKNOWN, isOtherShape, isSameShape, mergeShapes, parseShape, shapeOf, toSchema } from "./shape.ts";
import type { Shape } from "./shape.ts";

export interface Shapes extends AsyncDisposable {
  /**
   * Adds the shapes that this viewer's person learned to the tools of a snapshot, each for exactly its definition. Returns
   * the same object until there is something new, at most twice a second. The digest stays the same: shapes are shown,
   * never enforced.
   */
  addTo(snapshot: CatalogSnapshot, viewer: Viewer): CatalogSnapshot;
  /** Returns immediately and never throws. */
  observe(caller: Viewer, tool: Tool, args: JsonObject, value: Json): void;
  /** Resolves when all observed results are learned and, if possible, stored. */
  settle(): Promise<void>;
}

/** Agents of one person share what they learn. */
type Viewer = Pick<Principal, "id" | "person">;

/** A change of an established shape by a new result. */
export interface Drift {
  readonly actor: "gateway";
  readonly action: "shape.drifted";
  readonly subject: string;
  readonly detail: JsonObject;
}

export interface ShapesOptions {
  readonly store: Pick<Store, "shapes">;
  readonly now: () => Instant;
  /** Records a drift; called at most once for each change of a shape. */
  readonly record: (drift: Drift) => Promise<unknown>;
}

const FLUSH_MS = 500;
/** Results that wait to be processed; further ones are ignored. */
const MAX_WAITING = 8;
/** After this many results without a change, only every 16th is used. */
const STABLE_SAMPLES = 20;
const SAMPLED_EVERY = 16;
/** A change after this many results is a drift; before, it is learning. */
const SETTLED_SAMPLES = 5;
/** Shapes of all people; further ones are ignored. */
const MAX_SHAPES = 10_000;
/** Views of one snapshot that are kept. */
const MAX_OWNERS = 100;

interface LearnedShape {
  readonly owner: PrincipalId;
  readonly connector: ConnectorId;
  readonly remoteName: string;
  readonly definition: Digest;
  address: string;
  /** The digest of the last arguments. */
  request: string;
  shape: Shape;
  samples: number;
  stable: number;
  seen: number;
  isDirty: boolean;
  hasDrifted: boolean;
  /** What snapshots show since the last flush; its description contains the number of results. */
  published?: JsonSchema;
}

/** Loads the shapes of earlier sessions. If the store cannot be read, learning starts again. */
export async function openShapes({ store: { shapes: store }, now, record }: ShapesOptions): Promise<Shapes> {
  const learned = new Map<string, LearnedShape>();
  const waiting: Observed[] = [];
  let version = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();

  for (const row of await store.list().catch(() => [])) {
    const known = fromRow(row);
    if (known && learned.size < MAX_SHAPES) learned.set(keyOf(known.owner, known), known);
  }

  const learnNext = (): void => {
    const next = waiting.shift();
    if (!next) return;
    try {
      learn(learned, next);
    } catch {
      // Shapes are optional, and the call was answered before.
    }
    if (timer) return;
    timer = setTimeout(flush, FLUSH_MS);
    timer.unref();
  };

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const changed = [...learned.values()].filter((one) => one.isDirty).map(publish);
    if (changed.length > 0) version += 1;
    flushing = flushing.then(() => save(changed, { store: { shapes: store }, now, record }));
    return flushing;
  }

  async function settle(): Promise<void> {
    while (waiting.length > 0) learnNext();
    await flush();
  }

  const withShapes = new WeakMap<CatalogSnapshot, ReturnType<typeof createRecent<PrincipalId, ShapedSnapshot>>>();

  return {
    addTo: (plain, viewer) => {
      const owner = ownerOf(viewer);
      const made = withShapes.get(plain) ?? createRecent<PrincipalId, ShapedSnapshot>(MAX_OWNERS);
      withShapes.set(plain, made);
      const known = made.get(owner);
      if (known?.version === version) return known.snapshot;
      const snapshot = addShapes(plain, owner, learned);
      made.set(owner, { version, snapshot });
      return snapshot;
    },
    observe: (caller, tool, args, value) => {
      const owner = ownerOf(caller);
      if (!isLearnable(tool) || waiting.length >= MAX_WAITING || !isWorthLearning(learned, owner, tool)) return;
      waiting.push({ owner, tool, args, value });
      setImmediate(learnNext);
    },
    settle,
    [Symbol.asyncDispose]: settle,
  };
}

interface Observed {
  readonly owner: PrincipalId;
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly value: Json;
}

interface ShapedSnapshot {
  readonly version: number;
  readonly snapshot: CatalogSnapshot;
}

function ownerOf({ id, person = id }: Viewer): PrincipalId {
  return person;
}

function addShapes(
  snapshot: CatalogSnapshot,
  owner: PrincipalId,
  shapes: ReadonlyMap<string, LearnedShape>,
): CatalogSnapshot {
  const tools = [...snapshot.tools].map(([address, tool]) => {
    const known = isLearnable(tool) ? shapes.get(keyOf(owner, tool.origin)) : undefined;
    const learned = known?.definition === tool.digest ? known.published : undefined;
    return [address, learned ? Object.freeze({ ...tool, learned }) : tool] as const;
  });
  return Object.freeze({ ...snapshot, tools: new Map(tools) });
}

/** Field names are data: a session that never read a result must not see them without their label. */
function isLearnable({ output, labels = [] }: Tool): boolean {
  return !output && labels.every((label) => label === "external");
}

function keyOf(
  owner: PrincipalId,
  { connector, remoteName }: { readonly connector: string; readonly remoteName: string },
): string {
  return JSON.stringify([owner, connector, remoteName]);
}

function isWorthLearning(
  learned: ReadonlyMap<string, LearnedShape>,
  owner: PrincipalId,
  { origin, digest }: Tool,
): boolean {
  const known = learned.get(keyOf(owner, origin));
  if (!known) return learned.size < MAX_SHAPES;
  if (known.definition === digest && !known.shape.type) return false;
  if (known.definition !== digest || known.stable < STABLE_SAMPLES) return true;
  known.seen += 1;
  return known.seen % SAMPLED_EVERY === 0;
}

/** A new definition starts again: results of the old one do not apply to it. */
function learn(learned: Map<string, LearnedShape>, { owner, tool, args, value }: Observed): void {
  const { connector, remoteName } = tool.origin;
  const found = learned.get(keyOf(owner, tool.origin));
  const known = found?.definition === tool.digest ? found : undefined;
  const seen = shapeOf(value);
  const isSame = known && isSameShape(known.shape, seen);
  const request = digestOf(canonicalJson(args));
  const varies = known !== undefined && known.request !== request && isOtherShape(known.shape, seen);
  const merged = isSame ? known.shape : known ? mergeShapes(known.shape, seen) : seen;
  const shape = varies ? UNKNOWN : merged;
  const isChanged = !known || !(isSame || isSameShape(known.shape, shape));
  const samples = (known?.samples ?? 0) + 1;
  learned.set(keyOf(owner, tool.origin), {
    ...known,
    owner,
    connector,
    remoteName,
    definition: tool.digest,
    address: tool.address,
    request,
    shape,
    samples,
    stable: isChanged ? 0 : (known?.stable ?? 0) + 1,
    seen: known?.seen ?? 0,
    // The published number of results is updated at powers of two.
    isDirty: known?.isDirty === true || isChanged || Number.isInteger(Math.log2(samples)),
    hasDrifted: known?.hasDrifted === true || (isChanged && samples > SETTLED_SAMPLES),
  });
}

/** Makes the shape visible, and returns a copy to store. */
function publish(known: LearnedShape): LearnedShape {
  const results = known.samples === 1 ? "1 result" : `${known.samples} results`;
  const schema = Object.freeze({ ...toSchema(known.shape), description: `learned from ${results}` });
  if (known.shape.type) known.published = schema;
  else delete known.published;
  const copy = { ...known };
  known.isDirty = false;
  known.hasDrifted = false;
  return copy;
}

/** Ignores failures: the next change tries again. */
async function save(
  changed: readonly LearnedShape[],
  { store: { shapes: store }, now, record }: ShapesOptions,
): Promise<void> {
  for (const { owner, connector, remoteName, definition, shape, samples, hasDrifted, address } of changed) {
    const text = JSON.stringify(toSchema(shape));
    const row = { owner, connector, remoteName, definition, shape: text, samples, changedAt: now() };
    await store.put(row).catch(() => undefined);
    const drift = {
      actor: "gateway",
      action: "shape.drifted",
      subject: address,
      detail: { definition, samples },
    } as const;
    if (hasDrifted) await record(drift).catch(() => undefined);
  }
}

type StoredShape = Parameters<Store["shapes"]["put"]>[0];

function fromRow(row: StoredShape): LearnedShape | undefined {
  const { owner, connector, remoteName, definition, shape: text, samples } = row;
  const shape = parseShape(parseJson(text));
  if (!shape) return undefined;
  const state = { address: "", request: "", stable: 0, seen: 0, isDirty: false, hasDrifted: false };
  const known: LearnedShape = { owner, connector, remoteName, definition, shape, samples, ...state };
  publish(known);
  return known;
}
