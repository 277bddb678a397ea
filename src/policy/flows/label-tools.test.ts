import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as fc from "fast-check";

import { parseConnectorId, parseToolAddress } from "../../domain/index.ts";
import type { ConnectorId, Label, LabelRule, ToolAddress } from "../../domain/index.ts";
import { KNOWN_SERVERS } from "./known-servers.ts";
import { toForms } from "../matches-tool.ts";
import { applyLabelRules, createPlaceLabeler } from "./label-tools.ts";
import { LABELS } from "./label-tools.ts";

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("A test made a value that does not parse");
  return value;
}

const ID: ConnectorId = known(parseConnectorId("it"));
const ADDRESS: ToolAddress = known(parseToolAddress("it.tool"));

interface Case {
  readonly package?: string;
  readonly tool?: string;
  readonly openWorld?: boolean;
  readonly synthetic?: boolean;
  readonly rules?: readonly LabelRule[];
}

function labelsOf({
  package: name = "unknown",
  tool = "tool",
  openWorld = false,
  synthetic = false,
  rules = [],
}: Case) {
  const places = new Map([[ID, { kind: "command", command: "npx", args: [name] } as const]]);
  const about = { connector: ID, address: ADDRESS, remoteName: tool, openWorld, synthetic, effect: "read" } as const;
  return createPlaceLabeler({ places, rules })(about);
}

const rule = (change: Partial<LabelRule>): LabelRule => ({ tools: ["it.*"], add: [], remove: [], ...change });

