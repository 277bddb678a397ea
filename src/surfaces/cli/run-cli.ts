/** The command line: parses arguments, runs one command and returns its exit code. */

import { Command, CommanderError, InvalidArgumentError, Option } from "commander";

import { GloveboxError } from "../../domain/index.ts";
import type { Principal } from "../../domain/index.ts";
import { addApprovals } from "./approvals/add-approvals.ts";
import { addAudit } from "./audit/add-audit.ts";
import { addCommand, parseCount } from "./add-command.ts";
import { addExecutions } from "./executions/add-executions.ts";
import { addPolicy } from "./policy/add-policy.ts";
import { describeCommand, toolsCommand } from "./servers/catalog-commands.ts";
import { doctorCommand } from "./doctor-command.ts";
import { EXIT } from "./powers.ts";
import type { CliPowers, CommandContext } from "./powers.ts";
import { formatFault, printLine } from "./print.ts";
import { loginServerCommand, logoutServerCommand } from "./servers/login-command.ts";
import { runCommand } from "./run-command.ts";
import { listSecrets, removeSecret, rotateKey, setSecret } from "./secrets-command.ts";
import { mcpCommand, serveCommand } from "./serve-command.ts";
import { approveServerCommand, restartServerCommand, serversCommand } from "./servers/servers-command.ts";

export interface CliContext extends CommandContext {
  /** The principal of MCP clients of a server that this person started. */
  readonly agent: Principal;
}

/** Errors of usage or configuration, not of a program. */
const USAGE_CODES = new Set(["REQUEST_INVALID", "CONFIG_INVALID"]);

/** Runs one command and returns the exit code. Never rejects. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  let code: number = EXIT.done;
  const program = createProgram(context, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (thrown) {
    return toExit(thrown, context.powers);
  }
}

function toExit(thrown: unknown, { terminal }: CliPowers): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (!(thrown instanceof GloveboxError)) {
    printLine(terminal.stderr, `error: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`);
    return EXIT.failed;
  }
  printLine(terminal.stderr, formatFault(thrown));
  return USAGE_CODES.has(thrown.code) ? EXIT.usage : EXIT.failed;
}

function createProgram(context: CliContext, end: (code: number) => void): Command {
  const { stdout, stderr } = context.powers.terminal;
  const program = new Command("glovebox")
    .description("Lets AI agents run code against your tools without letting that code touch anything else.")
    .version(context.powers.version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showSuggestionAfterError();
  addServing(program, context, end);
  addRunning(program, context, end);
  addLooking(program, context, end);
  addServers(program, context, end);
  addSecrets(program, context, end);
  addApprovals(program, context, end);
  addPolicy(program, context, end);
  addExecutions(program, context, end);
  addAudit(program, context, end);
  return program;
}

/** For the commands that run programs. */
const UNRESTRICTED = [
  "--unrestricted-network",
  "confirm a configuration that lets programs reach every public host",
] as const;

function addServing(program: Command, context: CliContext, end: (code: number) => void): void {
  addCommand(program, "serve", "serve MCP over Streamable HTTP, the admin page and /health")
    .option("--json", "print the addresses as one JSON object")
    .option("--host <name>", "a loopback name or address to listen on")
    .option("--port <number>", "the port to listen on; 0 chooses a free one", parsePort)
    .option(...UNRESTRICTED)
    .action(async (flags) => end(await serveCommand(flags, context)));
  addCommand(program, "mcp", "serve MCP on standard input and output, for a client's mcp.json")
    .option(...UNRESTRICTED)
    .action(async (flags) => end(await mcpCommand(flags, context)));
}

