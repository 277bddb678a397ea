/** The way to a login provider. */

import { providerSchema } from "../../src/surfaces/admin/login-contract.ts";
import { ApiError } from "../api.ts";
import type { Api } from "../api.ts";

interface LoginRequest {
  readonly next?: string;
  readonly stepUp?: boolean;
}

/** Returns the address at the provider. */
export async function startLogin(api: Pick<Api, "change">, provider: string, request: LoginRequest): Promise<string> {
  const { url } = await api.change(providerSchema, `/api/login/providers/${provider}`, request);
  if (!/^https?:$/.test(new URL(url).protocol)) throw new ApiError("refused", "The address is not valid.");
  return url;
}
