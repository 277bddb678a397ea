/** A folder of notes, sales and logs. */

import { call } from "../task.ts";
import type { Conversation } from "../task.ts";

export const FOLDER: Conversation = {
  title: "A folder",
  tasks: [
    {
      name: "revenue by region",
      ask: "How much revenue does each region have in WORK/sales.csv?",
      needs: ["files.readTextFile"],
      searches: ["read a csv file", "read file"],
      program: `const { content } = await files.readTextFile({ path: "WORK/sales.csv" });
const totals = {};
for (const line of content.trim().split("\\n").slice(1)) {
  const [region, , , revenue] = line.split(",");
  totals[region] = (totals[region] ?? 0) + Number(revenue);
}
return totals;`,
      expected: { north: 660, south: 370, east: 570, west: 109 },
      plain: [[call("files", "read_text_file", { path: "WORK/sales.csv" })]],
    },
    {
      name: "open items of all notes",
      ask: "List all TODO lines of the notes in WORK/notes.",
      needs: ["files.listDirectory", "files.readTextFile"],
      searches: ["list the files in a folder"],
      program: `const { content: listing } = await files.listDirectory({ path: "WORK/notes" });
const names = listing.split("\\n").filter((line) => line.startsWith("[FILE]")).map((line) => line.slice(7));
const notes = await Promise.all(names.map((name) => files.readTextFile({ path: "WORK/notes/" + name })));
return notes.flatMap(({ content }) => content.split("\\n").filter((line) => line.includes("TODO")).map((line) => line.slice(7)));`,
      expected: ["order the punched cards", "check the table of numbers", "publish the proof", "write the manual"],
      plain: [
        [call("files", "list_directory", { path: "WORK/notes" })],
        [
          call("files", "read_multiple_files", {
            paths: ["WORK/notes/ada.md", "WORK/notes/alan.md", "WORK/notes/grace.md"],
          }),
        ],
      ],
    },
    {
      name: "version of the package",
      ask: "Which version has the package in WORK?",
      needs: ["files.readTextFile"],
      searches: ["read a file"],
      program: `const { content } = await files.readTextFile({ path: "WORK/package.json" });
JSON.parse(content).version`,
      expected: "2.4.1",
      plain: [[call("files", "read_text_file", { path: "WORK/package.json" })]],
    },
    {
      name: "files by extension",
      ask: "How many files of each extension are in WORK, with its folders?",
      needs: ["files.directoryTree"],
      searches: ["directory tree recursive listing"],
      program: `const tree = JSON.parse((await files.directoryTree({ path: "WORK" })).content);
const counts = {};
const visit = (entries) => {
  for (const entry of entries) {
    if (entry.type === "directory") visit(entry.children ?? []);
    else {
      const extension = entry.name.split(".").pop();
      counts[extension] = (counts[extension] ?? 0) + 1;
    }
  }
};
visit(tree);
return counts;`,
      expected: { json: 2, md: 4, log: 1, csv: 1, ts: 2, css: 1 },
      plain: [[call("files", "directory_tree", { path: "WORK" })]],
    },
    {
      name: "errors of a large log",
      ask: "Count the errors of WORK/logs/app.log by module.",
      needs: ["files.readTextFile"],
      searches: ["read a log file"],
      program: `const { content } = await files.readTextFile({ path: "WORK/logs/app.log" });
const errors = content.split("\\n").filter((line) => line.includes(" ERROR "));
const byModule: Record<string, number> = {};
for (const line of errors) {
  const name = line.split(" ")[2];
  byModule[name] = (byModule[name] || 0) + 1;
}
return { total: errors.length, byModule };`,
      expected: { total: 30, byModule: { auth: 8, billing: 8, search: 7, upload: 7 } },
      plain: [[call("files", "read_text_file", { path: "WORK/logs/app.log" })]],
    },
    {
      name: "last lines of a log",
      ask: "What are the last two lines of WORK/logs/app.log about?",
      needs: ["files.readTextFile"],
      searches: ["tail of a file"],
      program: `const { content } = await files.readTextFile({ path: "WORK/logs/app.log", tail: 2 });
return content.trim().split("\\n").map((line) => line.split(" ").slice(2, 5).join(" "));`,
      expected: ["search request 2998", "upload request 2999"],
      plain: [[call("files", "read_text_file", { path: "WORK/logs/app.log", tail: 2 })]],
    },
    {
      name: "a report is written",
      ask: "Write the number of notes into WORK/report.md.",
      needs: ["files.listDirectory", "files.writeFile"],
      searches: ["write a file"],
      program: `const { content } = await files.listDirectory({ path: "WORK/notes" });
const count = content.split("\\n").filter((line) => line.endsWith(".md")).length;
await files.writeFile({ path: "WORK/report.md", content: \`# Report\\n\\n\${count} notes\\n\` });
return count;`,
      expected: 3,
      verify: {
        program: `return (await files.readTextFile({ path: "WORK/report.md" })).content`,
        expected: "# Report\n\n3 notes\n",
      },
      plain: [
        [call("files", "list_directory", { path: "WORK/notes" })],
        [call("files", "write_file", { path: "WORK/report.md", content: "# Report\n\n3 notes\n" })],
      ],
    },
    {
      name: "text of a content block",
      ask: "How many lines has WORK/notes/ada.md?",
      needs: ["files.readTextFile"],
      searches: ["read a file"],
      mistake: "reads `content[0].text`, as results of MCP have it",
      program: `const result = await files.readTextFile({ path: "WORK/notes/ada.md" });
const text = result.content[0].text;
return text.trim().split("\\n").length;`,
      expected: 7,
      plain: [[call("files", "read_text_file", { path: "WORK/notes/ada.md" })]],
    },
    {
      name: "entries of a listing",
      ask: "Which notes are in WORK/notes?",
      needs: ["files.listDirectory"],
      searches: ["list files"],
      mistake: "takes a string for an array of objects",
      program: `const result = await files.listDirectory({ path: "WORK/notes" });
const names = [];
for (const entry of result.content) names.push(entry.name);
return names;`,
      rewrite: {
        when: /\bstring\b/,
        program: `const result = await files.listDirectory({ path: "WORK/notes" });
const names = [];
for (const line of result.content.split("\\n")) names.push(line);
return names;`,
      },
      expected: ["[FILE] ada.md", "[FILE] alan.md", "[FILE] grace.md"],
      plain: [[call("files", "list_directory", { path: "WORK/notes" })]],
    },
    {
      name: "a wrong argument name",
      ask: "What is the theme in WORK/config/settings.json?",
      needs: ["files.readTextFile"],
      searches: [],
      mistake: "writes `file_path` for `path`",
      program: `const { content } = await files.readTextFile({ file_path: "WORK/config/settings.json" });
return JSON.parse(content).theme;`,
      expected: "dark",
      plain: [[call("files", "read_text_file", { path: "WORK/config/settings.json" })]],
    },
  ],
};
