/** Tells people outside of Glovebox that a call waits for them: at a webhook, and on the desktop. Never with arguments. */

import type { Settings } from "../config/index.ts";
import { resolveTemplates } from "../connectors/index.ts";
import { defined, isInputRequest } from "../domain/index.ts";
import type { ApprovalId, ExecutionId, Instant } from "../domain/index.ts";
import { openWebhook } from "../egress/index.ts";
import type { Egress, Webhook } from "../egress/index.ts";
import type { ApprovalHead } from "../store/index.ts";
import { cleanText } from "../text/index.ts";
import { HOUR_MS } from "../timing/index.ts";
import type { Mask } from "../vault/index.ts";
import type { PeopleGuide } from "./reach-people.ts";
import { createDesktop, escapeMarkup } from "./show-on-desktop.ts";

export interface NotifyOptions {
  readonly approvals: {
    onRequestedHere(listener: (head: ApprovalHead) => void): () => void;
    waiting(execution: ExecutionId): Promise<readonly { readonly id: ApprovalId }[]>;
  };
  readonly people: Pick<PeopleGuide, "commands" | "link">;
  readonly egress: Pick<Egress, "fetchFrom">;
  readonly vault: Parameters<typeof resolveTemplates>[1];
  readonly mask: Pick<Mask, "hide">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => Instant;
  readonly warn: (thrown: unknown) => void;
  readonly platform?: string;
  readonly firstPauseMs?: number;
}

type WebhookSettings = NonNullable<Settings["approvals"]["notify"]["webhook"]>;

const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_TEXT_BYTES = 2_000;
/** Beyond it, the oldest are not sent. */
const MAX_QUEUED = 100;
/** What could not be sent for so long is not sent any more. */
const STALE_MS = HOUR_MS;

/** Tells of what this process requests from now on; other processes on the store tell of their own requests. */
export function notifyPeople({ desktop, webhook }: Settings["approvals"]["notify"], options: NotifyOptions) {
  const { approvals, people, environment, platform = process.platform, warn } = options;
  const sender = webhook && openSender(webhook, options);
  const show = desktop ? createDesktop({ environment, platform, warn }) : undefined;
  const showHead = async ({ id, tool }: ApprovalHead): Promise<void> =>
    show?.(`${tool} waits for you`, (await people.link(id)) ?? people.commands(id).show);
  const stop = approvals.onRequestedHere((head) => {
    sender?.add(head);
    showHead(head).catch(warn);
  });
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      stop();
      await sender?.webhook[Symbol.asyncDispose]();
    },
  };
}

function openSender(settings: WebhookSettings, options: NotifyOptions) {
  const { url, secret, format } = settings;
  const { approvals, people, egress, vault, mask, now, warn, firstPauseMs } = options;
  const queue: ApprovalHead[] = [];
  const resolve = async () => secret && (await resolveTemplates({ secret }, vault, "webhook for approvals"))["secret"];
  const isDue = async ({ id, execution, createdAt }: ApprovalHead): Promise<boolean> =>
    now() - createdAt < STALE_MS && (await approvals.waiting(execution)).some((one) => one.id === id);
  const write = format === "slack" ? writeSlack : writeJson;
  // The operator wrote the address, so it may be in a private network.
  const send = egress.fetchFrom(new URL(url).origin, { maxBytes: MAX_RESPONSE_BYTES, mayBePrivate: true });
  const powers = { url, send, resolveSecret: resolve, now, warn, ...defined({ firstPauseMs }) };
  const webhook: Webhook = openWebhook(powers, {
    topic: "approvals",
    setting: "approvals.notify.webhook",
    deliver: async (post) => {
      for (let head = queue.shift(); head; head = queue.shift()) {
        try {
          if (!(await isDue(head))) continue;
          const notice = await toNotice(head, people, mask.hide);
          await post({ id: head.id, body: JSON.stringify(write(notice)) });
        } catch (thrown) {
          queue.push(head); // at the end: one that the receiver refuses must not hold up the others
          throw thrown;
        }
      }
    },
  });
  const add = (head: ApprovalHead): void => {
    queue.push(head);
    if (queue.length > MAX_QUEUED) queue.shift();
    webhook.wake();
  };
  return { webhook, add };
}

type Notice = Awaited<ReturnType<typeof toNotice>>;

async function toNotice(head: ApprovalHead, people: NotifyOptions["people"], hide: Mask["hide"]) {
  const { id, execution, principal, tool, effect, rule, createdAt, expiresAt } = head;
  const link = await people.link(id);
  return {
    type: isInputRequest(id) ? "input.requested" : "approval.requested",
    timestamp: new Date(createdAt).toISOString(),
    data: {
      approval: id,
      execution,
      principal,
      tool,
      effect,
      rule,
      reason: cleanText(head.reason, { maxBytes: MAX_TEXT_BYTES, hide }),
      expiresAt: new Date(expiresAt).toISOString(),
      ...defined({ link }),
      commands: people.commands(id),
    },
  };
}

const writeJson = (notice: Notice): Notice => notice;

function writeSlack({ type, data }: Notice): { readonly text: string } {
  const { approval, execution, principal, tool, effect, rule, reason, link, commands } = data;
  const what = type === "input.requested" ? "Input request" : "Approval";
  const lines = [
    `${what} ${approval}: ${tool} (${effect}) waits for a person`,
    `Asked by ${principal} in ${execution}`,
    `Reason: ${reason} (${rule})`,
    ...(link === undefined ? [] : [`Open ${link}`]),
    ...Object.values(commands).map((command) => `Run ${command}`),
  ];
  const clean = lines.map((line) => cleanText(line, { maxBytes: MAX_TEXT_BYTES * 2 }).replaceAll("\n", " "));
  return { text: escapeMarkup(clean.join("\n")) };
}
