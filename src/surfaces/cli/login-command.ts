/** `glovebox servers login` and `servers logout`: a person lets Glovebox use an upstream in their name, or ends that. */

import { parseConnectorId } from "../../domain/index.ts";
import type { ConnectorId, Principal } from "../../domain/index.ts";
import { listenForAnswer } from "./listen-for-answer.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers } from "./powers.ts";
import { printLine } from "./print.ts";
import { noServer } from "./servers-command.ts";

export interface LoginFlags {
  readonly config?: string;
  readonly open?: boolean;
  readonly scope?: string;
  readonly port?: number;
}

interface Context {
  readonly powers: CliPowers;
  readonly principal: Principal;
}

/** How long a person may take at the browser. */
const ANSWER_MS = 10 * 60_000;

/** The address goes to standard output by itself, so that it can be piped; tokens are never printed. */
export async function loginServerCommand(name: string, flags: LoginFlags, context: Context): Promise<number> {
  const { powers, principal } = context;
  const { stdout, stderr } = powers.terminal;
  const settings = await powers.loadSettings(flags.config);
  const id = toServer(name, [...settings.upstreams.keys()]);
  const scopes = (flags.scope ?? "").split(" ").filter(Boolean);
  const state = powers.createToken();
  await using listener = await listenForAnswer({ state, port: flags.port ?? 0, answerMs: ANSWER_MS });
  const interrupted = powers.terminal.onInterrupt(() => listener.stop());
  try {
    await using logins = await powers.openLogins(settings);
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

/** The authorization server is not told: a token that somebody else holds stays good until it ends. */
export async function logoutServerCommand(name: string, flags: LoginFlags, context: Context): Promise<number> {
  const { powers, principal } = context;
  const settings = await powers.loadSettings(flags.config);
  const id = toServer(name, [...settings.upstreams.keys()]);
  await using logins = await powers.openLogins(settings);
  const wasThere = await logins.drop(id, principal.id);
  printLine(powers.terminal.stderr, wasThere ? `The login of ${id} is forgotten` : `${id} had no login`);
  return EXIT.done;
}

function toServer(name: string, known: readonly ConnectorId[]): ConnectorId {
  const id = parseConnectorId(name);
  if (id !== undefined && known.includes(id)) return id;
  throw noServer(name);
}
