/** Headers of every answer. */

/** Trusted Types turn a mistake (`innerHTML`) into an error instead of a vulnerability, in browsers that support them. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const POLICY_HEADER = "content-security-policy";

/** For a page with a form and without scripts. */
const FORM_POLICY = CONTENT_SECURITY_POLICY.replace("form-action 'none'", "form-action 'self'; script-src 'none'");
export const FORM_HEADERS = { [POLICY_HEADER]: FORM_POLICY };
/** Without a referrer, a browser sends a form with the origin `null`. */
const FORM_REFERRER = "same-origin";

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Applied to every answer, including errors, outside of the routes, so that no route can miss it. */
export function secure(response: Response): Response {
  const { headers } = response;
  const hasForm = headers.get(POLICY_HEADER) === FORM_POLICY;
  if (!hasForm) headers.set(POLICY_HEADER, CONTENT_SECURITY_POLICY);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) headers.set(name, value);
  if (hasForm) headers.set("referrer-policy", FORM_REFERRER);
  return response;
}
