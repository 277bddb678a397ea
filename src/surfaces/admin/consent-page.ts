/** The page on which a person lets an MCP client in, and those around logins. They have no script: everything is text that is escaped here. */

import type { Identity } from "../../identity/index.ts";

type AskedConsent = NonNullable<
  Awaited<ReturnType<ReturnType<NonNullable<Identity["openAuthorization"]>>["findRequest"]>>
>;

const SCOPES: Readonly<Record<string, string>> = {
  execute: "Run programs that read, write or destroy, within the rules. You are asked where a rule says so.",
  "execute:read": "Run programs that only read.",
  search: "Find tools and read their declarations.",
};

const SOURCES: Readonly<Record<AskedConsent["source"], (host: string) => string>> = {
  configured: () => "An operator of this gateway set up this client.",
  document: (host) => `${host} describes this client.`,
  registered: () => "This client registered itself. Its name was not checked.",
};

/** `person` is the name of who decides. */
export function renderConsent(request: AskedConsent, person: string): string {
  const { client, name = client, source, redirect, resource, scopes } = request;
  const host = hostOf(client) ?? hostOf(redirect) ?? redirect;
  const rows = [
    ["Client id", client],
    ["Answers go to", `${redirect}${placeOf(redirect)}`],
    ["Host", hostOf(redirect) ?? redirect],
    ["Resource", resource],
  ] as const;
  const facts = rows.map(([term, value]) => `<dt>${escape(term)}</dt><dd><code>${escape(value)}</code></dd>`);
  const boxes = scopes.map(
    (scope) =>
      `<li><label><input type="checkbox" name="scope" value="${escape(scope)}" checked> <b>${escape(scope)}</b> ` +
      `${escape(SCOPES[scope] ?? "")}</label></li>`,
  );
  return renderPage(
    `Let “${name}” act for you?`,
    `<p>${escape(SOURCES[source](host))} You are signed in as <b>${escape(person)}</b>.</p>
<dl>${facts.join("")}</dl>
<form method="post"><ul>${boxes.join("")}</ul>
<p>It can neither read secrets nor change rules or people.</p>
<p><button name="decision" value="deny">Deny</button> <button name="decision" value="allow">Allow</button></p></form>`,
  );
}

/** Continues at an address of this gateway. A redirect of the form itself would be bound by its `form-action`. */
export function renderContinue(address: string): string {
  const link = `<p><a href="${escape(address)}">Continue</a></p>`;
  return renderPage("One moment", link, `<meta http-equiv="refresh" content="0;url=${escape(address)}">`);
}

/** `link` is what the person can do next. */
export function renderProblem(
  title: string,
  text: string,
  link?: { readonly address: string; readonly text: string },
): string {
  const next = link ? `<p><a href="${escape(link.address)}">${escape(link.text)}</a></p>` : "";
  return renderPage(title, `<p>${escape(text)}</p>${next}`);
}

export function renderDone(text: string): string {
  return renderPage("Done", `<p>${escape(text)}</p>`);
}

function renderPage(title: string, body: string, head = ""): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escape(title)} - Glovebox</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/style.css">${head}</head>
<body><main id="content" class="entrance"><div class="card"><h1>${escape(title)}</h1>${body}</div></main></body></html>
`;
}

function hostOf(text: string): string | undefined {
  return URL.parse(text)?.host || undefined;
}

/** Only loopback addresses may use http. */
function placeOf(redirect: string): string {
  const { protocol = "" } = URL.parse(redirect) ?? {};
  if (protocol === "https:") return "";
  return protocol === "http:" ? " (this computer)" : " (an application of this computer)";
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? "");
}
