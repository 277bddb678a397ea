/** The login page: a login provider, a name and a password, or a new password for the link of an invite. */

import type { LoginAnswer } from "../../src/surfaces/admin/contract.ts";

import { ApiError } from "../api.ts";
import type { Api } from "../api.ts";
import { element, show } from "./element.ts";
import { hasPasskeys, logInWithPasskey } from "./passkeys.ts";
import { startLogin } from "./start-login.ts";
import { toNextAddress } from "../../src/surfaces/admin/next-address.ts";

const MIN_PASSWORD_CHARS = 12;

/** Shows the form and leaves the page after a login. */
export function renderLogin(content: HTMLElement, api: Api, logins: LoginAnswer): void {
  const code = takeInvite();
  const next = toNextAddress(new URLSearchParams(location.search).get("next"), location.origin);
  const leave = (): void => location.replace(next);
  document.title = code === undefined ? "Log in · Glovebox" : "Set a password · Glovebox";
  const path = next.slice(location.origin.length);
  const form = code === undefined ? createLoginForm(api, leave) : createInviteForm(api, code, leave);
  const lead =
    code === undefined
      ? ["Log in", path === "/" ? location.host : `${location.host}. You will return to ${path.slice(0, 80)}`]
      : ["Set your password", "This link works once. You are logged in afterwards."];
  show(
    content,
    element(
      "section",
      { class: "card entrance" },
      element("h2", {}, lead[0] ?? ""),
      element("p", { class: "muted" }, lead[1] ?? ""),
      ...(code === undefined ? createOtherParts(api, logins, { path, leave }) : []),
      form,
      element(
        "p",
        { class: "muted small" },
        "On the machine of the gateway, ",
        element("code", {}, "glovebox open"),
        " logs you in without a password. Logins, also failed ones, are recorded in the ledger.",
      ),
    ),
  );
  form.querySelector("input")?.focus();
}

/** The code is in the fragment, which a browser does not send, and is removed at once. */
function takeInvite(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("invite");
  if (code === null || code === "") return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return code;
}

function createLoginForm(api: Api, leave: () => void): HTMLElement {
  const name = createField("Name", { id: "name", type: "text", autocomplete: "username" });
  const password = createField("Password", { id: "password", type: "password", autocomplete: "current-password" });
  return createForm("Log in", [name, password], async () => {
    await api.logIn(name.input.value.trim().toLowerCase(), password.input.value);
    leave();
  });
}

/** A form for each provider, for which the browser leaves this page, and one for passkeys. */
function createOtherParts(
  api: Api,
  logins: LoginAnswer,
  { path: next, leave }: { readonly path: string; readonly leave: () => void },
): readonly HTMLElement[] {
  const forms = logins.providers.map(({ name, title }) =>
    createForm(`Log in with ${title}`, [], async () => location.assign(await startLogin(api, name, { next }))),
  );
  if (hasPasskeys(logins)) forms.push(createForm("Log in with a passkey", [], () => logInWithPasskey(api).then(leave)));
  return forms.length === 0 ? [] : [...forms, element("p", { class: "muted small" }, "or with a password:")];
}

function createInviteForm(api: Api, code: string, leave: () => void): HTMLElement {
  const label = `New password, at least ${MIN_PASSWORD_CHARS} characters`;
  const password = createField(label, { id: "password", type: "password", autocomplete: "new-password" });
  const again = createField("The same again", { id: "again", type: "password", autocomplete: "new-password" });
  return createForm("Set password and log in", [password, again], async () => {
    if (password.input.value !== again.input.value) throw new ApiError("refused", "The two passwords differ.");
    await api.acceptInvite(code, password.input.value);
    leave();
  });
}

interface Field {
  readonly input: HTMLInputElement;
  readonly parts: readonly HTMLElement[];
}

/** With its label. */
export function createField(
  label: string,
  attributes: { id: string; type: "text" | "password"; autocomplete: AutoFill },
): Field {
  const input = element("input", { ...attributes, required: "" });
  return { input, parts: [element("label", { for: attributes.id }, label), input] };
}

/** The button waits for the answer; a refusal is announced. */
export function createForm(action: string, fields: readonly Field[], send: () => Promise<void>): HTMLElement {
  const problem = element("p", { class: "cause", role: "alert" });
  const button = element("button", { class: "primary" }, action);
  const form = element("form", { class: "form" }, ...fields.flatMap(({ parts }) => parts), problem, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    send().catch((error: unknown) => {
      button.disabled = false;
      problem.textContent = error instanceof ApiError ? error.message : "The answer of the gateway is not readable.";
    });
  });
  return form;
}
