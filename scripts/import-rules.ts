/** Turns the import table of `test/rooms.ts` into lint rules, so that an editor refuses a wrong import. */

import { GATES, ROOMS, SUB_ROOMS } from "../test/rooms.ts";

interface Override {
  readonly files: readonly string[];
  readonly rules: Readonly<Record<string, unknown>>;
}

/** The text of `.oxlintrc.rooms.json`, which `.oxlintrc.json` extends. Tests and fixtures may import anything. */
export function createImportRules(): string {
  const folders = Object.keys(ROOMS).flatMap((room) => listFolders(room));
  const overrides: readonly Override[] = [
    ...folders.flatMap((folder) => restrict(`src/${folder}/*.ts`, folder, folder)),
    ...GATES.flatMap(({ rooms }) => rooms)
      .filter((place) => place.endsWith(".ts"))
      .flatMap((file) => restrict(`src/${file}`, file.slice(0, file.lastIndexOf("/")), file)),
    {
      files: ["**/*.test.ts", "**/*.conformance.ts", "**/fixtures/**"],
      rules: { "no-restricted-imports": "off" },
    },
  ];
  return `${JSON.stringify({ overrides }, null, 2)}\n`;
}

/** A room's folder and every sub-room below it. */
function listFolders(folder: string): readonly string[] {
  const children = SUB_ROOMS[folder]?.folders ?? [];
  return [folder, ...children.flatMap((name) => listFolders(`${folder}/${name}`))];
}

/** Everything above the folder is refused, except the doors and interface files that the table allows. */
function restrict(files: string, folder: string, place: string): readonly Override[] {
  const parents = folder.split("/");
  const [room = ""] = parents;
  const doors = (ROOMS[room]?.imports ?? []).map((name) => `${"../".repeat(parents.length)}${name}/index.ts`);
  const interfaces = parents.slice(1).flatMap((_, index) => {
    const parent = parents.slice(0, index + 1).join("/");
    const up = "../".repeat(parents.length - index - 1);
    return (SUB_ROOMS[parent]?.interface ?? []).map((file) => `${up}${file}`);
  });
  const message = `test/rooms.ts does not let src/${folder} import this file`;
  const above = { group: ["../**", ...[...doors, ...interfaces].map((path) => `!${path}`)], message };
  const gates = GATES.filter(({ rooms }) => !rooms.includes(room) && !rooms.includes(place)).map(({ match }) => ({
    regex: match.source,
    message: `test/rooms.ts lets this package enter through other rooms only`,
  }));
  return [{ files: [files], rules: { "no-restricted-imports": ["error", { patterns: [above, ...gates] }] } }];
}
