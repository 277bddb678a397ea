/** What people do through an embedding program: approvals, secrets and skills, each in the name of a person. */

import * as z from "zod";

import { GloveboxError, defined, parseExecutionId, parseSecretName } from "../../domain/index.ts";
import type { Approval, JsonObject, Principal, SecretName } from "../../domain/index.ts";
import { LIBRARY, toNamedPerson } from "../../identity/index.ts";
import { readFolder } from "../../skills/index.ts";
import { Secret } from "../../vault/index.ts";
import type { Vault } from "../../vault/index.ts";
import type { Gateway } from "../gateway.ts";
import { parseWith } from "../parse-request.ts";
import type { ApprovalList, LibraryApprovals, LibrarySecrets, LibrarySkills } from "./glovebox.ts";

const ROLES = z.array(z.enum(["agent", "reviewer", "operator"])).optional();
const PERSON = z.strictObject({ by: z.string(), roles: ROLES });
const SCOPES = ["call", "execution", "session", "session-tool", "always-arguments", "always-tool"] as const;
const DECISION = PERSON.extend({
  verdict: z.enum(["approve", "reject"]),
  scope: z.enum(SCOPES).optional(),
  note: z.string().optional(),
  content: z.custom<JsonObject>((raw) => typeof raw === "object" && raw !== null, "expected an object").optional(),
});
const LIST = z.strictObject({
  isPending: z.boolean().optional(),
  execution: z.string().optional(),
  limit: z.int().min(1).max(200).optional(),
});
const SECRET_OPTIONS = z.strictObject({ by: z.string().optional() });
const SKILL = PERSON.extend({
  name: z.string(),
  version: z.int().min(1).optional(),
  digest: z.string().optional(),
  reason: z.string().optional(),
});

const toPerson = ({ by, roles }: z.output<typeof PERSON>): Principal => toNamedPerson(by, roles);

export function createApprovals(gateway: Gateway, report: (thrown: unknown) => unknown): LibraryApprovals {
  const { approvals } = gateway;
  const show = async (id: string): Promise<Approval> => (await approvals.show(id)).approval;
  return {
    list: async (query) => approvals.list(toQuery(query)),
    show,
    async decide(id, raw) {
      const { by, roles, ...choice } = parseWith(DECISION, "decide", raw);
      return approvals.decide(id, { ...defined(choice), verdict: choice.verdict }, toPerson({ by, roles }));
    },
    onApproval: (listener) => gateway.onApprovalRequested(({ id }) => void show(id).then(listener).catch(report)),
  };
}

function toQuery(raw: ApprovalList | undefined): Parameters<Gateway["approvals"]["list"]>[0] {
  const { execution, ...query } = parseWith(LIST, "list", raw);
  if (execution === undefined) return defined(query);
  const id = parseExecutionId(execution);
  if (id !== undefined) return { ...defined(query), execution: id };
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(execution)} is not the id of an execution`, {
    hint: "Use `execution` of a result",
  });
}

export function createSecrets({ vault }: { readonly vault: Pick<Vault, "list" | "remove" | "set"> }): LibrarySecrets {
  const actorOf = (raw: unknown): string => {
    const { by } = parseWith(SECRET_OPTIONS, "secrets", raw);
    return by === undefined ? LIBRARY.id : toNamedPerson(by).id;
  };
  return {
    list: () => vault.list(),
    set: async (name, value, options) => {
      if (typeof value === "string") return vault.set(toName(name), new Secret(value), actorOf(options));
      throw new GloveboxError("REQUEST_INVALID", "The value of a secret must be a string", {
        hint: "secrets.set(name, value)",
      });
    },
    remove: async (name, options) => vault.remove(toName(name), actorOf(options)),
  };
}

function toName(raw: string): SecretName {
  const name = parseSecretName(raw);
  if (name) return name;
  throw new GloveboxError("REQUEST_INVALID", `${JSON.stringify(raw)} is not a valid secret name`, {
    hint: "Use letters, digits and underscores, a letter first",
  });
}

export function createSkills({ skills }: Pick<Gateway, "skills">): LibrarySkills {
  const parse = (raw: unknown) => {
    const { by, roles, reason, name, ...choice } = parseWith(SKILL, "a skill", raw);
    return { choice: { name, ...defined(choice) }, reason, by: toPerson({ by, roles }) };
  };
  return {
    list: () => skills.list(),
    submit: async (folder, raw) => skills.submit(await readFolder(folder), toPerson(parseWith(PERSON, "submit", raw))),
    async approve(raw) {
      const { choice, by } = parse(raw);
      return skills.approve(choice, by);
    },
    async reject(raw) {
      const { choice, by, reason } = parse(raw);
      if (reason !== undefined && reason !== "") return skills.reject(choice, reason, by);
      throw new GloveboxError("REQUEST_INVALID", "A rejection needs a reason", {
        hint: "reject({ name, by, reason })",
      });
    },
    async revoke(raw) {
      const { choice, by, reason } = parse(raw);
      return skills.revoke(choice, by, reason);
    },
  };
}
