/** Asks for a new login where the last one is too long ago for a change. */

import type { Api } from "./api.ts";
import { element } from "./element.ts";
import { createField, createForm } from "./login.ts";

type LoginApi = Pick<Api, "logIn" | "session">;

const DONE = "done";

/** Resolves to true after a new login, and to false if the person cancels. */
export async function askForLogin(api: LoginApi): Promise<boolean> {
  const name = /^person:(.+)$/.exec((await api.session()).principal)?.[1];
  const dialog = element("dialog", { class: "card", "aria-label": "Log in again" });
  const done = (): void => dialog.close(DONE);
  const cancel = element("button", { type: "button" }, "Cancel");
  cancel.addEventListener("click", () => dialog.close());
  dialog.append(
    element("h2", {}, "Log in again"),
    element("p", { class: "muted" }, "Your last login is too long ago for a change."),
    ...(name === undefined ? createCommandParts(done) : [createPasswordForm(name, api, done)]),
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
