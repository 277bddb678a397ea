/**
 * People log in at OpenID Connect providers. A login that is under way belongs to one browser, works once and lasts ten
 * minutes; its address at the gateway names its provider, so that no answer of another one fits.
 */

import { GloveboxError, defined } from "../../domain/index.ts";
import type { Instant, Principal } from "../../domain/index.ts";
import { HOUR_MS, MINUTE_MS } from "../../timing/index.ts";
import type { Store } from "../../store/index.ts";
import type { LoginLimit } from "../login-limit.ts";
import type { Pending } from "../pending.ts";
import type { IdentityPowers } from "../powers.ts";
import { nameOfPerson } from "../principals.ts";
import type { CredentialRefusal } from "../record-refusals.ts";
import type { FoundSession, OpenedSession, Sessions } from "../sessions.ts";

import { createAdmission } from "./admit-person.ts";
import { createProviderClient } from "./provider-client.ts";
import type { ProviderClient, ProviderPowers, ProviderSettings } from "./provider-client.ts";
import { describeFault } from "./provider-faults.ts";
import { parseLogin } from "./started-login.ts";
import type { StartedLogin } from "./started-login.ts";

export interface LoginStart {
  /** The address of the page, without a slash at the end: the only place to which a provider leads back. */
  readonly pageUrl: string;
  readonly origin: string;
  /** Where the person continues on the page. */
  readonly next: string;
  /** The session of the browser, which the login ends. */
  readonly session?: FoundSession | undefined;
  /** True to prove again who has the session. */
  readonly isStepUp: boolean;
}

export interface ReturnedLogin {
  readonly pageUrl: string;
  readonly origin: string;
  /** What the provider added to the address, with the question mark. */
  readonly query: string;
  /** From the browser that started the login. */
  readonly secret: string | undefined;
}

export interface FinishedLogin {
  readonly opened: OpenedSession;
  readonly next: string;
  readonly isStepUp: boolean;
}

export interface ProviderLogins {
  /** In the order of the configuration. */
  list(): readonly { readonly name: string; readonly title: string }[];
  /** The name of the provider of a person, if it is still configured. */
  findOf(person: Principal): Promise<string | undefined>;
  /** Returns where the browser goes, and what it must bring back. */
  start(provider: string, start: LoginStart): Promise<{ readonly url: string; readonly secret: string }>;
  /** Opens a session. Rejects with what the person is told; every refusal is recorded. */
  finish(provider: string, answer: ReturnedLogin): Promise<FinishedLogin>;
}

export interface ProviderLoginPowers extends IdentityPowers, ProviderPowers {
  readonly limit: LoginLimit;
  readonly pending: Pending;
  readonly meta: Pick<Store["meta"], "get">;
  readonly sessions: Pick<Sessions, "end" | "openWhile">;
  readonly refuse: (refusal: CredentialRefusal) => void;
}

export const LOGIN_SECONDS = 10 * 60;
/** Shorter than other sessions: roles are read from the provider at a login. */
const SESSION_MS = 12 * HOUR_MS;
/** How far the clocks may differ, and how long ago a provider may have asked. */
const TOLERANCE_MS = MINUTE_MS / 2;
const SECRET_BYTES = 32;

interface Provider {
  readonly name: string;
  readonly title: string;
  readonly settings: ProviderSettings;
  readonly client: ProviderClient;
}

export function toCallbackPath(provider: string): string {
  return `/login/callback/${provider}`;
}

/** What both halves of a login share. */
interface LoginContext extends ProviderLoginPowers {
  /** Throws REQUEST_NOT_FOUND. */
  readonly get: (name: string) => Provider;
  readonly findOf: (person: Principal) => Promise<Provider | undefined>;
  /** Records the provider's faults. Those that are not of the person do not count as a failed login. */
  readonly ask: <Answer>(
    provider: Provider,
    who: { readonly origin: string; readonly attempt: string },
    work: () => Promise<Answer>,
  ) => Promise<Answer>;
}

export function createProviderLogins(
  configured: ReadonlyMap<string, ProviderSettings>,
  powers: ProviderLoginPowers,
): ProviderLogins {
  const { store, limit, refuse } = powers;
  const providers = new Map(
    [...configured].map(([name, settings]): [string, Provider] => {
      const client = createProviderClient(settings, powers);
      return [name, { name, title: settings.title ?? name, settings, client }];
    }),
  );
  const context: LoginContext = {
    ...powers,
    get: (name) => {
      const found = providers.get(name);
      if (found) return found;
      throw new GloveboxError("REQUEST_NOT_FOUND", "This gateway has no such login provider", { hint: "Open /login" });
    },
    findOf: async ({ id }) => {
      const person = nameOfPerson(id);
      const login = person === undefined ? undefined : await store.findProviderLogin({ person });
      return login && [...providers.values()].find(({ settings }) => settings.issuer === login.issuer);
    },
    ask: async ({ name, title }, { origin, attempt }, work) => {
      try {
        return await work();
      } catch (thrown) {
        const fault = describeFault(thrown);
        refuse({ what: "login", reason: `${name}: ${fault.reason}`, origin });
        if (fault.kind === "unreachable" || fault.kind === "clock") await limit.giveBack(attempt);
        throw thrown instanceof GloveboxError ? thrown : explain(title, fault, thrown);
      }
    },
  };
  return {
    list: () => [...providers.values()].map(({ name, title }) => ({ name, title })),
    findOf: async (person) => (await context.findOf(person))?.name,
    start: createStart(context),
    finish: createFinish(context),
  };
}

