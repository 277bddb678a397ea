/**
 * Names under which strangers can register names of their own, so that a pattern over one of them means anybody.
 * A short list of its own, not the whole public suffix list: it holds what people would really write.
 */

/** What registries of countries sell under their two letters, as in `co.uk` or `com.br`. */
const SECOND_LEVELS: ReadonlySet<string> = new Set(
  "ac asn co com edu firm gen go gob gouv gov gv id info ltd me mil ne net nhs nom or org plc sch school tm web".split(
    " ",
  ),
);

/** Hosting where every customer gets a name. A `*.` before one of them, or before its regions, is refused. */
const SHARED: ReadonlySet<string> = new Set([
  ..."amazonaws.com awsapprunner.com cloudfront.net elasticbeanstalk.com on.aws amplifyapp.com".split(" "),
  ..."appspot.com run.app web.app firebaseapp.com cloudfunctions.net withgoogle.com googleusercontent.com".split(" "),
  ..."azurewebsites.net azurestaticapps.net azureedge.net azurefd.net cloudapp.net windows.net trafficmanager.net".split(
    " ",
  ),
  ..."workers.dev pages.dev r2.dev trycloudflare.com cloudflare.net fastly.net fastlylb.net edgecompute.app".split(" "),
  ..."github.io githubusercontent.com gitlab.io bitbucket.io codeberg.page readthedocs.io surge.sh neocities.org".split(
    " ",
  ),
  ..."vercel.app now.sh netlify.app onrender.com render.com fly.dev railway.app herokuapp.com herokudns.com".split(" "),
  ..."deno.dev val.run replit.app repl.co glitch.me stackblitz.io webcontainer.io codesandbox.io csb.app".split(" "),
  ..."ngrok.io ngrok.app ngrok.dev ngrok-free.app loca.lt serveo.net localhost.run lhr.life".split(" "),
  ..."nip.io sslip.io xip.io localtest.me lvh.me vcap.me traefik.me".split(" "),
  ..."duckdns.org no-ip.org dyndns.org ddns.net hopto.org myftp.org".split(" "),
  ..."digitaloceanspaces.com ondigitalocean.app linodeobjects.com wasabisys.com backblazeb2.com".split(" "),
  ..."blogspot.com wordpress.com wixsite.com weebly.com myshopify.com shopify.com squarespace.com webflow.io".split(
    " ",
  ),
  ..."atlassian.net zendesk.com hf.space huggingface.co streamlit.app supabase.co firebaseio.com".split(" "),
  ..."core.windows.net azure.com cloudapp.azure.com googleapis.com storage.googleapis.com ts.net deno.net".split(" "),
  ..."akamaized.net akamaihd.net edgesuite.net edgekey.net b-cdn.net vultrobjects.com kinsta.page koyeb.app".split(" "),
  ..."up.railway.app gitpod.io github.dev app.github.dev preview.app.github.dev in-addr.arpa ip6.arpa".split(" "),
  ..."webhook.site requestbin.net pipedream.net m.pipedream.net oastify.com oast.fun interact.sh".split(" "),
  ..."eu.org us.com uk.com de.com eu.com gb.net in.net jpn.com sa.com za.com com.de".split(" "),
]);

/** Under the names of large hosts, what stands before a region or a kind of storage and is everybody's too. */
const KINDS = /\d|^(?:s3|blob|dfs|file|queue|table|web)$|^(?:execute-api|lambda-url|elb|compute|s3-website)\b/;

/** True for a name that belongs to nobody alone: a single label, `co.uk` and its like, or shared hosting. */
export function isPublicSuffix(name: string): boolean {
  const labels = name.split(".");
  const [second = "", top = ""] = labels.slice(-2);
  if (labels.length < 2) return true;
  if (labels.length === 2 && top.length === 2 && SECOND_LEVELS.has(second)) return true;
  return SHARED.has(name) || (SHARED.has(`${second}.${top}`) && KINDS.test(labels[0] ?? ""));
}
