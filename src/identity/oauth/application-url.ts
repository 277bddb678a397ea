/** Redirects of native applications, which an attacker may choose when a client registers itself. */

/** Schemes of browsers, systems and protocols: no application of the person who logs in waits for an answer there. */
const TAKEN = new RegExp(
  `^(?:${[
    "about|blob|chrome[a-z-]*|data|edge|file|filesystem|jar|javascript|moz-[a-z-]+|resource|vbscript|view-source",
    "afp|dav|ftps?|git|gopher|imap|irc|ldaps?|news|nfs|nntp|pop|rtsp|sftp|smb|ssh|telnet|vnc|webcals?|wss?|https?",
    "android-app|facetime|intent|mailto|ms-[a-z-]+|search|search-ms|shell|sms|tel|urn|x-apple[a-z.-]*",
  ].join("|")}):$`,
);

/** True for a URL that opens an application: `scheme://…`, or `scheme:/…` if the scheme has a dot (RFC 8252). */
export function isApplicationUrl({ protocol, href }: URL): boolean {
  if (TAKEN.test(protocol)) return false;
  return href.startsWith(protocol.includes(".") ? `${protocol}/` : `${protocol}//`);
}
