/** The passkeys of the person, where people log in and the browser has them. */

import { useState } from "preact/hooks";

import { passkeysSchema } from "../../../src/surfaces/admin/login-contract.ts";
import type { PasskeysAnswer } from "../../../src/surfaces/admin/login-contract.ts";
import type { Api } from "../../api.ts";
import { useAnswer } from "../../live/use-answer.ts";
import { Problem } from "../../parts/frame.tsx";
import { Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";
import { addPasskey, hasPasskeys } from "../../login/passkeys.ts";

export function Passkeys({ api }: { readonly api: Api }) {
  const { value: logins } = useAnswer(() => api.findLogins(), { key: "logins", topics: [] });
  return logins && hasPasskeys(logins) ? <OwnPasskeys api={api} /> : null;
}

function OwnPasskeys({ api }: { readonly api: Api }) {
  const { value, error, reload } = useAnswer(() => api.read(passkeysSchema, "/api/passkeys"), {
    key: "passkeys",
    topics: [],
  });
  const [problem, setProblem] = useState("");
  const change = (changing: Promise<unknown>): void => {
    changing
      .then(
        () => setProblem(""),
        (thrown: unknown) => setProblem(thrown instanceof Error ? thrown.message : "The passkey was not changed."),
      )
      .finally(reload);
  };
  return (
    <section aria-label="Passkeys">
      <h2>Passkeys</h2>
      {problem !== "" && <Problem message={problem} />}
      {error && <Problem message={error.message} />}
      <ul class="reads">
        {value?.passkeys.map((passkey) => (
          <Passkey key={passkey.id} passkey={passkey} onRemove={() => change(api.removePasskey(passkey.id))} />
        ))}
      </ul>
      <button class="btn" type="button" onClick={() => change(addPasskey(api))}>
        Add a passkey
      </button>
    </section>
  );
}

interface PasskeyProps {
  readonly passkey: PasskeysAnswer["passkeys"][number];
  readonly onRemove: () => void;
}

function Passkey({ passkey: { label, createdAt, lastUsedAt }, onRemove }: PasskeyProps) {
  const now = useNow();
  return (
    <li aria-label={label}>
      <div class="row">
        <b class="strong">
          <Visible text={label} />
        </b>
        <span class="muted">
          added <Ago at={createdAt} now={now} />,{" "}
          {lastUsedAt === undefined ? "never used" : <Ago at={lastUsedAt} now={now} />}
        </span>
        <span class="end">
          <button class="btn small" type="button" aria-label={`Remove passkey ${label}`} onClick={onRemove}>
            Remove
          </button>
        </span>
      </div>
    </li>
  );
}
