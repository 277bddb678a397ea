/** How many steps of the setup are done. Loaded after the page is shown. */

import { setupSchema } from "../../../src/surfaces/admin/contract/setup.ts";
import type { StatusAnswer } from "../../../src/surfaces/admin/contract.ts";
import type { Api } from "../../api.ts";
import { toSteps } from "./steps.ts";

export interface SetupCount {
  readonly done: number;
  readonly all: number;
  /** A client has made a real call, so it need not be asked for again. */
  readonly isProved: boolean;
}

export async function countSteps(api: Pick<Api, "read">, status: StatusAnswer): Promise<SetupCount> {
  const setup = await api.read(setupSchema, "/api/setup");
  const steps = toSteps(status, setup);
  return { done: steps.filter(({ isDone }) => isDone).length, all: steps.length, isProved: setup.call !== undefined };
}
