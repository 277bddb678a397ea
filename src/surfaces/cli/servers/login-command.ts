/** `glovebox servers login` and `servers logout`: connect or disconnect a person's account of an upstream. */

import type { DroppedLogin } from "../../../connectors/index.ts";
import { parseConnectorId } from "../../../domain/index.ts";
import type { ConnectorId } from "../../../domain/index.ts";
import { listenForAnswer } from "./listen-for-answer.ts";
import { EXIT } from "../powers.ts";
import type { CommandContext } from "../powers.ts";
import { printLine } from "../print.ts";
import { noServer } from "./servers-command.ts";

export interface LoginFlags {
  readonly config?: string;
  readonly open?: boolean;
  readonly scope?: string;
  readonly port?: number;
}

/** Time limit for the person at the browser. */
const ANSWER_MS = 10 * 60_000;

/** Only the address goes to standard output, so that it can be piped. Tokens are never printed. */
export async function loginServerCommand(name: string, flags: LoginFlags, context: CommandContext): Promise<number> {
  const { powers, principal } = context;
  const { stdout, stderr } = powers.terminal;
  const settings = await powers.loadSettings(flags.config);
  const id = toServer(name, [...settings.upstreams.keys()]);
  const scopes = (flags.scope ?? "").split(" ").filter(Boolean);
  const state = powers.createToken();
  await using listener = await listenForAnswer({ state, port: flags.port ?? 0, answerMs: ANSWER_MS });
  const interrupted = powers.terminal.onInterrupt(() => listener.stop());
  try {
    await using records = await powers.openRecords(settings);
    const { logins } = records;
    const begun = await logins.begin(id, { scopes, state, redirectUri: listener.redirectUri });
    printLine(stderr, `Open this address to log in to ${id} at ${begun.issuer}:`);
    stdout.write(`${begun.authorizationUrl.href}\n`);
    if (flags.open === true) powers.openBrowser(begun.authorizationUrl);
    const login = await begun.finish(await listener.answer);
    await logins.keep(login, principal.id);
    printLine(stderr, `Logged in to ${id}; gateways that run on this configuration use it within a few seconds`);
    return EXIT.done;
  } finally {
    interrupted();
  }
}

/** Deletes the login in any case, and reports whether its tokens are still valid. */
export async function logoutServerCommand(name: string, flags: LoginFlags, context: CommandContext): Promise<number> {
  const { powers, principal } = context;
  const settings = await powers.loadSettings(flags.config);
  const id = toServer(name, [...settings.upstreams.keys()]);
  await using records = await powers.openRecords(settings);
  const { logins } = records;
  printLine(powers.terminal.stderr, describeLogout(id, await logins.drop(id, principal.id)));
  return EXIT.done;
}

function describeLogout(id: ConnectorId, dropped: DroppedLogin): string {
  if (dropped.kind === "none") return `${id} had no login`;
  const { issuer, revocation } = dropped;
  const forgotten = `The login of ${id} is deleted`;
  if (!revocation) return forgotten;
  switch (revocation.kind) {
    case "revoked":
      return `${forgotten}, and its tokens are revoked at ${issuer}`;
    case "unsupported":
      return `${forgotten}; ${issuer} cannot revoke its tokens, so they stay valid until they expire`;
    case "failed":
      return `${forgotten}, but its tokens could not be revoked at ${issuer} (${revocation.cause}): they stay valid until they expire, or until you revoke them there`;
    default:
      return revocation satisfies never;
  }
}

function toServer(name: string, known: readonly ConnectorId[]): ConnectorId {
  const id = parseConnectorId(name);
  if (id !== undefined && known.includes(id)) return id;
  throw noServer(name);
}
