/** Which room may import which. The single source for the lint rule, the architecture test and ARCHITECTURE.md. */

export interface Room {
  /** What it is for, in one sentence. */
  readonly does: string;
  readonly never: string;
  readonly imports: readonly string[];
}

export const ROOMS: Readonly<Record<string, Room>> = {
  domain: {
    does: "Names the things that travel between rooms: ids, tools, programs, executions, decisions, limits, errors.",
    never: "import anything, not even Node",
    imports: [],
  },
  timing: {
    does: "Holds small mechanics of time that three rooms need: polling, races, backoff, caches.",
    never: "know what it times",
    imports: [],
  },
  text: {
    does: "Holds small mechanics of text that three rooms need: cleaning, shortening, comparing, digests.",
    never: "keep state",
    imports: ["domain"],
  },
  config: {
    does: "Turns a configuration file into one checked, frozen settings object.",
    never: "be read twice, or by a room that did not receive it",
    imports: ["domain", "timing", "text"],
  },
  processes: {
    does: "Ends every child process with the gateway, however the gateway ends, and has the parts that confine one.",
    never: "start anything that a program names",
    imports: ["domain", "timing", "text"],
  },
  store: {
    does: "Stores records in SQLite behind one interface.",
    never: "decide anything",
    imports: ["domain", "timing", "text"],
  },
  ledger: {
    does: "Records what happened: redacted, append-only, hash-chained and signed.",
    never: "forget or edit",
    imports: ["domain", "timing", "text", "store"],
  },
  vault: {
    does: "Keeps secrets sealed and lends them to one use at a time.",
    never: "return a plain string",
    imports: ["domain", "timing", "text", "store", "ledger"],
  },
  egress: {
    does: "Opens every outbound connection, after matching a rule.",
    never: "follow a redirect unchecked",
    imports: ["domain", "timing", "text", "ledger"],
  },
  identity: {
    does: "Knows who a principal is: people, roles, tokens, sessions, and the principals made from them.",
    never: "keep a credential that can be read back",
    imports: ["domain", "timing", "text", "store", "ledger", "vault", "egress"],
  },
  connectors: {
    does: "Speaks each upstream's protocol and presents tools and calls.",
    never: "know who is asking",
    imports: ["domain", "timing", "text", "processes", "vault", "egress"],
  },
  catalog: {
    does: "Merges upstream tools into one named, searchable snapshot.",
    never: "call a tool on its own initiative",
    imports: ["domain", "timing", "text", "store", "connectors"],
  },
  typegen: {
    does: "Turns a snapshot into the typed API that the model reads.",
    never: "touch the network or the clock",
    imports: ["domain", "timing", "text"],
  },
  analysis: {
    does: "Turns source text into a checked program, or reports why it cannot.",
    never: "run code",
    imports: ["domain", "timing", "text"],
  },
  checker: {
    does: "Checks a program against the generated API in a separate process, and explains type errors.",
    never: "read a file but its library, or run a program",
    imports: ["domain", "timing", "text", "analysis"],
  },
  policy: {
    does: "Decides allow, ask or deny.",
    never: "carry out its decision",
    imports: ["domain", "timing", "text", "store", "ledger"],
  },
  skills: {
    does: "Keeps skills: their versions and approvals, and what programs may call of them.",
    never: "run a skill, or take a decision of anybody but a person",
    imports: ["domain", "timing", "text", "store", "ledger", "analysis"],
  },
  sandbox: {
    does: "Runs a program in an isolate within limits.",
    never: "import a room that holds data, or has a power but to start processes",
    imports: ["domain", "timing", "text", "processes"],
  },
  bridge: {
    does: "Takes every call of a program through one list of steps.",
    never: "be bypassed",
    imports: ["domain", "timing", "text", "ledger", "policy", "catalog", "typegen"],
  },
  builtins: {
    does: "Provides what Glovebox itself offers to programs: search, describe, kept results and fetch.",
    never: "decide whether a call is allowed",
    imports: ["domain", "timing", "text", "catalog", "typegen", "egress", "bridge"],
  },
  execution: {
    does: "Leads one request through the rooms in order and settles its result.",
    never: "decide what is allowed",
    imports: ["domain", "timing", "text", "store", "ledger", "catalog", "typegen", "analysis", "sandbox", "bridge"],
  },
  telemetry: {
    does: "Counts, traces and reports unusual use, when an operator turns it on.",
    never: "hold up an execution, or see an argument, a result or a source",
    imports: ["domain", "timing", "text", "store", "ledger", "egress"],
  },
  onboarding: {
    does: "Imports servers from the MCP clients on this machine, registers Glovebox in them, and undoes both.",
    never: "start a server, or write a file without a sealed copy of it",
    imports: ["domain", "text"],
  },
  surfaces: {
    does: "Thin doors (MCP, admin, command line, library) that turn a protocol into a request and a result into a reply.",
    never: "build a room",
    imports: [
      "domain",
      "timing",
      "text",
      "config",
      "store",
      "ledger",
      "vault",
      "egress",
      "identity",
      "connectors",
      "catalog",
      "typegen",
      "policy",
      "skills",
      "builtins",
      "execution",
      "onboarding",
    ],
  },
};

