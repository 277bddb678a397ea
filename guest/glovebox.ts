/** `glovebox` inside the isolate: looking for tools and reading kept results. Each of these is a call like any other. */

import type { EncodeLimits } from "./codec.ts";
import { freeze, isArray } from "./intrinsics.ts";
import { createStub } from "./tools.ts";
import type { Send } from "./tools.ts";

/** It only gives the arguments their names; the host checks them. */
export function createGlovebox(send: Send, limits: EncodeLimits): object {
  const search = createStub("glovebox.search", send, limits);
  const describe = createStub("glovebox.describe", send, limits);
  const readResult = createStub("glovebox.results.read", send, limits);
  return freeze({
    search: freeze((query?: unknown) => search(typeof query === "string" ? { query } : query)),
    describe: freeze((names?: unknown, detail?: unknown) =>
      describe({ names: isArray(names) ? names : [names], detail }),
    ),
    results: freeze({
      // The names may also come together, as every other tool takes them.
      read: freeze((handle?: unknown, options?: object) =>
        readResult(typeof handle === "object" && handle !== null ? handle : { ...options, handle }),
      ),
    }),
  });
}
