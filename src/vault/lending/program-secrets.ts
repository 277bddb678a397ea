/** Secrets that programs use without reading them: their grants, their tokens, and the answers that may repeat a value. */

import type { Ledger } from "../../ledger/index.ts";
import { GloveboxError, defined } from "../../domain/index.ts";
import type { Execution, ExecutionResult, PrincipalId, SecretGrants } from "../../domain/index.ts";

import type { Mask } from "../mask.ts";
import type { Vault } from "../vault.ts";
import { createAnswerMask } from "./answer-mask.ts";
import { createTokens, grantsFor, openLending } from "./open-lending.ts";
import type { Lending } from "./open-lending.ts";

export interface ProgramSecrets {
  /** What the programs of one principal have as `secrets`. */
  grantsOf(principal: PrincipalId): SecretGrants;
  /** The tokens that a program holds instead of values; `undefined` where nothing is granted. */
  tokensOf(execution: ExecutionOwner, granted?: SecretGrants): Readonly<Record<string, string>> | undefined;
  /** `undefined` where nothing is granted to any principal: then no value can come back either. */
  open(execution: ExecutionOwner): Lending | undefined;
  /** The same for a skill with grants of its own. */
  openFor(execution: ExecutionOwner, granted: SecretGrants): Lending | undefined;
  /** Records the tokens in a result. */
  noticeIn(
    execution: ExecutionOwner,
    result: Partial<Pick<ExecutionResult, "value" | "logs" | "error">>,
  ): Promise<void>;
  /** Removes values from everything that a host answers, also from refusals: a redirect may name a host that holds one. */
  guard<Request, Answer extends HostAnswer>(
    send: (request: Request) => Promise<Answer>,
    granted?: SecretGrants,
  ): (request: Request) => Promise<Answer>;
}

type ExecutionOwner = Pick<Execution, "id" | "principal">;

/** The parts of a host's answer that may hold a value. */
interface HostAnswer {
  readonly url: string;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

export interface ProgramSecretsOptions {
  readonly grants: SecretGrants;
  readonly vault: Pick<Vault, "lend" | "list" | "known">;
  readonly ledger: Ledger;
  /** Learns every value that was lent. */
  readonly mask: Pick<Mask, "add">;
  /** The same in every process, so that a resumed execution has the tokens that it had before. */
  readonly seal: { derive(purpose: string): Uint8Array };
}

export function createProgramSecrets({ grants, vault, ledger, mask, seal }: ProgramSecretsOptions): ProgramSecrets {
  const tokenOf = createTokens(seal.derive("tokens of programs"));
  const answers = createAnswerMask();
  let learned = "";
  const all = new Set(grants.keys());
  /** Another process on this store may have set a secret, and lent it to a program, since the last call. */
  const learn = async (): Promise<void> => {
    const current = (await vault.list()).filter(({ name }) => all.has(name));
    const state = current.map(({ name, version }) => `${name} ${version}`).join("\n");
    if (state === learned) return;
    const known = await vault.known((name) => all.has(name));
    for (const secret of known) {
      mask.add(secret.reveal());
      answers.add(secret.reveal());
    }
    if (known.length === current.length) learned = state;
  };
  const openFor = ({ id, principal }: ExecutionOwner, granted: SecretGrants): Lending | undefined => {
    for (const name of granted.keys()) all.add(name);
    const own = { grants: grantsFor(granted, principal), tokenOf, vault, ledger, answers };
    return granted.size === 0 ? undefined : openLending({ execution: id, principal, ...own });
  };
  const open = (execution: ExecutionOwner): Lending | undefined => openFor(execution, grants);
  return {
    grantsOf: (principal) => grantsFor(grants, principal),
    tokensOf: ({ id, principal }, granted = grants) => {
      const names = [...grantsFor(granted, principal).keys()];
      return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, tokenOf(id, name)]));
    },
    open,
    openFor,
    async noticeIn(execution, { value = null, logs = [], error }) {
      const lending = open(execution);
      if (!lending) return;
      await lending.notice(JSON.stringify(value), "result");
      await lending.notice(logs.map(({ text }) => text).join("\n"), "log");
      await lending.notice(JSON.stringify(error ?? null), "error");
    },
    guard: (send, granted = grants) => {
      if (granted.size === 0) return send;
      const { hideText, hideBytes } = answers;
      return async (request) => {
        const answer = await send(request).catch((thrown: unknown) => {
          throw thrown instanceof GloveboxError ? hideInError(thrown, hideText) : thrown;
        });
        await learn();
        return {
          ...answer,
          url: hideText(answer.url),
          statusText: hideText(answer.statusText),
          headers: answer.headers.map(([name, value]) => [hideText(name), hideText(value)]),
          body: await hideBytes(answer.body),
        };
      };
    },
  };
}

function hideInError(error: GloveboxError, hide: (text: string) => string): GloveboxError {
  const { hint, ...details } = error.details;
  return new GloveboxError(error.code, hide(error.message), {
    ...details,
    ...defined({ hint: hint && hide(hint) }),
  });
}
