/** The shape of what watches the gateway. All of it is off unless it is turned on. */

import { z } from "zod";

/** Numbers for Prometheus. */
export const metricsSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .meta({ description: "Serve numbers for Prometheus at `/metrics` of `glovebox serve`." }),
  })
  .prefault({})
  .meta({ description: "Numbers for Prometheus." });
