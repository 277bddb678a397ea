/** Small services and the issues of a code host. */

import { call } from "../task.ts";
import type { Conversation } from "../task.ts";

const issues = (page: number) => call("codehost", "codehost_issuesListForRepo", { owner: "acme", repo: "web", page });

const LOOP = `const byLogin = {};
let page = 1;
while (true) {
  const issues = await codehost.issuesListForRepo({ owner: "acme", repo: "web", page });
  for (const issue of issues) byLogin[issue.user.login] = (byLogin[issue.user.login] ?? 0) + 1;
  page += 1;
}
return byLogin;`;

export const SERVICES: Conversation = {
  title: "Services",
  tasks: [
    {
      name: "weather of three cities",
      ask: "Where is it warmest: New York, Chicago or Los Angeles?",
      needs: ["everything.getStructuredContent"],
      searches: ["weather in a city", "temperature and humidity of a location"],
      program: `const cities = ["New York", "Chicago", "Los Angeles"] as const;
const weather = await Promise.all(cities.map((location) => everything.getStructuredContent({ location })));
const warmest = weather.reduce((best, now, at) => (now.temperature > weather[best].temperature ? at : best), 0);
return { city: cities[warmest], temperature: weather[warmest].temperature };`,
      expected: { city: "Los Angeles", temperature: 73 },
      plain: [
        ["New York", "Chicago", "Los Angeles"].map((location) =>
          call("everything", "get-structured-content", { location }),
        ),
      ],
    },
    {
      name: "twenty sums",
      ask: "Use the sum tool for n + n * n with n from 1 to 20, and add up the sums.",
      needs: ["everything.getSum"],
      searches: ["add two numbers", "sum"],
      program: `const answers = await Promise.all(
  Array.from({ length: 20 }, (_, at) => everything.getSum({ a: at + 1, b: (at + 1) * (at + 1) })),
);
return answers.map((answer) => Number(/is (\\d+)/.exec(answer)[1])).reduce((sum, one) => sum + one, 0);`,
      expected: 3080,
      plain: [
        Array.from({ length: 20 }, (_, at) => call("everything", "get-sum", { a: at + 1, b: (at + 1) * (at + 1) })),
      ],
    },
    {
      name: "an echo",
      ask: "Let the echo tool say hello.",
      needs: ["everything.echo"],
      searches: ["echo a message"],
      program: `return await everything.echo({ message: "hello" });`,
      expected: "Echo: hello",
      plain: [[call("everything", "echo", { message: "hello" })]],
    },
    {
      name: "a picture",
      ask: "Show me the tiny image.",
      needs: ["everything.getTinyImage"],
      searches: ["get an image"],
      program: `const blocks = await everything.getTinyImage({});
return blocks.find((block) => block.type === "image");`,
      expected: { type: "image", mimeType: "image/png" },
      isPartial: true,
      plain: [[call("everything", "get-tiny-image", {})]],
    },
    {
      name: "titles of issues",
      ask: "What are the first five issues of acme/web?",
      needs: ["codehost.issuesListForRepo"],
      searches: ["list issues of a repository"],
      program: `const issues = await codehost.issuesListForRepo({ owner: "acme", repo: "web" });
return issues.map(({ number, title }) => \`#\${number} \${title}\`);`,
      expected: [
        "#1 Login fails on Safari",
        "#2 Typo on the start page",
        "#3 Upload hangs at 99 %",
        "#4 Dark theme is too dark",
        "#5 Search finds nothing",
      ],
      plain: [[call("codehost", "codehost_issuesListForRepo", { owner: "acme", repo: "web" })]],
    },
    {
      name: "issues of all pages by person",
      ask: "Who opened how many issues of acme/web?",
      needs: ["codehost.issuesListForRepo"],
      searches: ["list all issues"],
      program: `const byLogin: Record<string, number> = {};
for (let page = 1; ; page += 1) {
  const issues = await codehost.issuesListForRepo({ owner: "acme", repo: "web", page });
  if (issues.length === 0) break;
  for (const issue of issues) byLogin[issue.user.login] = (byLogin[issue.user.login] ?? 0) + 1;
}
return byLogin;`,
      expected: { ada: 3, grace: 3, alan: 2 },
      plain: [[issues(1)], [issues(2)], [issues(3)]],
    },
    {
      name: "an issue is opened",
      ask: "Open an issue in acme/docs: Add a glossary.",
      needs: ["codehost.issuesCreate"],
      searches: ["create an issue"],
      program: `const issue = await codehost.issuesCreate({ owner: "acme", repo: "docs", body: { title: "Add a glossary" } });
return issue.number;`,
      expected: 1,
      verify: {
        program: `return (await codehost.issuesListForRepo({ owner: "acme", repo: "docs" })).map(({ title }) => title)`,
        expected: ["Add a glossary"],
      },
      plain: [
        [call("codehost", "codehost_issuesCreate", { owner: "acme", repo: "docs", body: { title: "Add a glossary" } })],
      ],
    },
    {
      name: "a loop without an end",
      ask: "Count the issues of acme/web by person again.",
      needs: ["codehost.issuesListForRepo"],
      searches: [],
      mistake: "forgets to leave the loop after the last page",
      program: LOOP,
      rewrite: {
        when: /\b(loop|break|while)\b/i,
        program: LOOP.replace("  for", "  if (issues.length === 0) break;\n  for"),
      },
      expected: { ada: 3, grace: 3, alan: 2 },
      plain: [[issues(1)], [issues(2)], [issues(3)]],
    },
    {
      name: "a string for a number",
      ask: "Let the sum tool add 20 and 22.",
      needs: ["everything.getSum"],
      searches: [],
      mistake: "writes numbers as strings",
      program: `const answer = await everything.getSum({ a: "20", b: "22" });
return answer;`,
      expected: "The sum of 20 and 22 is 42.",
      plain: [[call("everything", "get-sum", { a: 20, b: 22 })]],
    },
    {
      name: "another language",
      ask: "How long are the titles of the first five issues of acme/web?",
      needs: ["codehost.issuesListForRepo"],
      searches: [],
      mistake: "writes Python",
      program: `issues = codehost.issues_list_for_repo(owner="acme", repo="web")
lengths = []
for issue in issues:
    lengths.append(len(issue["title"]))
print(lengths)`,
      rewrite: {
        when: /Python|TypeScript/,
        program: `const issues = await codehost.issuesListForRepo({ owner: "acme", repo: "web" });
return issues.map((issue) => issue.title.length);`,
      },
      expected: [21, 22, 20, 22, 20],
      plain: [[call("codehost", "codehost_issuesListForRepo", { owner: "acme", repo: "web" })]],
    },
  ],
};
