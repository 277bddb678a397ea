/** Finds skills that do something like this one: a reviewer should know that they exist, or that this one copies them. */

import { countEdits } from "../../text/index.ts";
import type { ParsedSkill } from "../skill.ts";
import type { SimilarSkill } from "./review.ts";

const MOST_SHOWN = 5;
/** Of the words of both descriptions, shared. */
const LEAST_SHARED = 0.5;
const NEAR_NAME = 2;

type ComparedSkill = Pick<ParsedSkill, "name" | "description" | "program">;

export function findSimilar(skill: ComparedSkill, others: readonly ComparedSkill[]): readonly SimilarSkill[] {
  return others
    .flatMap((other) => {
      const why = other.name === skill.name ? undefined : compare(skill, other);
      return why === undefined ? [] : [{ name: other.name, description: other.description, why }];
    })
    .slice(0, MOST_SHOWN);
}

function compare(one: ComparedSkill, other: ComparedSkill): string | undefined {
  if (withoutSpace(one.program) === withoutSpace(other.program)) return "the same code";
  if (countEdits(one.name, other.name) <= NEAR_NAME) return "almost the same name";
  const [words, theirs] = [toWords(one.description), toWords(other.description)];
  const shared = words.intersection(theirs).size / Math.max(1, words.union(theirs).size);
  return shared >= LEAST_SHARED ? "almost the same description" : undefined;
}

function withoutSpace(program: string): string {
  return program.replaceAll(/\s+/g, "");
}

function toWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[a-z0-9]{3,}/g));
}
