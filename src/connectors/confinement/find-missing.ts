/** Finds the files that an error of a server names, for a hint about the grant that would allow them. */

/** `EACCES: permission denied, open '/x'` of Node, `Permission denied: '/x'` of Python and most others. */
const REFUSAL =
  /(?:\bE(?:ACCES|PERM|ROFS|NOENT)\b|[Pp]ermission denied|[Rr]ead-only file system|[Nn]o such file or directory|[Oo]peration not permitted)[^'"\n]{0,80}['"]?(\/[^\s'"`:;,)]+)/g;

/** An absolute path, and whether it is there and was refused: a path that can be read may lack the right to write. */
interface MissingFile {
  readonly path: string;
  readonly isThere: boolean;
}

/** In order. */
export function findMissing(text: string): readonly MissingFile[] {
  return [...text.matchAll(REFUSAL)].map(([error, path = ""]) => ({
    path: path.replace(/[.]+$/, ""),
    isThere: !/ENOENT|[Nn]o such file/.test(error),
  }));
}
