/**
 * Changes the master key while gateways run. The store changes in one step, so each secret opens with exactly one key at
 * any time. The file of the next key exists before that step and replaces the former after it. The next start or the
 * next rotation finishes an interrupted one.
 */

import { setTimeout as wait } from "node:timers/promises";

import type { Ledger } from "../../ledger/index.ts";
import { GloveboxError } from "../../domain/index.ts";
import type { SecretName } from "../../domain/index.ts";

import { offerKey, withdrawKey } from "./hand-over.ts";
import { findNextKey, parseKey, prepareNextKey } from "./key-file.ts";
import { NEXT_VARIABLE, VARIABLE, loadKey, promoteKey } from "./load-key.ts";
import type { KeyOptions, Keyring } from "./load-key.ts";
import { deriveMasterKey, isReservedName, rewrapKey } from "../seal.ts";
import type { MasterKey } from "../seal.ts";
import type { Rotation, RotationRequest } from "../vault.ts";

export interface RotationOptions extends KeyOptions {
  readonly ledger: Pick<Ledger, "write">;
}

/** Throws CONFIG_INVALID when the present key is not available or the new one is unusable. */
export function rotateKey(options: RotationOptions, keyring: Keyring, request: RotationRequest): Promise<Rotation> {
  return options.environmentKey === undefined
    ? rotateFile(options, keyring, request.actor)
    : rotateEnvironment(options, options.environmentKey, { keyring, request });
}

/** Finishes a rotation of the key file that was interrupted before the store changed. */
export async function finishRotation(options: RotationOptions, keyring: Keyring, actor: string): Promise<void> {
  if (options.environmentKey !== undefined || !findNextKey(options.keyFile)) return;
  await rotateFile(options, keyring, actor);
}

async function rotateFile(options: RotationOptions, keyring: Keyring, actor: string): Promise<Rotation> {
  const { store, keyFile, random } = options;
  for (;;) {
    const from = await keyring.key();
    const to = await store.secrets.whileKey(from.check, () => prepareNextKey(keyFile, random));
    const rotation = to && (await switchKey(options, { from, to }, actor));
    // Another rotation was faster: done if it used the same next key, else begin again.
    if (!to || (!rotation && (await store.secrets.keyCheck()) !== to.check)) continue;
    await promoteKey(options, to.check);
    keyring.adopt(to);
    return rotation ?? { secrets: await countSecrets(store), damaged: [] };
  }
}

async function rotateEnvironment(
  options: RotationOptions,
  environmentKey: string,
  { keyring, request }: { readonly keyring: Keyring; readonly request: RotationRequest },
): Promise<Rotation> {
  const { meta } = options.store;
  const nextEnvironmentKey = request.key?.reveal() ?? options.nextEnvironmentKey ?? "";
  const to = deriveMasterKey(parseKey(nextEnvironmentKey, request.key ? "The new key" : NEXT_VARIABLE));
  if (to.check === deriveMasterKey(parseKey(environmentKey, VARIABLE)).check)
    throw new GloveboxError("REQUEST_INVALID", "The new key is the one in use", {
      hint: "Create another one, for example with `openssl rand -hex 32`",
    });
  for (;;) {
    const from = await loadKey({ ...options, nextEnvironmentKey });
    // The rotation was interrupted after the store had changed.
    const isDone = from.check === to.check;
    const until = options.now() + request.handOverMs;
    if (!isDone) await offerKey(meta, { from, to }, { random: options.random, until });
    const rotation = isDone ? undefined : await switchKey(options, { from, to }, request.actor);
    if (!isDone && !rotation) continue;
    keyring.adopt(to);
    if (!isDone) await wait(request.handOverMs);
    await withdrawKey(meta);
    return rotation ?? { secrets: await countSecrets(options.store), damaged: [] };
  }
}

/** Returns `undefined` when the store is no longer sealed with `from`. Recorded before it happens. */
async function switchKey(
  { store, ledger, random }: RotationOptions,
  keys: { readonly from: MasterKey; readonly to: MasterKey },
  actor: string,
): Promise<Rotation | undefined> {
  const { from, to } = keys;
  const [wrapped, damaged] = [new Set<SecretName>(), new Set<SecretName>()];
  await ledger.write({ actor, action: "key.rotated", subject: "vault", detail: { from: from.check, to: to.check } });
  const isDone = await store.secrets.rewrap({ from: from.check, to: to.check }, ({ name, version, wrappedKey }) => {
    try {
      const rewrapped = rewrapKey(wrappedKey, { name, version }, { from, to, random });
      if (!isReservedName(name)) wrapped.add(name);
      return rewrapped;
    } catch {
      // No key opens it. That must not keep the other secrets under the former key.
      damaged.add(name);
      return wrappedKey;
    }
  });
  return isDone ? { secrets: wrapped.size, damaged: [...damaged].toSorted() } : undefined;
}

/** Without the vault's own secrets. */
async function countSecrets({ secrets }: KeyOptions["store"]): Promise<number> {
  return (await secrets.list()).filter(({ name }) => !isReservedName(name)).length;
}
