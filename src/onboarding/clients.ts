/** The MCP clients that Glovebox knows: where each keeps its servers, and how it writes one. */

import type { JsonObject } from "../domain/index.ts";

/** How a server is started: the only thing that Glovebox writes into the file of a client. */
export interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export type FileFormat = "json" | "toml" | "yaml";

export interface Client {
  /** For `--client`. */
  readonly id: string;
  readonly title: string;
  readonly format: FileFormat;
  /** The path of keys to the servers. */
  readonly keys: readonly string[];
  /** True if the servers are a list of objects with a name. */
  readonly isList?: boolean;
  /** Files of the user. `~` is the home folder, `$config` the folder of the platform for settings, `$xdg` that of XDG. */
  readonly user: readonly string[];
  /** Files of a project, relative to its folder. */
  readonly project: readonly string[];
  /** Keys to servers that the file of the user has for one project; `$project` is its folder. */
  readonly projectKeys?: readonly string[];
  /** True if `$NAME` is a variable, beside `${NAME}`. */
  readonly hasBareVariables?: boolean;
  readonly writeEntry: (start: StartCommand) => JsonObject;
}

const plain = ({ command, args }: StartCommand): JsonObject => ({ command, args: [...args] });
const typed =
  (type: string, more: JsonObject = {}) =>
  (start: StartCommand): JsonObject => ({ type, ...plain(start), ...more });

const JSON_SERVERS = { format: "json", keys: ["mcpServers"], writeEntry: plain } as const;
const VSCODE = { format: "json", keys: ["servers"], writeEntry: typed("stdio") } as const;

/** In the order in which they are shown. */
export const CLIENTS: readonly Client[] = [
  {
    ...JSON_SERVERS,
    id: "claude-code",
    title: "Claude Code",
    user: ["~/.claude.json"],
    project: [".mcp.json"],
    projectKeys: ["projects", "$project", "mcpServers"],
    writeEntry: typed("stdio"),
  },
  {
    ...JSON_SERVERS,
    id: "claude-desktop",
    title: "Claude Desktop",
    user: ["$config/Claude/claude_desktop_config.json"],
    project: [],
  },
  {
    ...JSON_SERVERS,
    id: "cursor",
    title: "Cursor",
    user: ["~/.cursor/mcp.json"],
    project: [".cursor/mcp.json"],
  },
  { ...VSCODE, id: "vscode", title: "VS Code", user: ["$config/Code/User/mcp.json"], project: [".vscode/mcp.json"] },
  {
    ...VSCODE,
    id: "vscode-insiders",
    title: "VS Code Insiders",
    user: ["$config/Code - Insiders/User/mcp.json"],
    project: [],
  },
  {
    ...JSON_SERVERS,
    id: "copilot-cli",
    title: "Copilot CLI",
    user: ["~/.copilot/mcp-config.json"],
    project: [],
    writeEntry: typed("local", { tools: ["*"] }),
  },
  {
    id: "codex",
    title: "Codex",
    format: "toml",
    keys: ["mcp_servers"],
    user: ["~/.codex/config.toml"],
    project: [".codex/config.toml"],
    writeEntry: plain,
  },
  {
    ...JSON_SERVERS,
    id: "gemini-cli",
    title: "Gemini CLI",
    user: ["~/.gemini/settings.json"],
    project: [".gemini/settings.json"],
    hasBareVariables: true,
  },
  {
    ...JSON_SERVERS,
    id: "antigravity",
    title: "Antigravity",
    user: ["~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"],
    project: [".agents/mcp_config.json"],
  },
  {
    ...JSON_SERVERS,
    id: "windsurf",
    title: "Windsurf",
    user: ["~/.codeium/windsurf/mcp_config.json", "~/.codeium/windsurf-next/mcp_config.json"],
    project: [],
  },
  {
    id: "zed",
    title: "Zed",
    format: "json",
    keys: ["context_servers"],
    user: ["$xdg/zed/settings.json"],
    project: [".zed/settings.json"],
    writeEntry: (start) => ({ ...plain(start), env: {} }),
  },
  {
    id: "goose",
    title: "Goose",
    format: "yaml",
    keys: ["extensions"],
    user: ["$xdg/goose/config.yaml"],
    project: [],
    writeEntry: ({ command, args }) => ({
      name: "glovebox",
      type: "stdio",
      cmd: command,
      args: [...args],
      enabled: true,
      timeout: 300,
    }),
  },
  {
    id: "opencode",
    title: "OpenCode",
    format: "json",
    keys: ["mcp"],
    user: ["$xdg/opencode/opencode.json", "$xdg/opencode/opencode.jsonc"],
    project: ["opencode.json", "opencode.jsonc"],
    writeEntry: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true }),
  },
  {
    id: "continue",
    title: "Continue",
    format: "yaml",
    keys: ["mcpServers"],
    isList: true,
    user: ["~/.continue/config.yaml"],
    project: [],
    writeEntry: (start) => ({ name: "glovebox", ...plain(start) }),
  },
  {
    ...JSON_SERVERS,
    id: "cline",
    title: "Cline",
    user: ["$config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"],
    project: [],
  },
  {
    ...JSON_SERVERS,
    id: "roo-code",
    title: "Roo Code",
    user: ["$config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"],
    project: [".roo/mcp.json"],
  },
  {
    ...JSON_SERVERS,
    id: "kiro",
    title: "Kiro",
    user: ["~/.kiro/settings/mcp.json"],
    project: [".kiro/settings/mcp.json"],
  },
  { ...JSON_SERVERS, id: "lm-studio", title: "LM Studio", user: ["~/.lmstudio/mcp.json"], project: [] },
  {
    id: "amp",
    title: "Amp",
    format: "json",
    keys: ["amp.mcpServers"],
    user: ["$xdg/amp/settings.json"],
    project: [".amp/settings.json"],
    writeEntry: plain,
  },
  {
    ...JSON_SERVERS,
    id: "qwen-code",
    title: "Qwen Code",
    user: ["~/.qwen/settings.json"],
    project: [".qwen/settings.json"],
    hasBareVariables: true,
  },
  { ...JSON_SERVERS, id: "junie", title: "Junie", user: ["~/.junie/mcp/mcp.json"], project: [".junie/mcp/mcp.json"] },
];
