/** Access tokens: made with their blast radius in sight, shown once, revoked. */

import { useState } from "preact/hooks";

import { accessTokenSchema } from "../../../src/surfaces/admin/contract/people.ts";
import type { AccessTokenAnswer } from "../../../src/surfaces/admin/contract/people.ts";
import { useChange } from "../../live/use-change.ts";
import type { SentChange } from "../../live/use-change.ts";
import type { PageProps } from "../../page-props.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty, Problem } from "../../parts/frame.tsx";
import { Done } from "../../parts/notice.tsx";
import { Status } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Command, Visible } from "../../parts/text.tsx";
import { Ago, formatTime, useNow } from "../../parts/time.tsx";
import { NewToken } from "./new-token.tsx";

interface TokensProps extends Pick<PageProps, "api"> {
  readonly tokens: readonly AccessTokenAnswer[];
  readonly people: readonly string[];
  readonly servers: readonly string[];
  readonly reload: () => void;
}

export function Tokens({ api, tokens, people, servers, reload }: TokensProps) {
  const now = useNow();
  const change = useChange(reload);
  const [isAdding, setAdding] = useState(false);
  const [revoking, setRevoking] = useState<AccessTokenAnswer>();
  const [done, setDone] = useState("");
  const [showsEnded, setShowsEnded] = useState(false);
  const valid = tokens.filter((token) => !isEnded(token, now));
  const shown = showsEnded ? tokens : valid;
  const revoke = async ({ id, name }: AccessTokenAnswer): Promise<void> => {
    const path = `/api/tokens/${encodeURIComponent(id)}`;
    if (!(await change.send(() => api.change(accessTokenSchema, path, {}, "DELETE")))) return;
    setRevoking(undefined);
    setDone(`token:${name} is revoked. What it ran is stopped.`);
  };
  const ask = (token: AccessTokenAnswer): void => {
    change.forget();
    setDone("");
    setRevoking(token);
  };
  return (
    <section aria-labelledby="tokens">
      <div class="h">
        <h2 id="tokens">Access tokens</h2>
        <span class="muted small">{valid.length} valid</span>
        <span class="end row">
          <EndedButton count={tokens.length - valid.length} isShown={showsEnded} onShow={setShowsEnded} />
          <button class="btn" type="button" onClick={() => setAdding(true)}>
            Create a token
          </button>
        </span>
      </div>
      {done !== "" && <Done>{done}</Done>}
      {shown.length === 0 ? (
        <Empty title="No valid token">
          <p>An agent that does not log in needs one, and so does a service that reads the ledger or the metrics.</p>
          <Command text="glovebox tokens create NAME --scopes execute,search" />
        </Empty>
      ) : (
        <Table label="Access tokens" columns={COLUMNS}>
          {shown.map((token) => (
            <TokenRow key={token.id} token={token} onRevoke={() => ask(token)} />
          ))}
        </Table>
      )}
      {isAdding && <NewToken {...{ api, people, servers, reload }} onClose={() => setAdding(false)} />}
      {revoking && (
        <Revoking
          token={revoking}
          change={change}
          onConfirm={() => void revoke(revoking)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </section>
  );
}

interface EndedButtonProps {
  readonly count: number;
  readonly isShown: boolean;
  readonly onShow: (isShown: boolean) => void;
}

function EndedButton({ count, isShown, onShow }: EndedButtonProps) {
  if (count === 0) return null;
  return (
    <button class="btn quiet" type="button" aria-pressed={isShown} onClick={() => onShow(!isShown)}>
      {isShown ? "Hide ended" : `Show ${count} ended`}
    </button>
  );
}

const COLUMNS: readonly Column[] = ["Token", "State", "May", "Only", "Person", ["Last used", "num"], ["Actions", "vh"]];

function TokenRow({ token, onRevoke }: { readonly token: AccessTokenAnswer; readonly onRevoke: () => void }) {
  const now = useNow();
  const { name, kind, scopes, person, lastUsedAt } = token;
  return (
    <tr>
      <td class="first any">
        <span class="strong">
          <Visible text={name} />
        </span>{" "}
        <span class="muted small">{kind}</span>
      </td>
      <td class="second">
        <TokenState token={token} now={now} />
      </td>
      <td>{scopes.join(", ")}</td>
      <td class="soft any">
        <Visible text={describeLimits(token)} />
      </td>
      <td class="soft any">
        <Visible text={person} />
      </td>
      <td class="num" data-l="used">
        {lastUsedAt === undefined ? "never" : <Ago at={lastUsedAt} now={now} />}
      </td>
      <td class="acts">
        {!isEnded(token, now) && (
          <button class="btn small" type="button" onClick={onRevoke}>
            Revoke<span class="vh"> {name}</span>
          </button>
        )}
      </td>
    </tr>
  );
}

interface RevokingProps {
  readonly token: AccessTokenAnswer;
  readonly change: SentChange;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

function Revoking({ token, change, onConfirm, onClose }: RevokingProps) {
  return (
    <Confirm
      title={`Revoke token:${token.name}?`}
      action="Revoke token"
      isSending={change.isSending}
      {...{ onConfirm, onClose }}
    >
      {change.problem !== "" && <Problem message={change.problem} />}
      <p>It stops working within a second, for good, and what it runs now is stopped. Its records stay.</p>
    </Confirm>
  );
}

function isEnded({ revokedAt, expiresAt }: AccessTokenAnswer, now: number): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

function TokenState({ token, now }: { readonly token: AccessTokenAnswer; readonly now: number }) {
  const { revokedAt, revokedBy, expiresAt } = token;
  if (revokedAt !== undefined) {
    return (
      <Status tone="bad">
        <span title={`${formatTime(revokedAt)}${revokedBy === undefined ? "" : `, by ${revokedBy}`}`}>revoked</span>
      </Status>
    );
  }
  if (expiresAt === undefined) return <Status tone="ok">valid, no end</Status>;
  if (expiresAt <= now) return <Status tone="idle">expired</Status>;
  return (
    <Status tone="ok">
      <span title={formatTime(expiresAt)}>valid until {new Date(expiresAt).toLocaleDateString()}</span>
    </Status>
  );
}

function describeLimits({ servers, tools, executionsPerMinute }: AccessTokenAnswer): string {
  const parts = [
    ...(servers ? [`servers ${servers.join(", ")}`] : []),
    ...(tools ? [`tools ${tools.join(", ")}`] : []),
    ...(executionsPerMinute === undefined ? [] : [`${executionsPerMinute} executions a minute`]),
  ];
  return parts.length === 0 ? "no limit of its own" : parts.join("; ");
}
