/** What a program is called in a list: the first line that says something, as a comment without its slashes or as code. */

const TITLE_CHARS = 90;

export function toTitle(head = ""): string {
  const line = head.split("\n").find((one) => /[\p{L}\p{N}]/u.test(one)) ?? "";
  const text = line.trim().replace(/^(?:\/\/+|\/\*+)\s*/, "");
  return text.length <= TITLE_CHARS ? text : `${text.slice(0, TITLE_CHARS)}…`;
}
