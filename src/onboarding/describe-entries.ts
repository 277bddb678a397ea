/** The entry of Glovebox for each client, in the format of its file, for a person who adds it by hand. */

import { CLIENTS } from "./clients.ts";
import type { FileFormat, StartCommand } from "./clients.ts";
import { editServers } from "./edit-servers.ts";
import { OWN_NAME } from "./own-entry.ts";

export interface ClientEntry {
  /** For `glovebox init --client`. */
  readonly id: string;
  readonly title: string;
  /** Where the user has it, with `~` for the home folder and `$config` or `$xdg` for that of settings. */
  readonly file: string;
  readonly format: FileFormat;
  /** What belongs into that file, as a file of its own. */
  readonly entry: string;
}

export function describeEntries(start: StartCommand): readonly ClientEntry[] {
  return CLIENTS.map(({ id, title, format, keys, isList = false, user: [file = ""], writeEntry }) => {
    const empty = format === "json" ? "{}\n" : "";
    const place = { path: file, format, keys, isList };
    return {
      id,
      title,
      file,
      format,
      entry: editServers(empty, place, { set: { [OWN_NAME]: writeEntry(start) }, remove: [] }),
    };
  });
}