describe("createLabeler for a well-known server", () => {
  for (const [name, tool, labels] of [
    ["@modelcontextprotocol/server-github", "list_issues", ["untrusted"]],
    ["@modelcontextprotocol/server-github", "issue_read", ["untrusted"]],
    ["@modelcontextprotocol/server-github", "get_file_contents", ["private"]],
    ["@modelcontextprotocol/server-github", "create_issue", ["external"]],
    ["@modelcontextprotocol/server-github", "issue_write", ["external"]],
    ["@modelcontextprotocol/server-github", "get_me", []],
    ["@modelcontextprotocol/server-gitlab", "create_merge_request_note", ["external"]],
    ["@modelcontextprotocol/server-slack", "slack_get_channel_history", ["private"]],
    ["@modelcontextprotocol/server-slack", "slack_reply_to_thread", ["external"]],
    ["slack-mcp-server", "conversations_add_message", ["external"]],
    ["gmail-mcp-server", "read_email", ["private", "untrusted"]],
    ["gmail-mcp-server", "send_email", ["external"]],
    ["gmail-mcp-server", "draft_email", []],
    ["gmail-mcp-server", "send_draft", ["external"]],
    ["workspace-mcp", "create_calendar_event", ["external"]],
    ["@notionhq/notion-mcp-server", "notion-search", ["private"]],
    ["@notionhq/notion-mcp-server", "notion-create-pages", []],
    ["linear-mcp-server", "list_issues", ["private"]],
    ["mcp-atlassian", "jira_get_issue", ["untrusted"]],
    ["mcp-atlassian", "jira_add_comment", ["external"]],
    ["mcp-atlassian", "confluence_search", ["private"]],
    ["@modelcontextprotocol/server-filesystem", "read_text_file", ["private"]],
    ["@modelcontextprotocol/server-filesystem", "write_file", []],
    ["mcp-server-fetch", "fetch", ["untrusted", "external"]],
    ["@brave/brave-search-mcp-server", "brave_web_search", ["untrusted", "external"]],
    ["tavily-mcp", "tavily_search", ["untrusted", "external"]],
    ["@playwright/mcp", "browser_navigate", ["untrusted", "external"]],
    ["@playwright/mcp", "browser_snapshot", ["untrusted"]],
    ["@modelcontextprotocol/server-postgres", "query", ["private"]],
    ["mcp-server-sqlite", "read_query", ["private"]],
    ["@sentry/mcp-server", "get_issue_details", ["untrusted"]],
    ["@stripe/mcp", "list_customers", ["private"]],
    ["@stripe/mcp", "create_invoice", ["external"]],
    ["@modelcontextprotocol/server-memory", "read_graph", ["private"]],
    ["mcp-server-git", "git_log", ["private"]],
    ["whatsapp-mcp", "list_messages", ["private", "untrusted"]],
    ["github-mcp-server", "actions_run_trigger", ["external"]],
    ["github-mcp-server", "actions_list", ["private"]],
    ["@zereight/mcp-gitlab", "bulk_publish_draft_notes", ["external"]],
    ["slack-mcp-server", "conversations_invite", ["external"]],
    ["slack-mcp-server", "conversations_history", ["private"]],
    ["workspace-mcp", "manage_event", ["external"]],
    ["workspace-mcp", "modify_event", ["external"]],
    ["workspace-mcp", "get_events", ["private", "untrusted"]],
    ["workspace-mcp", "manage_gmail_filter", ["external"]],
    ["workspace-mcp", "list_gmail_filters", ["private"]],
    ["workspace-mcp", "modify_sheet_values", ["external"]],
    ["workspace-mcp", "read_sheet_values", ["private"]],
    ["@cocal/google-calendar-mcp", "respond-to-event", ["external"]],
    ["ms-365-mcp-server", "update-calendar-event", ["external"]],
    ["ms-365-mcp-server", "create-mail-rule", ["external"]],
    ["ms-365-mcp-server", "list-mail-rules", ["private"]],
    ["ms-365-mcp-server", "list-calendar-events", ["private", "untrusted"]],
    ["mcp-atlassian", "jira_add_worklog", ["external"]],
    ["mcp-atlassian", "jira_get_worklog", ["untrusted"]],
    ["@cyanheads/git-mcp-server", "git_clone", ["untrusted", "external"]],
    ["@supabase/mcp-server-supabase", "execute_sql", ["private", "untrusted", "external"]],
    ["@supabase/mcp-server-supabase", "deploy_edge_function", ["private", "untrusted", "external"]],
    ["@supabase/mcp-server-supabase", "list_tables", ["private", "untrusted"]],
    ["mcp-server-motherduck", "query", ["private", "external"]],
    ["@hubspot/mcp-server", "reply_to_thread", ["private", "untrusted", "external"]],
    ["@hubspot/mcp-server", "list_threads", ["private", "untrusted"]],
    ["discord-mcp", "edit_thread", ["external"]],
    ["telegram-mcp", "get_updates", ["private", "untrusted"]],
    ["mcp-twitter", "search_tweets", ["private", "untrusted"]],
    ["@stripe/mcp", "frobnicate", ["private", "external"]],
  ] as const) {
    it(`${name} ${tool}: ${labels.join(", ")}`, () => assert.deepEqual(labelsOf({ package: name, tool }), labels));
  }

  it("gives an unknown tool every label that tools of its server can have", () => {
    const name = "@modelcontextprotocol/server-github";
    assert.deepEqual(labelsOf({ package: name, tool: "frobnicate" }), ["private", "untrusted", "external"]);
  });

  it("treats reading a resource or prompt like an unknown tool, and gives lists no label", () => {
    const names = ["resources/read", "prompts/get", "resources/list", "prompts/list"];
    const ask = (name: string) => names.map((tool) => labelsOf({ package: name, tool, synthetic: true }));
    const name = "@modelcontextprotocol/server-slack";
    const [both, web] = [
      ["private", "external"],
      ["untrusted", "external"],
    ];
    assert.deepEqual(ask(name), [both, both, [], []]);
    // The prompt of this server takes an address to fetch.
    assert.deepEqual(ask("mcp-server-fetch"), [web, web, [], []]);
    assert.deepEqual(ask("@modelcontextprotocol/server-filesystem"), [["private"], ["private"], [], []]);
    // A real tool with such a name is an unknown tool.
    assert.deepEqual(labelsOf({ package: name, tool: "resources/list" }), ["private", "external"]);
  });

  it("ignores separators and case in tool names", () => {
    for (const tool of ["get_file_contents", "get-file-contents", "getFileContents", "GET.FILE.CONTENTS"]) {
      assert.deepEqual(labelsOf({ package: "mcp/github", tool }), ["private"]);
    }
  });
});

