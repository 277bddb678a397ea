/** What every page gets. */

import type { ApprovalsAnswer, SessionsAnswer, StatusAnswer } from "../src/surfaces/admin/contract.ts";
import type { ExecutionsAnswer } from "../src/surfaces/admin/contract/executions.ts";
import type { Api } from "./api.ts";

export interface PageProps {
  readonly api: Api;
  readonly status: StatusAnswer;
  readonly roles: readonly string[];
}

export type ListedApproval = ApprovalsAnswer["approvals"][number];
export type ListedExecution = ExecutionsAnswer["executions"][number];
export type ListedSession = SessionsAnswer["sessions"][number];