function addRunning(program: Command, context: CliContext, end: (code: number) => void): void {
  addCommand(program, "run", "run one program through the whole pipeline")
    .argument("[file]", "the program; - for standard input")
    .option("--json", "print the whole result as one JSON object")
    .option("--batch <file>", "one JSON object per line in, one result per line out")
    .option("--parallel <number>", "with --batch: how many at once", parseCount)
    .option("--wall-ms <ms>", "wall-clock limit", parseCount)
    .option("--cpu-ms <ms>", "CPU time limit", parseCount)
    .option("--memory-mb <mb>", "memory limit", parseCount)
    .option("--calls <number>", "limit on tool calls", parseCount)
    .addOption(new Option("--engine <name>", "the sandbox engine").choices(["isolate", "quickjs", "workerd"]))
    .option("--plan", "print which tools the program can call, without running it")
    .option("--dry-run", "make reads only and list the other calls")
    .option("--no-analysis", "skip the rules and the type check; the sandbox does not depend on them")
    .option("--no-types", "skip the type check; wrong arguments are reported at the call")
    .option(...UNRESTRICTED)
    .option("--no-network", "run without fetch, even if the network policy allows hosts")
    .action(async (file: string | undefined, flags) => end(await runCommand(file, flags, context)));
}

function addLooking(program: Command, context: CliContext, end: (code: number) => void): void {
  addCommand(program, "tools", "list or search the tools agents can use")
    .argument("[query...]", "search words; without any, all tools")
    .option("--json", "print as one JSON object")
    .option("--limit <number>", "maximum number", parseCount)
    .action(async (words: string[], flags) => end(await toolsCommand(words.join(" "), flags, context)));
  addCommand(program, "describe", "print TypeScript declarations of tools or whole namespaces")
    .argument("<names...>", "addresses such as github.listIssues, or namespaces such as github")
    .option("--json", "print as one JSON object")
    .addOption(new Option("--detail <level>", "level of detail").choices(["brief", "types", "full"]))
    .action(async (names: string[], flags) => end(await describeCommand(names, flags, context)));
  addCommand(program, "doctor", "check the installation and name remedies")
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await doctorCommand(flags, context)));
}

function addServers(program: Command, context: CliContext, end: (code: number) => void): void {
  const servers = addCommand(program, "servers", "list upstreams, their state and withheld definitions")
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await serversCommand(flags, context)));
  addCommand(servers, "approve <name> [tools...]", "show new or changed tool definitions and accept them")
    .option("--all", "all withheld definitions of this server")
    .option("--json", "print as one JSON object")
    .action(async (name: string, tools: string[], _flags, command: Command) =>
      end(await approveServerCommand([name, ...tools], command.optsWithGlobals(), context)),
    );
  addLogins(servers, context, end);
  addCommand(servers, "restart <name>", "restart an upstream in every gateway on this store").action(
    async (name: string, _flags, command: Command) =>
      end(await restartServerCommand(name, command.optsWithGlobals(), context)),
  );
}

function addLogins(servers: Command, context: CliContext, end: (code: number) => void): void {
  addCommand(servers, "login <name>", "log in to an upstream with OAuth; prints an address for your browser")
    .option("--open", "also open the address in a browser")
    .option("--scope <scopes>", "additional scopes, separated by spaces")
    .option("--port <number>", "the port for the answer on 127.0.0.1 (default: a free one)", parsePort)
    .action(async (name: string, _flags, command: Command) =>
      end(await loginServerCommand(name, command.optsWithGlobals(), context)),
    );
  addCommand(servers, "logout <name>", "delete the login of an upstream").action(
    async (name: string, _flags, command: Command) =>
      end(await logoutServerCommand(name, command.optsWithGlobals(), context)),
  );
}

function addSecrets(program: Command, context: CliContext, end: (code: number) => void): void {
  const secrets = addCommand(program, "secrets", "list the names of the secrets")
    .option("--json", "print as one JSON object")
    .action(async (flags) => end(await listSecrets(flags, context)));
  addCommand(secrets, "set <name>", "set a secret; its value is read from standard input").action(
    async (name: string, _flags, command: Command) => end(await setSecret(name, command.optsWithGlobals(), context)),
  );
  addCommand(secrets, "remove <name>", "remove a secret").action(async (name: string, _flags, command: Command) =>
    end(await removeSecret(name, command.optsWithGlobals(), context)),
  );
  addCommand(secrets, "rotate-key", "seal all secrets with a new key while gateways run").action(
    async (_flags, command: Command) => end(await rotateKey(command.optsWithGlobals(), context)),
  );
}

function parsePort(text: string): number {
  const value = Number(text);
  if (text !== "" && Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError("It must be a port from 0 to 65535.");
}
