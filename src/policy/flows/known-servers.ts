/** Well-known servers and the labels of their tools. The first pattern that matches a name decides, else `usual`. */

import type { Label } from "../../domain/index.ts";

export interface KnownServer {
  /** Lower case, underscores written as hyphens: npm and PyPI packages, images without registry tag, programs. */
  readonly packages: readonly string[];
  readonly hosts: readonly string[];
  readonly tools: readonly (readonly [patterns: readonly string[], labels: readonly Label[]])[];
  readonly usual: readonly Label[];
  /** Tools whose arguments stay on this machine, as a review found: annotations add no label to them. Exact names. */
  readonly closed?: readonly string[];
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

const NONE: readonly Label[] = [];
const PRIVATE: readonly Label[] = ["private"];
const UNTRUSTED: readonly Label[] = ["untrusted"];
const EXTERNAL: readonly Label[] = ["external"];
const MAIL: readonly Label[] = ["private", "untrusted"];
const WEB: readonly Label[] = ["untrusted", "external"];
const ALL: readonly Label[] = ["private", "untrusted", "external"];

const READING = words("get* list* search* read* find* query* fetch* retrieve* export* lookup*");
const WRITING = words(`
  create* add* update* edit* delete* remove* set* move* push* merge* fork* assign* request* submit*
  dismiss* mark* manage* rerun* run* cancel* star* unstar*
  *create* *update* *delete* *write* *fork* *push* *reply* *addcomment* *addissuecomment*
  *trigger* *dispatch* *publish* *upload*
`);

/** A code host: issues are untrusted, repository content may be private, and others can read what is written. */
const CODE_HOST: KnownServer["tools"] = [
  [words("getme getteams getteammembers listissuetypes searchusers searchorgs getlabel listlabel*"), NONE],
  [WRITING, EXTERNAL],
  [["*issue*", "*pullrequest*", "*mergerequest*", "*discussion*", "*notification*", "*note*", "*comment*"], UNTRUSTED],
  [READING, PRIVATE],
  [["actions*", "projects*"], PRIVATE],
];

export const KNOWN_SERVERS: readonly KnownServer[] = [
  {
    packages: ["@modelcontextprotocol/server-github", "github/github-mcp-server", "github-mcp-server", "mcp/github"],
    hosts: ["api.githubcopilot.com", "*.ghe.com", "api.github.com"],
    tools: CODE_HOST,
    usual: ALL,
  },
  {
    packages: ["@modelcontextprotocol/server-gitlab", "@zereight/mcp-gitlab", "mcp/gitlab"],
    hosts: ["gitlab.com"],
    tools: CODE_HOST,
    usual: ALL,
  },
  {
    packages: ["@modelcontextprotocol/server-slack", "slack-mcp-server", "@zencoderai/slack-mcp-server", "mcp/slack"],
    hosts: ["mcp.slack.com", "slack.com"],
    tools: [
      [
        words(`
          *post* *reply* *send* *addreaction* *addmessage* *create* *update* *schedule*
          *invite* *settopic* *setpurpose* *rename* *upload* *edit*
        `),
        EXTERNAL,
      ],
      [["slackget*", "slacklist*", "slacksearch*", "slackread*", "conversations*", "channels*", ...READING], PRIVATE],
    ],
    usual: ["private", "external"],
  },
  {
    packages: words(`
      @gongrzhe/server-gmail-autoauth-mcp gmail-mcp-server mcp-gmail google-workspace-mcp workspace-mcp
      @google/workspace-mcp mcp-google-workspace @modelcontextprotocol/server-gdrive google-calendar-mcp
      @cocal/google-calendar-mcp mcp-gsuite
    `),
    hosts: ["gmail.googleapis.com", "gmailmcp.googleapis.com", "calendar.googleapis.com", "*.mcp.googleapis.com"],
    tools: [
      [["list*filter*", "get*filter*", "list*rule*", "get*rule*"], PRIVATE],
      [
        // A filter forwards mail; a formula in a sheet or a file by URL fetches from any address.
        words(`
          *send* *reply* *forward* *share* *permission* *create*event* *update*event* *manage*event* *modify*event*
          *respond*event* *filter* *rule* *vacation* *autoreply* *publish* *create*comment* *manage*comment*
          *modify*sheet* *update*sheet* *append*sheet* *write*sheet* *insert*image* *createdrivefile* *importto*
        `),
        EXTERNAL,
      ],
      [["*script*"], ALL],
      [["*searchcustom*"], WEB],
      [["*draft*"], NONE],
      [["*label*", "*delete*", "*archive*", "*trash*", "*listcalendars*", "*currenttime*"], NONE],
      [["*drive*", "*doc*", "*sheet*", "*slide*", "*contact*", "*task*"], PRIVATE],
      [["*mail*", "*message*", "*thread*", "*event*", "*freebusy*", ...READING], MAIL],
    ],
    usual: ALL,
  },
  {
    packages: ["@softeria/ms-365-mcp-server", "ms-365-mcp-server"],
    hosts: ["graph.microsoft.com", "mcp.svc.cloud.microsoft"],
    tools: [
      [["list*rule*", "get*rule*"], PRIVATE],
      [
        words(`
          *send* *reply* *forward* *share* *create*event* *update*event* *manage*event* *post* *filter* *rule*
          accept* decline* tentatively* *invite* *permission* *createlink* create*subscription* update*mailbox*
        `),
        EXTERNAL,
      ],
      [["*draft*"], NONE],
      [["*mail*", "*message*", "*event*", "*calendar*"], MAIL],
      [READING, PRIVATE],
    ],
    usual: ALL,
  },
  {
    packages: ["@notionhq/notion-mcp-server", "notion-mcp-server", "mcp/notion"],
    hosts: ["mcp.notion.com", "api.notion.com"],
    tools: [[["*create*", "*update*", "*patch*", "*delete*", "*move*", "*duplicate*", "*postpage*"], NONE]],
    usual: PRIVATE,
  },
  {
    packages: ["mcp-linear", "@tacticlaunch/mcp-linear", "linear-mcp-server", "mcp-server-linear"],
    hosts: ["mcp.linear.app", "api.linear.app"],
    tools: [[["*create*", "*update*", "*delete*", "*add*"], NONE]],
    usual: PRIVATE,
  },
  {
    packages: ["mcp-atlassian", "sooperset/mcp-atlassian", "@atlassian/mcp-server"],
    hosts: ["mcp.atlassian.com", "*.atlassian.net"],
    tools: [
      [["*atlassianuserinfo", "*accessibleatlassianresources", "*metadata*", "*linktype*", "*lookup*"], NONE],
      [
        words(`
          *addcomment* *createissue* createjira* editjira* *updateissue* *transition* *comment *addworklog* *upload*
          *create*link*
        `),
        EXTERNAL,
      ],
      [["*confluence*"], PRIVATE],
      [["*jira*"], UNTRUSTED],
      [["search", "fetch"], MAIL],
    ],
    usual: ALL,
  },
  {
    packages: ["@modelcontextprotocol/server-filesystem", "mcp-server-filesystem", "mcp/filesystem"],
    hosts: [],
    tools: [[["listalloweddirectories", "writefile", "editfile", "createdirectory", "movefile"], NONE]],
    usual: PRIVATE,
  },
  {
    packages: ["mcp-server-git", "mcp/git", "@cyanheads/git-mcp-server"],
    hosts: [],
    tools: [
      [["gitpush", "push", "gitsendemail"], EXTERNAL],
      [["gitclone", "clone", "gitfetch", "gitpull"], WEB],
      [["gitadd", "gitcommit", "gitreset", "gitcheckout", "gitcreatebranch", "gitinit"], NONE],
    ],
    usual: PRIVATE,
  },
  {
    packages: ["@modelcontextprotocol/server-memory", "mcp/memory"],
    hosts: [],
    tools: [[["create*", "add*", "delete*"], NONE]],
    usual: PRIVATE,
  },
  {
    packages: words(`
      mcp-server-fetch mcp/fetch @modelcontextprotocol/server-fetch fetch-mcp mcp-fetch-server
      @modelcontextprotocol/server-brave-search @brave/brave-search-mcp-server mcp/brave-search tavily-mcp
      exa-mcp-server firecrawl-mcp @perplexity-ai/mcp-server server-perplexity-ask duckduckgo-mcp-server
      @kagi/mcp kagimcp serper-mcp-server @jina-ai/mcp-server mcp-searxng @upstash/context7-mcp
      @brightdata/mcp @apify/actors-mcp-server wikipedia-mcp arxiv-mcp-server
    `),
    hosts: words(`
      mcp.tavily.com mcp.exa.ai mcp.firecrawl.dev mcp.context7.com mcp.deepwiki.com mcp.jina.ai
      mcp.brightdata.com mcp.apify.com api.search.brave.com
    `),
    tools: [],
    usual: WEB,
  },
  {
    packages: words(`
      @playwright/mcp @modelcontextprotocol/server-puppeteer mcp/puppeteer mcp/playwright
      @executeautomation/playwright-mcp-server chrome-devtools-mcp @browserbasehq/mcp browser-use
    `),
    hosts: ["mcp.browserbase.com"],
    tools: [
      [["browserclose", "browserinstall"], NONE],
      [
        words(`
          browserresize browserwaitfor browsersnapshot browsertakescreenshot browserconsolemessages
          browsernetworkrequests puppeteerscreenshot takesnapshot takescreenshot list*
        `),
        UNTRUSTED,
      ],
    ],
    usual: WEB,
    // They look at the page that is open; what they are given is a size, a time or the name of a local file.
    closed: words(`
      browserclose browserresize browserwaitfor browsersnapshot browsertakescreenshot browserconsolemessages
      browsernetworkrequests
    `),
  },
  {
    packages: words(`
      @modelcontextprotocol/server-postgres mcp/postgres postgres-mcp mcp-server-sqlite mcp/sqlite
      @modelcontextprotocol/server-redis mongodb-mcp-server mcp-server-mysql @benborla29/mcp-server-mysql
      @bytebase/dbhub mcp-alchemy snowflake-labs-mcp
    `),
    hosts: [],
    tools: [[["createtable", "writequery", "insert*", "update*", "delete*"], NONE]],
    usual: PRIVATE,
  },
  {
    // Their queries can read from any web address.
    packages: ["mcp-clickhouse", "mcp-server-motherduck"],
    hosts: [],
    tools: [[["list*"], PRIVATE]],
    usual: ["private", "external"],
  },
  {
    packages: ["@supabase/mcp-server-supabase"],
    hosts: ["mcp.supabase.com"],
    tools: [
      [["searchdocs", "listorganizations", "getcost", "confirmcost", "generate*"], NONE],
      [["executesql", "deploy*", "apply*"], ALL],
      [READING, MAIL],
    ],
    usual: ALL,
  },
  {
    packages: ["@sentry/mcp-server", "mcp-server-sentry", "mcp/sentry"],
    hosts: ["mcp.sentry.dev", "sentry.io"],
    tools: [[words("whoami findorganizations findteams findprojects searchdocs getdoc create* update*"), NONE]],
    usual: UNTRUSTED,
  },
  {
    packages: ["@stripe/mcp", "mcp/stripe"],
    hosts: ["mcp.stripe.com", "api.stripe.com"],
    tools: [
      [["searchstripedocumentation", "createproduct", "createprice", "createcoupon"], NONE],
      [["create*", "finalize*", "update*", "cancel*", "send*"], EXTERNAL],
      [READING, PRIVATE],
    ],
    usual: ["private", "external"],
  },
  {
    packages: ["@hubspot/mcp-server", "@intercom/mcp-server", "@salesforce/mcp", "@twilio-alpha/mcp", "mcp-hubspot"],
    hosts: ["mcp.hubspot.com", "mcp.intercom.com", "mcp.asana.com", "mcp.paypal.com", "mcp.zapier.com"],
    tools: [
      [words("*send* *create* *update* *reply* *post* *add* *write* *delete* *forward* *publish* *invite*"), ALL],
      [["*get*", "*list*", "*search*", "*read*", "*find*"], MAIL],
    ],
    usual: ALL,
  },
  {
    packages: ["mcp-discord", "discord-mcp", "telegram-mcp", "whatsapp-mcp", "whatsapp-mcp-server", "mcp-twitter"],
    hosts: [],
    tools: [
      [words("*send* *post* *reply* *create* *forward* *edit* *publish* *upload*"), EXTERNAL],
      [["*read*", "*get*", "*list*", "*search*"], MAIL],
    ],
    usual: ALL,
  },
  {
    packages: ["@wonderwhy-er/desktop-commander", "mcp-server-commands", "mcp-shell", "mcp-shell-server"],
    hosts: [],
    tools: [],
    usual: ["private", "external"],
  },
];
