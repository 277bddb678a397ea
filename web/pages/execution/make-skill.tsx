/** Makes a skill of a completed execution: a version that waits for review. */

import { useState } from "preact/hooks";

import { skillDraftSchema } from "../../../src/surfaces/admin/contract/skill-drafts.ts";
import type { SkillDraftAnswer } from "../../../src/surfaces/admin/contract/skill-drafts.ts";
import { toPlainJson } from "../../../src/text/escape-hidden.ts";
import type { Api } from "../../api.ts";
import { ActionButton } from "../../parts/action.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Visible } from "../../parts/text.tsx";
import { findPage } from "../pages.ts";

interface MakeSkillProps {
  readonly api: Pick<Api, "change">;
  readonly id: string;
  readonly onClose: () => void;
}

export function MakeSkill({ api, id, onClose }: MakeSkillProps) {
  const [name, setName] = useState("");
  const [draft, setDraft] = useState<SkillDraftAnswer>();
  const make = async (): Promise<void> => {
    const named = name.trim() === "" ? {} : { name: name.trim() };
    setDraft(await api.change(skillDraftSchema, "/api/skills/drafts", { execution: id, ...named }));
  };
  const footer = (
    <>
      <button class="btn" type="button" onClick={onClose}>
        Close
      </button>
      {!draft && <ActionButton label="Make a draft" tone="primary" run={make} />}
    </>
  );
  return (
    <Dialog title="Make a skill of this" onClose={onClose} footer={footer}>
      {draft ? (
        <Made draft={draft} />
      ) : (
        <>
          <p>
            The program becomes a skill whose literals are parameters. It waits for review, and no program can call it
            before a person has approved it.
          </p>
          <label class="field">
            Name (optional)
            <input
              class="input mono"
              autoComplete="off"
              spellcheck={false}
              placeholder="weekly-revenue"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
        </>
      )}
    </Dialog>
  );
}

function Made({ draft: { name, version, parameters = [] } }: { readonly draft: SkillDraftAnswer }) {
  const address = `/skills/${name}`;
  return (
    <>
      <div class="note ok">
        <div>
          <b class="strong">
            <Visible text={name} />
          </b>
          , version {version}, waits for review.
        </div>
        {findPage(address) && (
          <a class="btn small" href={address}>
            Review
          </a>
        )}
      </div>
      {parameters.length > 0 && (
        <ul class="reads">
          {parameters.map((parameter) => (
            <li key={parameter.name}>
              <code>{parameter.name}</code> <span class="muted small">was {toPlainJson(parameter.value)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
