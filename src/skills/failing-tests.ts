/** The approved versions whose tests failed when they were last replayed, such as after an update of an engine. */

import { z } from "zod";

import { parseJson } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import type { SkillRow } from "./skill.ts";

export interface FailingTests {
  /** Another text after every change. */
  read(): Promise<string>;
  /** What failed, as the end of a sentence. */
  find(row: Pick<SkillRow, "name" | "version">): Promise<string | undefined>;
  /** `undefined` once the tests pass. Returns false if that was known. */
  set(row: Pick<SkillRow, "name" | "version">, problem: string | undefined): Promise<boolean>;
}

const ENTRY = "skills.failing";
const FAILURES = z.record(z.string(), z.string());

export function openFailingTests(values: Pick<Store["meta"], "get" | "set">): FailingTests {
  const read = async (): Promise<string> => (await values.get(ENTRY)) ?? "{}";
  const parse = (text: string) => new Map(Object.entries(FAILURES.safeParse(parseJson(text)).data ?? {}));
  const nameOf = ({ name, version }: Pick<SkillRow, "name" | "version">): string => `${name} ${version}`;
  return {
    read,
    find: async (row) => parse(await read()).get(nameOf(row)),
    async set(row, problem) {
      const failures = parse(await read());
      if (failures.get(nameOf(row)) === problem) return false;
      if (problem === undefined) failures.delete(nameOf(row));
      else failures.set(nameOf(row), problem);
      await values.set(ENTRY, JSON.stringify(Object.fromEntries(failures)));
      return true;
    },
  };
}
