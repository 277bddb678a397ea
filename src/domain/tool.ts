/** Tools and their labels, withheld tools, and the frozen snapshot of them that an execution uses. */

import type { ConnectorId, Digest, ExecutionId, Instant, ToolAddress } from "./ids.ts";
import type { JsonSchema } from "./json.ts";
import type { ErrorCode } from "./errors.ts";

export type Effect = "read" | "write" | "destroy" | "unknown";

/**
 * `private`: the tool returns sensitive data. `untrusted`: the tool returns data written by third parties.
 * `external`: the arguments leave the organization.
 */
export type Label = "private" | "untrusted" | "external";

/** A label of a session, and the call that added it. */
export interface LabelSource {
  readonly label: Exclude<Label, "external">;
  readonly tool: ToolAddress;
  readonly execution: ExecutionId;
  readonly seq: number;
}

/** Changes the labels of matching tools. Applied last. */
export interface LabelRule {
  /** Tool patterns: `*`, `github.*`, `github.createIssue`, `github.delete*` or `*.delete*`. */
  readonly tools: readonly string[];
  readonly add: readonly Label[];
  readonly remove: readonly Label[];
}

/** Called once for each tool of a snapshot. */
export type Labeler = (tool: {
  readonly connector: ConnectorId;
  readonly address: ToolAddress;
  readonly remoteName: string;
  readonly plainName?: string;
  /** True only if the server declares `openWorldHint: true`. */
  readonly openWorld: boolean;
  /** True if the connector made the tool from the server's resources or prompts. */
  readonly synthetic: boolean;
  readonly effect: Effect;
}) => readonly Label[];

export interface Tool {
  readonly address: ToolAddress;
  /** A skill has the connector `skills`, and its own name instead of a server's. */
  readonly origin: {
    readonly kind: "upstream" | "skill";
    readonly connector: ConnectorId;
    readonly remoteName: string;
  };
  /** The name without the digits of a collision; absent if the address has none. */
  readonly plainName?: string;
  /** One cleaned line, for lists. */
  readonly summary: string;
  /** The upstream's description, cleaned and shortened. */
  readonly description: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | null;
  /** Patterns and formats that the arguments are not checked by, such as `pattern of sku: a lookahead`; absent if none. */
  readonly unchecked?: readonly string[];
  /** The shape of earlier results, if the server declares none. Only shown, never enforced. */
  readonly learned?: JsonSchema;
  readonly effect: Effect;
  /** True if the server declares that repeating a call with the same arguments has no further effect. */
  readonly idempotent?: boolean;
  /** Guessed from the tool's name, from the reviewed list, or set by the operator; absent if the upstream declares it. */
  readonly effectSource?: "guess" | "reviewed" | "operator";
  /** Where its data comes from and goes; absent if unknown. */
  readonly labels?: readonly Label[];
  /** Digest of everything the model reads about this tool. */
  readonly digest: Digest;
}

/** Returns for example `destroy, guessed from its name`: a guess is never shown as a fact. */
export function describeEffect({ effect, effectSource }: Pick<Tool, "effect" | "effectSource">): string {
  if (effectSource === "guess") return `${effect}, guessed from its name`;
  if (effectSource === "reviewed") return `${effect}, from the reviewed list`;
  return effectSource === "operator" ? `${effect}, set by the operator` : effect;
}

/** The tools that one principal may see, frozen for one execution. */
export interface CatalogSnapshot {
  readonly digest: Digest;
  readonly takenAt: Instant;
  readonly tools: ReadonlyMap<ToolAddress, Tool>;
  readonly namespaces: readonly Namespace[];
  /** Listed tools that cannot be called yet, by the address they would have. */
  readonly withheld?: ReadonlyMap<ToolAddress, WithheldTool>;
  /** Tools that policy denies to this principal for all arguments: not shown, and refused when called. */
  readonly hidden?: ReadonlyMap<ToolAddress, Tool>;
  /** Skills that exist and cannot be called, by the address they would have. */
  readonly refused?: ReadonlyMap<ToolAddress, SkillRefusal>;
}

/** Why a skill cannot be called. */
interface SkillRefusal {
  readonly code: Extract<ErrorCode, "SKILL_NOT_APPROVED" | "SKILL_FROZEN">;
  readonly message: string;
  readonly hint: string;
}

