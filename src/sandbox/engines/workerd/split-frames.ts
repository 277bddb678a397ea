/** Reads what a guest said in one turn: "kind id length", a newline and the text, one after the other. */

/** One thing that a program said. */
export interface Said {
  readonly kind: number;
  readonly id: number;
  readonly text: string;
}

export function splitFrames(said: string): readonly Said[] {
  const frames: Said[] = [];
  for (let at = 0; at < said.length;) {
    const end = said.indexOf("\n", at);
    const [kind = 0, id = 0, length = 0] = said.slice(at, end).split(" ").map(Number);
    frames.push({ kind, id, text: said.slice(end + 1, end + 1 + length) });
    at = end + 1 + length;
  }
  return frames;
}
