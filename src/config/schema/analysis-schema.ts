/** Schema of `analysis`: checks of a program before it runs. */

import { z } from "zod";

import { flag, optional } from "./fields.ts";

const severity = z.enum(["error", "warn", "off"]);

export const analysisSchema = z
  .strictObject({
    enabled: flag(true, "Check programs before they run."),
    blockOnError: flag(true, "Refuse a program that breaks a rule with level error."),
    types: severity
      .default("error")
      .describe(
        "Check programs against the types of the tools: error refuses programs with type errors, warn only reports them.",
      ),
    typeCheck: z
      .enum(["beside", "before"])
      .default("beside")
      .describe(
        "When types are checked: beside lets allowed reads leave while the check runs, before starts programs after it.",
      ),
    rules: z
      .strictObject({
        "no-external-import": optional(severity, "Imports of modules, which the sandbox does not have."),
        "no-dynamic-import": optional(severity, "import() and import.meta."),
        "no-eval": optional(severity, "eval, Function and timers with source code as a string."),
        "no-dangerous-globals": optional(
          severity,
          "Globals of other environments, such as process, require, window or Deno.",
        ),
        "no-prototype-pollution": optional(severity, "Changes to __proto__ and to the prototypes of built-in classes."),
        "no-infinite-loop": optional(severity, "A loop that can never end."),
        "no-nested-loops": optional(severity, "A loop inside another loop."),
        "no-tool-in-loop": optional(severity, "Tool calls in a loop that could run in parallel."),
        "no-unhandled-async": optional(severity, "Async functions and promises that are never awaited."),
        "no-unawaited-call": optional(severity, "A tool call whose promise is dropped or used like a result."),
        "no-invisible-characters": optional(severity, "Bidirectional controls, invisible characters and look-alikes."),
        "max-source-size": optional(severity, "A source larger than a quarter of the limit sourceBytes."),
      })
      .prefault({})
      .describe("The level of each rule: error, warn or off."),
  })
  .prefault({})
  .describe("Checks of a program before it runs. They find mistakes early; the sandbox does not depend on them.");
