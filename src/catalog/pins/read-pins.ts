/** The accepted tools of one server. A tool keeps the name in programs that it had when it was accepted, for good. */

import type { ConnectorId } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { nameTools } from "../name-tools.ts";

type StoredPin = Awaited<ReturnType<Store["pins"]["list"]>>[number];
type NamedPin = StoredPin & { readonly name: string };

/** By the server's names of the tools. */
export type Pins = ReadonlyMap<string, NamedPin>;

/** Names the pins of older versions first: as the naming rule names all of them together, so none is renamed. */
export async function readPins(store: Pick<Store["pins"], "list" | "name">, connector: ConnectorId): Promise<Pins> {
  const rows = await store.list(connector);
  const pins = namePins(rows);
  const nameless = rows.filter(({ name }) => name === undefined);
  if (nameless.length === 0) return pins;
  await store.name(nameless.flatMap(({ remoteName }) => pins.get(remoteName) ?? []));
  // Read again: another process may have named them first.
  return namePins(await store.list(connector));
}

/** `rows` are of one server. */
export function namePins(rows: readonly StoredPin[]): Pins {
  const kept = new Map(rows.flatMap(({ remoteName, name }) => (name === undefined ? [] : [[remoteName, name]])));
  const names = nameTools(
    rows.map(({ remoteName }) => remoteName),
    kept,
  );
  return new Map(rows.map((row) => [row.remoteName, { ...row, name: names.get(row.remoteName) ?? "" }]));
}

export function namesOf(pins: Pins): ReadonlyMap<string, string> {
  return new Map([...pins].map(([remoteName, { name }]) => [remoteName, name]));
}
