/** Starts the admin page: a session first, then what it shows. */

import { render } from "preact";

import { createApi } from "./api.ts";
import type { ApiError } from "./api.ts";
import { App } from "./app.tsx";
import { renderEntrance } from "./login/entrance.tsx";
import { followLinks } from "./router.ts";

const NO_LOGINS = { password: false, providers: [] };

void open();

async function open(): Promise<void> {
  const root = document.getElementById("app");
  if (!root) throw new TypeError("The page has no element app");
  const code = takeCode();
  const api = createApi(async () => {
    const [{ askForLogin }, { hasPasskeys }] = await Promise.all([
      import("./login/step-up.ts"),
      import("./login/passkeys.ts"),
    ]);
    return askForLogin(api, hasPasskeys(logins));
  });
  const logins = await api.findLogins().catch(() => NO_LOGINS);
  const canLogIn = logins.password;
  if (canLogIn && location.pathname === "/login") {
    const { renderLogin } = await import("./login/login.ts");
    return renderLogin(openEntrance(root), api, logins);
  }
  if (code !== undefined) await api.enter(code).catch(() => undefined); // a session from before still counts
  followLinks();
  const onNoSession = (error: ApiError): void => {
    if (canLogIn) goToLogin();
    else render(renderEntrance(error.message), root);
  };
  render(<App {...{ api, canLogIn, onNoSession }} />, root);
}

/** The part of the page that has a form alone. */
function openEntrance(root: HTMLElement): HTMLElement {
  const content = document.createElement("main");
  content.id = "content";
  content.className = "entrance";
  root.replaceChildren(content);
  return content;
}

/** The one-time code. It arrives in the fragment of the address, which a browser does not send, and is removed at once. */
function takeCode(): string | undefined {
  const sent = new URLSearchParams(location.hash.slice(1)).get("code");
  if (sent === null || sent === "") return undefined;
  history.replaceState(null, "", location.pathname);
  return sent;
}

function goToLogin(): void {
  const here = location.pathname + location.search;
  location.replace(here === "/" ? "/login" : `/login?${new URLSearchParams({ next: here }).toString()}`);
}
