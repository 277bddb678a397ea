/** Passkeys in the browser: to log in with one, and the list of one's own. */

import type { LoginAnswer, PasskeysAnswer } from "../src/surfaces/admin/contract.ts";
import { ApiError } from "./api.ts";
import type { Api } from "./api.ts";
import { element } from "./element.ts";

/** True if passkeys count on this page and the browser has what they need. */
export function hasPasskeys({ passkeyOrigin }: LoginAnswer): boolean {
  if (passkeyOrigin !== location.origin || !("PublicKeyCredential" in window)) return false;
  return "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Asks the person for a passkey. With `stepUp` only those of this session count. */
export async function logInWithPasskey(api: Pick<Api, "enterPasskey" | "startPasskey">, stepUp = false): Promise<void> {
  const options = await api.startPasskey(stepUp);
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  await api.enterPasskey(await ask(() => navigator.credentials.get({ publicKey })));
}

type PasskeyApi = Pick<Api, "addPasskey" | "removePasskey" | "startAddingPasskey">;

/** `onChanged` is called after each attempt, with the message of a refusal. */
export function renderPasskeys(
  { passkeys }: PasskeysAnswer,
  api: PasskeyApi,
  onChanged: (problem?: string) => void,
): readonly HTMLElement[] {
  const createButton = (text: string, label: string, act: () => Promise<unknown>): HTMLElement => {
    const button = element("button", { type: "button", "aria-label": label }, text);
    button.addEventListener("click", () => {
      button.disabled = true;
      act().then(
        () => onChanged(),
        (thrown: unknown) => {
          button.disabled = false;
          onChanged(thrown instanceof ApiError ? thrown.message : "The passkey was not changed.");
        },
      );
    });
    return button;
  };
  const rows = passkeys.map(({ id, label, createdAt, lastUsedAt }) => {
    const used = lastUsedAt === undefined ? "never used" : `last used ${new Date(lastUsedAt).toLocaleString()}`;
    return element(
      "li",
      { class: "row", "aria-label": label },
      element("strong", { class: "grow" }, label),
      element("span", { class: "muted" }, `added ${new Date(createdAt).toLocaleString()}, ${used}`),
      createButton("Remove", `Remove passkey ${label}`, () => api.removePasskey(id)),
    );
  });
  const add = createButton("Add a passkey", "Add a passkey", () => addPasskey(api));
  return [element("ul", { class: "rows" }, ...rows), element("p", {}, add)];
}

async function addPasskey(api: PasskeyApi): Promise<void> {
  const options = await api.startAddingPasskey();
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await ask(() => navigator.credentials.create({ publicKey }));
  await api.addPasskey(`${nameDevice()}, ${new Date().toLocaleDateString()}`, made);
}

async function ask(work: () => Promise<Credential | null>): Promise<object> {
  const answer = await work().catch(() => null);
  if (answer instanceof PublicKeyCredential) {
    const json: unknown = answer.toJSON();
    if (typeof json === "object" && json !== null) return json;
  }
  throw new ApiError("refused", "No passkey was chosen, or the device did not verify you.");
}

/** What tells passkeys apart in a list. */
function nameDevice(): string {
  const found = /Android|iPhone|iPad|Macintosh|Windows|CrOS|Linux/.exec(navigator.userAgent);
  return found?.[0] ?? "Browser";
}
