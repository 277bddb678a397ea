/** The schemas of logins with a provider or a passkey over the admin API; the rest is in `contract.ts`. */

import * as z from "zod/mini";

const list = <Item extends z.ZodMiniType>(item: Item) => z.readonly(z.array(item));

/** `POST /api/login/providers/:name` with `{ "next"?, "stepUp"? }`: where the browser goes to log in. */
export const providerSchema = z.object({ url: z.string() });

const descriptor = z.object({
  id: z.string(),
  type: z.literal("public-key"),
  transports: z.array(z.string()),
});

/** `POST /api/login/passkey/start` with `{ "stepUp"? }`: options of `navigator.credentials.get`. */
export const requestSchema = z.object({
  challenge: z.string(),
  rpId: z.string(),
  allowCredentials: z.array(descriptor),
  userVerification: z.literal("required"),
  timeout: z.number(),
});

/** `POST /api/passkeys/start`: options of `navigator.credentials.create`. */
export const creationSchema = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ alg: z.number(), type: z.literal("public-key") })),
  excludeCredentials: z.array(descriptor),
  authenticatorSelection: z.object({
    residentKey: z.literal("required"),
    requireResidentKey: z.literal(true),
    userVerification: z.literal("required"),
  }),
  attestation: z.literal("none"),
  timeout: z.number(),
});

/** `GET /api/passkeys`: the own ones, oldest first. */
export const passkeysSchema = z.object({
  passkeys: list(
    z.object({
      id: z.string(),
      principal: z.string(),
      label: z.string(),
      createdAt: z.number(),
      lastUsedAt: z.optional(z.number()),
    }),
  ),
});

export type PasskeysAnswer = z.infer<typeof passkeysSchema>;
export type ProviderAnswer = z.infer<typeof providerSchema>;
