/** Versions of skills, and their files by digest. */

import type { Digest } from "../../../domain/index.ts";
import { bytes, integer, readColumn } from "../../row.ts";
import { SKILL_VERSION } from "../../skills.ts";
import type { NewSkillVersion, SkillChange, SkillVersionRow, SkillStore } from "../../skills.ts";

import { insertInto } from "../connection.ts";
import type { Connection } from "../connection.ts";

export function createSkills({ database, read, write }: Connection): SkillStore {
  const { columns } = SKILL_VERSION;
  const insertFile = database.prepare("INSERT INTO skill_files (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const selectFile = database.prepare("SELECT body FROM skill_files WHERE digest = ?");
  const insert = database.prepare(insertInto("skill_versions", SKILL_VERSION));
  const selectAll = database.prepare(`SELECT ${columns} FROM skill_versions ORDER BY name, version`);
  const selectOf = database.prepare(`SELECT ${columns} FROM skill_versions WHERE name = ? ORDER BY version`);
  const selectTaken = database.prepare("SELECT 1 FROM skill_versions WHERE address = ? AND name <> ? LIMIT 1");
  const selectLast = database.prepare("SELECT coalesce(max(version), 0) AS last FROM skill_versions WHERE name = ?");
  const update = database.prepare(
    `UPDATE skill_versions SET state = ?, decided_by = ?, decided_at = ?, note = ?, grants = coalesce(?, grants),
       signature = coalesce(?, signature) WHERE name = ? AND version = ? AND digest = ? AND state = ?`,
  );
  const retire = database.prepare(
    "UPDATE skill_versions SET state = 'retired' WHERE name = ? AND version <> ? AND state = 'approved'",
  );
  const count = database.prepare("UPDATE skill_revision SET revision = revision + 1");
  const selectRevision = database.prepare("SELECT revision FROM skill_revision");

  const insertVersion = ({ bodies, ...version }: NewSkillVersion): SkillVersionRow => {
    const last = readColumn(selectLast.get(version.name), "last", integer);
    const undecided = { decidedBy: null, decidedAt: null, note: null, signature: null };
    const row: SkillVersionRow = { ...version, version: last + 1, ...undecided };
    for (const [digest, body] of bodies) insertFile.run(digest, body);
    insert.run(...SKILL_VERSION.toValues(row));
    count.run();
    return row;
  };
  const change = ({ row, state, by, at, note, grants, signature }: SkillChange): boolean => {
    const { name, version, digest } = row;
    const decision = [state, by, at, note ?? null, grants ?? null, signature ?? null];
    if (Number(update.run(...decision, name, version, digest, row.state).changes) === 0) return false;
    if (state === "approved") retire.run(name, version);
    count.run();
    return true;
  };
  return {
    insert: (version) =>
      write(() =>
        selectTaken.get(version.address, version.name)
          ? { kind: "taken" }
          : { kind: "inserted", row: insertVersion(version) },
      ),
    change: (wanted) => write(() => change(wanted)),
    list: () => read(() => selectAll.all().map(SKILL_VERSION.parse)),
    versions: (name) => read(() => selectOf.all(name).map(SKILL_VERSION.parse)),
    file: (digest: Digest) =>
      read(() => {
        const row = selectFile.get(digest);
        return row && readColumn(row, "body", bytes);
      }),
    revision: () => read(() => readColumn(selectRevision.get(), "revision", integer)),
  };
}