/** One upstream as a program sees it: a global object whose methods are tools. */
export interface Namespace {
  readonly name: string;
  readonly connector: ConnectorId;
  readonly summary: string;
  readonly tools: readonly string[];
}

/** The typed API that the model reads. A pure function of a snapshot, cached by its digest. */
export interface ApiSurface {
  readonly snapshot: Digest;
  readonly declarations: string;
  readonly namespaces: readonly Namespace[];
  /** `undefined` for a tool that the snapshot does not have. */
  readonly effectOf?: (address: string) => Effect | undefined;
  /** The declared names of `secrets`; absent if there are none. Surfaces of one snapshot can differ in it. */
  readonly secrets?: readonly string[];
  /** Names the tools with types, if not all tools have them. Surfaces of one snapshot can differ in it. */
  readonly part?: string;
  /** Tools that the program uses and that are declared without types, because the declarations are full. */
  readonly loose?: readonly ToolAddress[];
}

/** What is known about tools when a program does not fit them. Nothing is computed before it is needed. */
export interface ToolGuide {
  /** The nearest tools by name, then by meaning, best first: those of the named server before others, none deprecated. */
  readonly nearest: (name: string) => readonly ToolAddress[];
  /** The tool that the first of these texts names exactly, ignoring case and separators. */
  readonly find: (texts: readonly string[]) => ToolAddress | undefined;
  /** The declaration of one tool, before the types that it uses; `undefined` for an unknown tool. */
  readonly signature: (address: string) => string | undefined;
  /** What it returns, on one line, such as `files.read returns Promise<{ content: string }>`. */
  readonly result: (address: string) => string | undefined;
  /** How the tool is called, on one line, without its result. */
  readonly call: (address: string) => string | undefined;
  /** True if the result type is inferred from earlier results: such a type is too weak to refuse a program. */
  readonly isGuessed: (address: string) => boolean;
  /** True if the tool exists and waits for approval: the call itself reports that. */
  readonly isWithheld: (address: string) => boolean;
}

/** Whether a new definition is accepted at first use, or only by an operator. A changed one always needs an operator. */
export type PinMode = "first-use" | "approve";

/**
 * `new`: never accepted. `changed`: differs from what was accepted. `collides`: new, with the name of an accepted tool.
 * `unrecorded`: the store could not be used.
 */
export type WithheldReason = "new" | "changed" | "collides" | "unrecorded";

export interface WithheldTool {
  /** The address it has once it is accepted. */
  readonly address: ToolAddress;
  readonly connector: ConnectorId;
  readonly remoteName: string;
  readonly why: WithheldReason;
}

export interface HeldChange {
  readonly server: ConnectorId;
  readonly definition: Digest;
  readonly seenAt: Instant;
}

const REASONS: Readonly<Record<WithheldReason, string>> = {
  new: "no operator has approved it yet",
  changed: "its definition changed since it was accepted",
  collides: "it has the name of a tool that was accepted before",
  unrecorded: "its definition could not be checked against the store",
};

/** Names that are safe to copy into a shell command; for others the address is used. */
const PLAIN = /^[A-Za-z0-9_@:./][A-Za-z0-9_@:./-]{0,63}$/;

/** Explains why a program cannot call a tool, with the command that changes this; a model can only pass it on. */
export function describeWithheld(tool: WithheldTool): { readonly message: string; readonly hint: string } {
  const message = `${tool.address} is withheld: ${REASONS[tool.why]}`;
  if (tool.why === "unrecorded") return { message, hint: "The store must be readable and writable; tell the operator" };
  const name = PLAIN.test(tool.remoteName) ? tool.remoteName : tool.address.slice(tool.address.indexOf(".") + 1);
  return {
    message,
    hint: `An operator can review and accept it: ${serverCommand("approve", tool.connector)} ${name}`,
  };
}

/** The command that an operator runs about one server: `approve` accepts withheld tools, `reject` marks them as unwanted, `login` connects an account, `update` accepts another version of its package. */
export function serverCommand(verb: "approve" | "reject" | "login" | "update", connector: ConnectorId): string {
  return `glovebox servers ${verb} ${PLAIN.test(connector) ? connector : JSON.stringify(connector)}`;
}