function createStart({ now, random, limit, pending, get, findOf, ask }: LoginContext): ProviderLogins["start"] {
  const draw = (): string => Buffer.from(random(SECRET_BYTES)).toString("base64url");
  return async (name, { pageUrl, origin, next, session, isStepUp }) => {
    const provider = get(name);
    if (isStepUp && (!session || (await findOf(session.principal)) !== provider)) throw notOfProvider(provider.title);
    const attempt = await limit.take(undefined, origin);
    const [state, nonce, verifier, secret] = [draw(), draw(), draw(), draw()];
    const login = { state, nonce, verifier, redirectUri: `${pageUrl}${toCallbackPath(name)}`, isStepUp };
    const url = await ask(provider, { origin, attempt }, () => provider.client.toAddress(login));
    const started: StartedLogin = {
      provider: name,
      nonce,
      verifier,
      attempt,
      next,
      startedAt: now(),
      ...defined({ session: session?.id, person: isStepUp ? session?.principal.id : undefined }),
    };
    await pending.put(toKey(state, secret), { ...started });
    return { url: url.href, secret };
  };
}

function createFinish(context: LoginContext): ProviderLogins["finish"] {
  const { record, limit, pending, sessions, refuse, get, findOf, ask } = context;
  const admit = createAdmission(context);
  return async (name, { pageUrl, origin, query, secret }) => {
    const provider = get(name);
    const answer = new URL(`${pageUrl}${toCallbackPath(name)}${query}`);
    const [state] = answer.searchParams.getAll("state");
    const taken = state && secret ? await pending.take(toKey(state, secret)) : undefined;
    const started = taken && parseLogin(taken);
    if (state === undefined || started?.provider !== name) {
      refuse({ what: "login", reason: `${name}: unknown, used or old login, or another browser`, origin });
      throw unknownLogin();
    }
    const { attempt, next } = started;
    const claims = await ask(provider, { origin, attempt }, () =>
      provider.client.redeem(answer, { ...started, state }),
    );
    const isStepUp = started.person !== undefined;
    if (isStepUp && !isRecent(claims.authenticatedAt, started.startedAt)) {
      refuse({ what: "login", reason: `${name}: no new login at the provider`, origin, principal: started.person });
      throw noNewLogin(provider.title);
    }
    const person = await admit({ ...provider, claims, origin, ...defined({ expected: started.person }) });
    await limit.giveBack(attempt);
    const detail = { origin, method: "oidc", provider: name };
    await record({ actor: person.id, action: "login.done", subject: person.id, detail });
    const times = { authenticatedAt: claims.authenticatedAt ?? 0, lastsMs: SESSION_MS };
    const isKnown = async (): Promise<boolean> => (await findOf(person))?.settings.issuer === provider.settings.issuer;
    const opened = await sessions.openWhile(isKnown, person, origin, times);
    if (!opened) throw unknownLogin();
    if (started.session !== undefined) await sessions.end({ id: started.session }, person);
    return { opened, next, isStepUp };
  };
}

/** One half alone finds nothing. */
function toKey(state: string, secret: string): string {
  return `${state} ${secret}`;
}

function isRecent(authenticatedAt: Instant | undefined, startedAt: Instant): boolean {
  return authenticatedAt !== undefined && authenticatedAt >= startedAt - TOLERANCE_MS;
}

function explain(title: string, { kind, reason }: ReturnType<typeof describeFault>, cause: unknown): GloveboxError {
  switch (kind) {
    case "unreachable":
      return new GloveboxError("UPSTREAM_UNREACHABLE", `Cannot reach the login provider ${title}`, {
        cause,
        hint: "Try again later; other ways to log in still work",
      });
    case "denied":
      return new GloveboxError("REQUEST_UNAUTHENTICATED", `${title} did not log you in (${reason})`, {
        hint: "Start again on the login page",
      });
    case "clock":
      return new GloveboxError("REQUEST_UNAUTHENTICATED", `The clocks of ${title} and of this gateway differ`, {
        cause,
        hint: "An operator sets the clock of the gateway; then start again on the login page",
      });
    case "invalid":
      return new GloveboxError("REQUEST_UNAUTHENTICATED", `The answer of ${title} is not valid (${reason})`, {
        cause,
        hint: "Start again on the login page; an operator checks server.oidc",
      });
    default:
      return kind satisfies never;
  }
}

function unknownLogin(): GloveboxError {
  const message = `The login is unknown, used, of another browser, or older than ${LOGIN_SECONDS / 60} minutes`;
  return new GloveboxError("REQUEST_UNAUTHENTICATED", message, { hint: "Start again on the login page" });
}

function noNewLogin(title: string): GloveboxError {
  return new GloveboxError("REQUEST_UNAUTHENTICATED", `${title} did not confirm a new login (auth_time)`, {
    hint: "An operator lets the provider ask again, or sets server.sessions.stepUpMinutes",
  });
}

function notOfProvider(title: string): GloveboxError {
  return new GloveboxError("REQUEST_CONFLICT", `The person of this session does not log in at ${title}`, {
    hint: "Log in again as the session does",
  });
}
