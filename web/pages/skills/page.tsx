/** Which skills can be trusted, and which wait for a review? Of each skill the newest version, and the others below it. */

import { useState } from "preact/hooks";

import { skillsSchema } from "../../../src/surfaces/admin/contract/skills.ts";
import type { SkillsAnswer } from "../../../src/surfaces/admin/contract/skills.ts";
import { useAnswer } from "../../live/use-answer.ts";
import type { PageProps } from "../../page-props.ts";
import { Empty, Head, Problem } from "../../parts/frame.tsx";
import { Loading } from "../../parts/notice.tsx";
import { Table } from "../../parts/table.tsx";
import type { Column } from "../../parts/table.tsx";
import { Command, Visible } from "../../parts/text.tsx";
import { Ago, useNow } from "../../parts/time.tsx";
import { SkillState } from "./state.tsx";

type Version = SkillsAnswer["skills"][number];

const COLUMNS: readonly Column[] = ["Skill", "State", "Version", "What it does", "Author", ["Submitted", "num"]];

export function Page({ api }: PageProps) {
  const { value, error } = useAnswer(() => api.read(skillsSchema, "/api/skills"), {
    key: "skills",
    topics: ["skills"],
  });
  const [showsAll, setShowsAll] = useState(false);
  const all = value?.skills ?? [];
  const newest = all.filter(({ name }, index) => all[index - 1]?.name !== name);
  const shown = (showsAll ? all : newest).toSorted((a, b) => rank(a) - rank(b));
  return (
    <>
      <Head title="Skills" sub={describe(all)}>
        {all.length > newest.length && (
          <button class="btn" type="button" aria-pressed={showsAll} onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? "Newest versions only" : "All versions"}
          </button>
        )}
      </Head>
      <div class="content">
        {error && <Problem message={error.message} />}
        {!value && !error && <Loading what="skills" />}
        {value && all.length === 0 && (
          <Empty title="No skill is stored">
            <p>
              A skill is a tool that a person or a model wrote. It runs once a reviewer has approved its version. Submit
              a folder with <code>SKILL.md</code> and <code>skill.ts</code>:
            </p>
            <Command text="glovebox skills submit FOLDER" />
          </Empty>
        )}
        {shown.length > 0 && (
          <Table label="Skills" columns={COLUMNS}>
            {shown.map((version) => (
              <SkillRow key={`${version.name} ${version.version} ${version.digest}`} version={version} />
            ))}
          </Table>
        )}
      </div>
    </>
  );
}

/** What waits for a person comes first, then what is broken. */
function rank({ state, frozen }: Version): number {
  if (state === "pending_review") return 0;
  if (frozen !== undefined) return 1;
  return state === "approved" ? 2 : 3;
}

function describe(all: readonly Version[]): string {
  const waiting = all.filter(({ state }) => state === "pending_review").length;
  const frozen = all.filter((version) => version.frozen !== undefined).length;
  const parts = [...(waiting > 0 ? [`${waiting} wait for a review`] : []), ...(frozen > 0 ? [`${frozen} frozen`] : [])];
  return parts.length > 0 ? parts.join(", ") : "tools that a person approved";
}

function SkillRow({ version }: { readonly version: Version }) {
  const now = useNow();
  const { name, version: number, summary = "", author, createdAt, frozen } = version;
  return (
    <tr>
      <td class="first any">
        <a class="row-link" href={`/skills/${name}?version=${number}`}>
          <code>
            <Visible text={name} />
          </code>
        </a>
      </td>
      <td class="second">
        <SkillState version={version} />
      </td>
      <td data-l="version">{number}</td>
      <td class="wide soft any">
        <Visible text={frozen ?? summary} />
      </td>
      <td class="soft any">
        <Visible text={author} />
      </td>
      <td class="num">
        <Ago at={createdAt} now={now} />
      </td>
    </tr>
  );
}
