/** Schema of `analysis`: checks of a program before it runs. */

import { z } from "zod";

function rule(description: string) {
  return z.enum(["error", "warn", "off"]).optional().meta({ description });
}

/** The rules, and what happens to a program that breaks one. */
export const analysisSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: "Check programs before they run." }),
    blockOnError: z
      .boolean()
      .default(true)
      .meta({ description: "Refuse a program that breaks a rule with level error." }),
    types: z.enum(["error", "warn", "off"]).default("error").meta({
      description:
        "Check programs against the types of the tools: error refuses programs with type errors, warn only reports them.",
    }),
    rules: z
      .strictObject({
        "no-external-import": rule("Imports of modules, which the sandbox does not have."),
        "no-dynamic-import": rule("import() and import.meta."),
        "no-eval": rule("eval, Function and timers with source code as a string."),
        "no-dangerous-globals": rule("Globals of other environments, such as process, require, window or Deno."),
        "no-prototype-pollution": rule("Changes to __proto__ and to the prototypes of built-in classes."),
        "no-infinite-loop": rule("A loop that can never end."),
        "no-nested-loops": rule("A loop inside another loop."),
        "no-tool-in-loop": rule("Tool calls in a loop that could run in parallel."),
        "no-unhandled-async": rule("Async functions and promises that are never awaited."),
        "no-unawaited-call": rule("A tool call whose promise is dropped or used like a result."),
        "no-invisible-characters": rule("Bidirectional controls, invisible characters and look-alikes."),
        "max-source-size": rule("A source larger than a quarter of the limit sourceBytes."),
      })
      .prefault({})
      .meta({ description: "The level of each rule: error, warn or off." }),
  })
  .prefault({})
  .meta({
    description: "Checks of a program before it runs. They find mistakes early; the sandbox does not depend on them.",
  });
