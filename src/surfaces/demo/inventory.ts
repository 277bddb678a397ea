/**
 * The demo upstream: an MCP server over stdio with a made-up shop, so that a first program works without any network
 * or account. It runs when it is executed, and ends when its input does.
 */

import { serveStdio } from "@modelcontextprotocol/server/stdio";

import { createInventoryServer } from "./inventory-tools.ts";

if (import.meta.main) serveStdio(createInventoryServer);
