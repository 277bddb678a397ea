/** What the servers of the bench have at the start: a folder, a knowledge graph and the issues of a code host. */

const NOTES = {
  "notes/ada.md":
    "# Ada\n\nWorks on the engine.\n\n- TODO order the punched cards\n- call Charles\n- TODO check the table of numbers\n",
  "notes/alan.md": "# Alan\n\nWorks on the halting problem.\n\n- TODO publish the proof\n",
  "notes/grace.md": "# Grace\n\nWorks on the compiler.\n\n- find the moth\n- TODO write the manual\n- ship it\n",
} as const;

const SALES = [
  "region,product,units,revenue",
  "north,Copper kettle,10,450",
  "south,Copper kettle,4,180",
  "east,Desk lamp,7,210",
  "north,Kite,3,90",
  "west,Garden hose,2,64",
  "south,Desk lamp,5,150",
  "east,Kite,12,360",
  "west,Copper kettle,1,45",
  "north,Umbrella,6,120",
  "south,Umbrella,2,40",
].join("\n");

const MODULES = ["auth", "billing", "search", "upload"] as const;

/** 3,000 lines; every 97th is an error of one of the modules in turn. */
function createLog(): string {
  const lines = Array.from({ length: 3_000 }, (_, at) => {
    const second = new Date(Date.UTC(2026, 0, 5) + at * 1_000).toISOString();
    const isError = at % 97 === 96;
    const module = MODULES[(isError ? Math.floor(at / 97) : at) % MODULES.length];
    return isError
      ? `${second} ERROR ${module} request ${at} failed with status 500`
      : `${second} INFO ${module} request ${at} was answered in ${(at * 7) % 90} ms`;
  });
  return lines.join("\n");
}

/** By path in the folder. */
export const FILES: Readonly<Record<string, string>> = {
  ...NOTES,
  "sales.csv": `${SALES}\n`,
  "package.json": `${JSON.stringify({ name: "engine", version: "2.4.1", dependencies: { cards: "1.0.0", gears: "3.2.0" } }, null, 2)}\n`,
  "config/settings.json": `${JSON.stringify({ port: 8080, theme: "dark", retries: 3 }, null, 2)}\n`,
  "src/main.ts": "export const main = 1;\n",
  "src/gears.ts": "export const gears = 2;\n",
  "src/style.css": "body { margin: 0 }\n",
  "logs/app.log": createLog(),
  "done.md": "# Done\n\nAll of it.\n",
};

/** Lines of the file of the knowledge graph server. */
export const GRAPH: readonly object[] = [
  {
    type: "entity",
    name: "Ada",
    entityType: "person",
    observations: ["lives in London", "writes programs", "likes flying"],
  },
  { type: "entity", name: "Charles", entityType: "person", observations: ["builds engines"] },
  { type: "entity", name: "Grace", entityType: "person", observations: ["works for the navy", "wrote a compiler"] },
  { type: "entity", name: "Analytical Engine", entityType: "machine", observations: ["was never finished"] },
  { type: "entity", name: "Mark I", entityType: "machine", observations: ["is in Harvard"] },
  { type: "relation", from: "Ada", to: "Analytical Engine", relationType: "programs" },
  { type: "relation", from: "Charles", to: "Analytical Engine", relationType: "designs" },
  { type: "relation", from: "Grace", to: "Mark I", relationType: "programs" },
];

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly user: { readonly login: string };
}

const LOGINS = ["ada", "grace", "alan"] as const;

/** The issues of `acme/web`, five on a page. */
export function createIssues(): Issue[] {
  const titles = [
    "Login fails on Safari",
    "Typo on the start page",
    "Upload hangs at 99 %",
    "Dark theme is too dark",
    "Search finds nothing",
    "Button has no label",
    "Session ends too early",
    "Export has no header",
  ];
  return titles.map((title, at) => ({ number: at + 1, title, user: { login: LOGINS[at % 3] ?? "ada" } }));
}

export const ISSUES_PER_PAGE = 5;
