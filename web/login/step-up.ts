/** Asks for a new login where the last one is too long ago for a change. */

import type { Api } from "../api.ts";
import { element } from "./element.ts";
import { createField, createForm } from "./login.ts";
import { logInWithPasskey } from "./passkeys.ts";
import { startLogin } from "./start-login.ts";

type LoginApi = Pick<Api, "change" | "enterPasskey" | "logIn" | "session">;

const DONE = "done";

/** Resolves to true after a new login, and to false if the person cancels. */
export async function askForLogin(api: LoginApi, canUsePasskeys: boolean): Promise<boolean> {
  const { principal, provider } = await api.session();
  const name = /^person:(.+)$/.exec(principal)?.[1];
  const dialog = element("dialog", { class: "card", "aria-label": "Log in again" });
  const done = (): void => dialog.close(DONE);
  const cancel = element("button", { type: "button" }, "Cancel");
  cancel.addEventListener("click", () => dialog.close());
  dialog.append(
    element("h2", {}, "Log in again"),
    element("p", { class: "muted" }, "Your last login is too long ago for a change."),
    ...(provider === undefined ? [] : createProviderParts(provider, api, done)),
    ...(provider === undefined && name !== undefined ? [createPasswordForm(name, api, done)] : []),
    ...(provider === undefined && name !== undefined && canUsePasskeys
      ? [createForm("Use a passkey", [], () => logInWithPasskey(api, true).then(done))]
      : []),
    ...(name === undefined ? createCommandParts(done) : []),
    cancel,
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === DONE);
    });
  });
}

function createPasswordForm(person: string, api: LoginApi, done: () => void): HTMLElement {
  const name = createField("Name", { id: "step-up-name", type: "text", autocomplete: "username" });
  const password = createField("Password", {
    id: "step-up-password",
    type: "password",
    autocomplete: "current-password",
  });
  name.input.value = person;
  name.input.readOnly = true;
  return createForm("Log in and continue", [name, password], async () => {
    await api.logIn(person, password.input.value);
    done();
  });
}

/** The provider is opened in another tab, so that the change is not lost. The tab is opened at once, or it is blocked. */
function createProviderParts(provider: string, api: LoginApi, done: () => void): readonly HTMLElement[] {
  const form = createForm("Log in in a new tab", [], async () => {
    const tab = window.open("about:blank");
    try {
      const address = await startLogin(api, provider, { stepUp: true });
      if (tab) tab.location.href = address;
      else location.assign(address);
    } catch (thrown) {
      tab?.close();
      throw thrown;
    }
    for (const button of form.querySelectorAll("button")) button.disabled = false;
  });
  const go = element("button", { type: "button" }, "Continue");
  go.addEventListener("click", done);
  return [form, element("p", { class: "muted" }, "Continue here when the other tab says so."), go];
}

/** For a session of `glovebox open`: its next code gives this browser a new session. */
function createCommandParts(done: () => void): readonly HTMLElement[] {
  const button = element("button", { type: "button", class: "primary" }, "Continue");
  button.addEventListener("click", done);
  return [
    element(
      "p",
      {},
      "Run ",
      element("code", {}, "glovebox open"),
      " on the machine of the gateway, then continue here.",
    ),
    button,
  ];
}
