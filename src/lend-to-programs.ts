/** Secrets that programs use without reading them: grants, tokens, and the ways by which a value could come back. */

import type { Ledger } from "./ledger/index.ts";
import { GloveboxError } from "./domain/index.ts";
import type { Execution, ExecutionResult, Json, PrincipalId, SecretGrants } from "./domain/index.ts";
import type { FetchPowers } from "./builtins/index.ts";
import { createAnswerMask, createTokens, openLending } from "./vault/index.ts";
import type { Lending, Vault } from "./vault/index.ts";
import { mask } from "./host-powers.ts";
import { grantsFor } from "./vault/index.ts";

export interface ProgramSecrets {
  /** What the programs of one principal have as `secrets`. */
  grantsOf(principal: PrincipalId): SecretGrants;
  /** What stands for them in one execution; `undefined` where nothing is granted. */
  tokensOf(execution: Owned): Readonly<Record<string, string>> | undefined;
  /** `undefined` where nothing is granted to anybody: then no value can come back either. */
  open(execution: Owned): Lending | undefined;
  /** Writes down which tokens are in what a program leaves behind. */
  noticeIn(execution: Owned, left: Pick<ExecutionResult, "value" | "logs" | "error">): Promise<void>;
  /** Takes values out of everything that a host answers. */
  guard(send: FetchPowers["send"]): FetchPowers["send"];
}

type Owned = Pick<Execution, "id" | "principal">;

export interface ProgramSecretsOptions {
  readonly grants: SecretGrants;
  readonly vault: Pick<Vault, "lend" | "list" | "known">;
  readonly ledger: Ledger;
  /** Outlives the process, so that an execution which goes on later meets its own tokens. */
  readonly tokenKey: Uint8Array;
}

export function createProgramSecrets({ grants, vault, ledger, tokenKey }: ProgramSecretsOptions): ProgramSecrets {
  const tokenOf = createTokens(tokenKey);
  const answers = createAnswerMask();
  let learned = "";
  /** Another process on this store may have set a secret, and lent it to a program, since we looked. */
  const learn = async (): Promise<void> => {
    const current = (await vault.list()).filter(({ name }) => grants.has(name));
    const state = current.map(({ name, version }) => `${name} ${version}`).join("\n");
    if (state === learned) return;
    const known = await vault.known((name) => grants.has(name));
    for (const secret of known) {
      mask.add(secret.reveal());
      answers.add(secret.reveal());
    }
    if (known.length === current.length) learned = state;
  };
  const open = ({ id, principal }: Owned): Lending | undefined => {
    const own = { grants: grantsFor(grants, principal), tokenOf, vault, ledger, answers };
    return grants.size === 0 ? undefined : openLending({ execution: id, principal, ...own });
  };
  return {
    grantsOf: (principal) => grantsFor(grants, principal),
    tokensOf: ({ id, principal }) => {
      const names = [...grantsFor(grants, principal).keys()];
      return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, tokenOf(id, name)]));
    },
    open,
    async noticeIn(execution, { value, logs, error }) {
      const lending = open(execution);
      if (!lending) return;
      await lending.notice(JSON.stringify(value ?? null), "result");
      await lending.notice(logs.map(({ text }) => text).join("\n"), "log");
      await lending.notice(JSON.stringify(error ?? null), "error");
    },
    guard: (send) => (grants.size === 0 ? send : cleanAnswers(send, answers, learn)),
  };
}

/** Refusals too: a redirect may name a host that holds a value. */
function cleanAnswers(
  send: FetchPowers["send"],
  { hideText, hideBytes }: ReturnType<typeof createAnswerMask>,
  learn: () => Promise<void>,
): FetchPowers["send"] {
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
}

function hideInError(error: GloveboxError, hide: (text: string) => string): GloveboxError {
  const { hint, ...details } = error.details;
  return new GloveboxError(error.code, hide(error.message), {
    ...details,
    ...(hint !== undefined && { hint: hide(hint) }),
  });
}

/** The value that a program returned, before it is put aside for its size. */
export function leftBehind(value: Json): Pick<ExecutionResult, "value" | "logs"> {
  return { value, logs: [] };
}
