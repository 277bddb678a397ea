/** The part of the schema about the checks of a program before it runs. */

import { z } from "zod";

function rule(description: string) {
  return z.enum(["error", "warn", "off"]).optional().meta({ description });
}

/** Which rules there are, and what happens to a program that breaks one. */
export const analysisSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: "Check programs before they run." }),
    blockOnError: z
      .boolean()
      .default(true)
      .meta({ description: "Refuse a program that breaks a rule of level error." }),
    types: z.enum(["error", "warn", "off"]).default("error").meta({
      description: "Check programs against the types of the tools: error refuses what does not fit, warn only says so.",
    }),
    rules: z
      .strictObject({
        "no-external-import": rule("Imports of modules, which do not exist in the sandbox."),
        "no-dynamic-import": rule("import() and import.meta."),
        "no-eval": rule("eval, Function and timers that take source text."),
        "no-dangerous-globals": rule("Names of other places, such as process, require, window or Deno."),
        "no-prototype-pollution": rule("Changes to __proto__ and to the prototypes of built-in classes."),
        "no-infinite-loop": rule("A loop that nothing in it can end."),
        "no-nested-loops": rule("A loop inside another one."),
        "no-tool-in-loop": rule("Tool calls that wait for each other in a loop without need."),
        "no-unhandled-async": rule("Async functions and promises that nobody waits for."),
        "no-unawaited-call": rule("A tool call whose promise is dropped, or used as if it were the result."),
        "no-invisible-characters": rule("Bidirectional controls, characters that nobody can see, look-alikes."),
        "max-source-size": rule("A source above a quarter of the limit sourceBytes."),
      })
      .prefault({})
      .meta({ description: "The level of each rule: error, warn or off." }),
  })
  .prefault({})
  .meta({ description: "Checks of a program before it runs. Help and early warning, not the wall." });