/** The folders inside a room, and the files beside them that they may import. */
export interface SubRooms {
  readonly folders: readonly string[];
  /** Files directly in the parent folder. They import no sub-room themselves. */
  readonly interface: readonly string[];
}

/** Every folder that has sub-rooms. A sub-room imports its own files and its parents' interface, never a sibling. */
export const SUB_ROOMS: Readonly<Record<string, SubRooms>> = {
  analysis: {
    folders: ["plan", "prepare", "rules", "skill", "typescript"],
    interface: [
      "edit-text.ts",
      "find-entry.ts",
      "fold.ts",
      "locate.ts",
      "parse-javascript.ts",
      "program-syntax.ts",
      "read-tree.ts",
      "resolve-scopes.ts",
      "scan-tokens.ts",
      "surroundings.ts",
    ],
  },
  bridge: { folders: ["steps"], interface: ["builtin.ts", "check-schema.ts", "crossing.ts", "deadlines.ts"] },
  catalog: { folders: ["pins", "search", "shapes"], interface: ["name-tools.ts", "parse-listing.ts", "prose.ts"] },
  checker: { folders: ["child"], interface: ["wire.ts"] },
  config: { folders: ["read", "schema"], interface: ["expand-references.ts", "formats.ts", "problems.ts"] },
  "config/schema": { folders: ["values"], interface: [] },
  connectors: {
    folders: ["adapter", "confinement", "login", "mcp", "openapi", "packages", "restart"],
    interface: [
      "breaker.ts",
      "connector.ts",
      "lifecycle.ts",
      "listeners.ts",
      "network-policies.ts",
      "settings.ts",
      "shown-text.ts",
      "start-launch.ts",
      "upstream-error.ts",
    ],
  },
  "connectors/mcp": { folders: ["messages", "transport"], interface: [] },
  "connectors/openapi": {
    folders: ["document", "request"],
    interface: ["credentials.ts", "media-type.ts", "operation.ts"],
  },
  egress: { folders: ["connect", "http"], interface: ["check-url.ts", "network.ts", "reach.ts"] },
  execution: {
    folders: ["evidence", "history", "journal", "recover", "replay", "results", "run", "suspend"],
    interface: [
      "deps.ts",
      "execution-log.ts",
      "input-waits.ts",
      "journal-schema.ts",
      "journal.ts",
      "kept-results.ts",
      "ledger-trail.ts",
      "quotas.ts",
      "record-deliveries.ts",
      "requests.ts",
      "running-table.ts",
      "settle.ts",
    ],
  },
  identity: {
    folders: ["oauth", "passkeys", "providers"],
    interface: [
      "login-limit.ts",
      "network-of.ts",
      "pending.ts",
      "people.ts",
      "powers.ts",
      "principals.ts",
      "record-refusals.ts",
      "scopes.ts",
      "sessions.ts",
      "token-text.ts",
      "tokens.ts",
    ],
  },
  ledger: {
    folders: ["export", "signing"],
    interface: ["chain-check.ts", "follow-chain.ts", "open-ledger.ts", "record.ts", "signer.ts", "statement.ts"],
  },
  processes: { folders: ["confinement"], interface: [] },
  onboarding: { folders: ["files"], interface: [] },
  policy: { folders: ["approvals", "flows", "quotas", "rules"], interface: ["decision.ts", "matches-tool.ts"] },
  sandbox: {
    folders: ["confinement", "engines", "pool", "program"],
    interface: [
      "engine.ts",
      "find-built.ts",
      "frames.ts",
      "guest.generated.ts",
      "measure.ts",
      "priority.ts",
      "sandbox.ts",
      "child-lease.ts",
      "start-child.ts",
      "tape.ts",
      "watchdog.ts",
      "wire.ts",
    ],
  },
  "sandbox/engines": {
    folders: ["isolate", "quickjs", "workerd"],
    interface: ["engine-files.ts", "realm.ts", "serve-child.ts", "url-parts.ts"],
  },
  skills: { folders: ["draft", "folder", "keys", "review", "usage"], interface: ["powers.ts", "skill.ts"] },
  store: {
    folders: ["sqlite"],
    interface: ["approvals.ts", "executions.ts", "identity.ts", "quotas.ts", "row.ts", "skills.ts", "store.ts"],
  },
  "store/sqlite": { folders: ["tables"], interface: ["column-seal.ts", "connection.ts", "to-store-error.ts"] },
  surfaces: {
    folders: ["admin", "cli", "demo", "library", "mcp"],
    interface: [
      "describe-evidence.ts",
      "describe-scope.ts",
      "describe-secrets.ts",
      "gateway.ts",
      "near-gateway.ts",
      "omit-repeated.ts",
      "operator-records.ts",
      "parse-request.ts",
      "reach-near.ts",
      "reach-people.ts",
      "serve-near.ts",
    ],
  },
  "surfaces/admin": { folders: ["contract"], interface: [] },
  "surfaces/cli": {
    folders: ["approvals", "executions", "onboarding", "people", "policy", "servers", "skills"],
    interface: ["add-command.ts", "powers.ts", "print.ts"],
  },
  "surfaces/mcp": { folders: ["elicitation"], interface: [] },
  telemetry: { folders: ["anomalies", "metrics", "traces"], interface: ["event.ts", "feed.ts"] },
  typegen: { folders: ["types"], interface: ["escape-text.ts"] },
  vault: {
    folders: ["keys", "lending"],
    interface: ["cipher.ts", "mask.ts", "seal.ts", "secret-forms.ts", "secret.ts", "vault.ts"],
  },
};

