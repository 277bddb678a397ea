/** Which agents OAuth clients are, and what their last tokens allowed. */

import type { Principal } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { createRecent } from "../../timing/index.ts";
import { OPERATOR, notAdmitted } from "../principals.ts";

import { readScopes, toOauthAgent } from "./oauth-agent.ts";
import type { TokenScope } from "../scopes.ts";

export interface OauthAgent {
  /** Without `person:`. */
  readonly person: string;
  readonly client: string;
  readonly scopes: readonly TokenScope[];
}

export interface OauthAgents {
  /** Returns the principal. Rejects with REQUEST_FORBIDDEN unless agents may act for the person. */
  admit(agent: OauthAgent): Promise<Principal>;
  /** The agent as its last token left it, with reads only if it had none; `undefined` if none may act for the person. */
  resolve(agent: Pick<OauthAgent, "person" | "client">): Promise<Principal | undefined>;
  /** True for the operator on this machine, and for a person with the role `agent`. */
  mayActFor(person: string): Promise<boolean>;
}

const MAX_KNOWN = 1_000;

export function createOauthAgents(store: Pick<Store, "identity" | "meta">): OauthAgents {
  const written = createRecent<string, string>(MAX_KNOWN);
  const toKey = ({ person, client }: Pick<OauthAgent, "person" | "client">): string => `agent.${person}/${client}`;
  const mayActFor = async (person: string): Promise<boolean> => {
    if (person === OPERATOR.id) return true;
    return (await store.identity.findPerson(person))?.roles.includes("agent") === true;
  };
  return {
    mayActFor,
    async admit(agent) {
      const { person, client, scopes } = agent;
      if (!(await mayActFor(person))) throw notAdmitted(person);
      const [key, text] = [toKey(agent), scopes.join(" ")];
      if (written.get(key) !== text) {
        // Executions that another process resumes have these scopes.
        if ((await store.meta.get(key)) !== text) await store.meta.set(key, text);
        written.set(key, text);
      }
      return toOauthAgent(person, client, scopes);
    },
    async resolve(agent) {
      if (!(await mayActFor(agent.person))) return undefined;
      const text = (await store.meta.get(toKey(agent))) ?? "";
      return toOauthAgent(agent.person, agent.client, readScopes(text.split(" ")));
    },
  };
}