describe("createLabeler for an unknown server", () => {
  it("gives no label, whatever the tools are called", () => {
    for (const tool of ["send_email", "read_email", "resources/read"]) assert.deepEqual(labelsOf({ tool }), []);
  });
  it("gives untrusted and external for the openWorld annotation", () => {
    assert.deepEqual(labelsOf({ openWorld: true }), ["untrusted", "external"]);
  });
  it("adds the labels of the operator's rules", () => {
    assert.deepEqual(labelsOf({ rules: [rule({ add: ["external", "private"] })] }), ["private", "external"]);
    assert.deepEqual(labelsOf({ rules: [rule({ tools: ["its.*"], add: ["private"] })] }), []);
  });
});

it("createLabeler labels API operations by host and does not label reads as external", () => {
  const ask = (url: string, effect: "read" | "write") => {
    const places = new Map([[ID, { kind: "api", url } as const]]);
    const about = { connector: ID, address: ADDRESS, remoteName: "issues/create", openWorld: false, synthetic: false };
    return createPlaceLabeler({ places, rules: [] })({ ...about, effect });
  };
  assert.deepEqual(ask("https://api.github.com", "read"), ["private", "untrusted"]);
  assert.deepEqual(ask("https://api.github.com", "write"), ["private", "untrusted", "external"]);
  assert.deepEqual(ask("https://api.stripe.com", "read"), ["private"]);
  assert.deepEqual(ask("https://api.stripe.com", "write"), ["private", "external"]);
  assert.deepEqual(ask("https://api.search.brave.com", "read"), ["untrusted", "external"]);
  assert.deepEqual(ask("https://api.example.com", "write"), []);
});

it("applyLabelRules removes labels in the order of the rules", () => {
  const [add, remove] = [rule({ add: ["external"] }), rule({ remove: ["external"] })];
  const name = "mcp-server-fetch";
  assert.deepEqual(labelsOf({ package: name, rules: [remove] }), ["untrusted"]);
  assert.deepEqual(labelsOf({ package: name, openWorld: true, rules: [remove] }), ["untrusted"]);
  assert.deepEqual(labelsOf({ package: name, rules: [remove, add] }), ["untrusted", "external"]);
  assert.deepEqual(labelsOf({ package: name, rules: [rule({ add: ["external"], remove: ["external"] })] }), [
    "untrusted",
  ]);
});

it("applyLabelRules adds labels by the server's own name, and removes none if another tool may have that name", () => {
  const forms = toForms({ address: "it.tool1a2b3c", server: "it", remoteName: "tool", plainName: "tool" });
  const rules = [rule({ tools: ["it.tool"], add: ["private"], remove: ["external"] })];
  assert.deepEqual(applyLabelRules(rules, forms, ["external"]), ["private", "external"]);
  const certain = toForms({ address: "it.tool", server: "it", remoteName: "tool" });
  assert.deepEqual(applyLabelRules(rules, certain, ["external"]), ["private"]);
});

it("annotations and known servers only add labels", () => {
  const packages = KNOWN_SERVERS.map(({ packages: [name = ""] }) => name);
  const tool = fc.oneof(fc.string(), fc.constantFrom("get_issue", "send_email", "fetch", "resources/read"));
  fc.assert(
    fc.property(fc.constantFrom(...packages), tool, fc.constantFrom(...LABELS), (name, remoteName, label) => {
      const plain = labelsOf({ package: name, tool: remoteName });
      const has = (all: readonly Label[]) => plain.every((one) => all.includes(one));
      assert.ok(has(labelsOf({ package: name, tool: remoteName, openWorld: true })));
      assert.ok(has(labelsOf({ package: name, tool: remoteName, rules: [rule({ add: [label] })] })));
    }),
  );
});

it("annotations add no label to a reviewed tool whose arguments stay on this machine, and to others of its server", () => {
  const ask = (tool: string, name = "@playwright/mcp") => labelsOf({ package: name, tool, openWorld: true });
  assert.deepEqual(ask("browser_snapshot"), ["untrusted"]);
  assert.deepEqual(ask("browser_close"), []);
  for (const tool of ["browser_navigate", "browser_hover", "browser_click", "browser_snapshot_all"])
    assert.deepEqual(ask(tool), ["untrusted", "external"]);
  assert.deepEqual(ask("browser_snapshot", "some-browser"), ["untrusted", "external"]);
});
