/** Takes a value. It is sent once and kept nowhere in the page. */

import { useId, useState } from "preact/hooks";

import type { SentChange } from "../../live/use-change.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/form.tsx";
import { Problem } from "../../parts/frame.tsx";
import type { ListedSecret } from "./page.tsx";

interface SecretFormProps {
  /** Absent for one that the list does not have. */
  readonly secret?: ListedSecret;
  readonly change: SentChange;
  readonly onClose: () => void;
  readonly onSend: (name: string, value: string, version: number) => Promise<void>;
}

export function SecretForm({ secret, change, onClose, onSend }: SecretFormProps) {
  const [name, setName] = useState(secret?.name ?? "");
  const [value, setValue] = useState("");
  const id = useId();
  const action = secret?.version === undefined ? "Set secret" : "Replace secret";
  return (
    <Dialog
      title={secret ? `Value of ${secret.name}` : "Set a secret"}
      onClose={onClose}
      onSubmit={() => void onSend(name, value, secret?.version ?? 0)}
      footer={
        <>
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn primary" type="submit" disabled={change.isSending || name === "" || value === ""}>
            {action}
          </button>
        </>
      }
    >
      {change.problem !== "" && <Problem message={change.problem} />}
      {!secret && (
        <TextField
          label="Name"
          hint="Letters, digits and underscores, a letter first."
          value={name}
          onText={setName}
          isRequired
          isCode
          maxLength={128}
        />
      )}
      <div class="field">
        <label for={id}>Value</label>
        <input
          id={id}
          class="input"
          type="password"
          autoComplete="off"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <span class="small muted">
          Sealed with the key of the vault; it cannot be read again, here or elsewhere. For one with several lines, use{" "}
          <code>glovebox secrets set NAME &lt; file</code>.
        </span>
      </div>
    </Dialog>
  );
}