/** Packages and builtins that may enter the code base through certain rooms, or single files of them, only. */
export const GATES: readonly { readonly match: RegExp; readonly rooms: readonly string[] }[] = [
  {
    match: /^(isolated-vm|quickjs-emscripten.*|@jitl\/quickjs.*|workerd|node:worker_threads|node:vm)$/,
    rooms: ["sandbox"],
  },
  { match: /^(node:sqlite|pg)$/, rooms: ["store"] },
  {
    match: /^(undici|node:https?|node:http2|node:tls|node:dgram|node:dns(\/.*)?)$/,
    rooms: ["egress", "surfaces"],
  },
  // One file passes a local socket to a child; it makes no other connection.
  { match: /^node:net$/, rooms: ["egress", "surfaces", "sandbox/open-wire.ts"] },
  // One file of the command line opens a browser, and one shows a notification.
  {
    match: /^node:child_process$/,
    rooms: [
      "connectors",
      "sandbox",
      "processes",
      "checker",
      "surfaces/cli/open-browser.ts",
      "surfaces/show-on-desktop.ts",
    ],
  },
  { match: /^@modelcontextprotocol\/client/, rooms: ["connectors"] },
  { match: /^(@modelcontextprotocol\/server|hono|@hono\/.*)/, rooms: ["surfaces"] },
  { match: /^(jose|oidc-provider|openid-client|@simplewebauthn\/server)$/, rooms: ["identity"] },
  { match: /^typescript(\/.*)?$/, rooms: ["checker"] },
  {
    match: /^node:crypto$/,
    rooms: ["text", "vault", "ledger", "identity", "catalog", "telemetry", "surfaces", "egress/open-webhook.ts"],
  },
  {
    match: /^node:fs(\/.*)?$/,
    rooms: [
      "config",
      "store",
      "vault",
      "sandbox",
      "processes",
      "surfaces",
      // Files of MCP clients.
      "onboarding",
      // The head of the ledger is kept beside the store and not in it, and an export may go to a file.
      "ledger/signing/head-file.ts",
      "ledger/export/open-file-sink.ts",
      // The checker's process reads the compiler's own library when it starts, before it is given a program.
      "checker/child/compiler.ts",
      // Which files a confined server needs, and folders of its own.
      "connectors/confinement/grants.ts",
      "connectors/confinement/late-proxy.ts",
      "connectors/confinement/launch.ts",
      // Installed packages of servers with npx.
      "connectors/packages/find-bin.ts",
      "connectors/packages/installations.ts",
      "connectors/packages/open-packages.ts",
      "connectors/try-package.ts",
      // The folders of skills: what is submitted, and what was approved.
      "skills/folder/approved-folder.ts",
      "skills/folder/read-folder.ts",
    ],
  },
];
