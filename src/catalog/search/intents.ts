/** What people ask for in everyday words, and the words with which servers describe the tools that do it. Data only. */

/**
 * All groups must occur in a query for the meaning to be added to it. A group lists words; `#file`, `#url`, `#number`
 * and `#clock` stand for what looks like a file name, an address on the web, a number and a time of day.
 */
export interface SearchIntent {
  readonly groups: readonly string[];
  readonly means: string;
}

const SEE = "read open show look see view load tell say contain display print what inside";
const KEEP = "save store keep put write dump record create make note";
const CHANGE = "change fix replace correct edit modify adjust rewrite";
const FIND = "find where locate search look which all";
const FILE = "#file file document readme disk computer";
const FOLDER = "folder directory path";
const PICTURE = "photo picture image logo icon video audio song sound";
const GO = "open go visit surf browse load navigate show";
const WEB = "#url web website site page url link homepage internet online";
const GET = "read get download fetch scrape load extract";
const DATA = "database table row record entry sql";
const PEOPLE = "team everyone everybody channel colleague people group room chat all";
const GOODS = "product article item goods sku piece";
const PERSON = "person people friend colleague he she me my i who about him her";

export const INTENTS: readonly SearchIntent[] = [
  { groups: [SEE, `${FILE} text`], means: "read file content" },
  { groups: [KEEP, FILE], means: "write file" },
  { groups: [CHANGE, `${FILE} line word typo text`], means: "edit file" },
  {
    groups: ["move put rename give", FILE, "folder directory another other name into"],
    means: "move file rename",
  },
  { groups: ["another other new", "name"], means: "rename" },
  { groups: [FIND, `#file file document pdf ${PICTURE}`], means: "search file" },
  { groups: [`${SEE} list`, FOLDER], means: "list directory" },
  { groups: ["space big size large small", `${FILE} ${FOLDER} space`], means: "size file" },
  { groups: ["old age when date new recent", FILE], means: "file info metadata time" },
  { groups: ["look see show open view play hear listen", PICTURE], means: "image audio media" },
  { groups: ["may can allow permit access", `${FOLDER} ${FILE}`], means: "allowed directory" },
  { groups: ["small less shrink compress zip pack space", FILE], means: "compress" },

  { groups: [GO, WEB], means: "navigate url browser" },
  { groups: [GET, WEB], means: "fetch url web content" },
  { groups: ["click press push tap hit", "button link icon"], means: "click" },
  { groups: ["press hit push type", "key enter escape tab return space"], means: "press key keyboard" },
  { groups: ["enter type write fill put", "box field input form name text"], means: "type text fill form" },
  {
    groups: [`${PICTURE} capture shot shows see seen look`, "page screen site website window"],
    means: "screenshot snapshot page",
  },
  { groups: ["mouse pointer cursor", "over on above"], means: "hover element" },
  { groups: ["mouse drag drop", "move to from"], means: "drag" },
  { groups: ["popup alert confirm prompt", "yes no accept dismiss say ok close"], means: "dialog handle" },
  { groups: ["error warning problem", "javascript script page site console"], means: "console message" },
  { groups: ["small large big wide tall size", "window"], means: "resize" },
  { groups: ["wait", "until loaded ready appear"], means: "wait" },

  { groups: ["know remember recall told said", "you what who"], means: "search knowledge graph memory node" },
  { groups: ["everything all", "know remember stored"], means: "read graph memory" },
  { groups: ["remember learn memorize", `that fact ${PERSON}`], means: "add observation memory entity create" },
  { groups: ["note mind", "that"], means: "add observation memory entity create" },
  { groups: ["forget erase"], means: "delete memory observation entity" },
  {
    groups: ["connect relate relation married friend link associate", `to two between and are ${PERSON}`],
    means: "create relation entity",
  },
  { groups: ["unlink disconnect separate"], means: "delete relation" },
  { groups: ["take make write save store jot", "note fact", `about on ${PERSON}`], means: "add observation memory" },
  { groups: ["exist exists there", FILE], means: "file info search" },
  {
    groups: ["no longer not drop delete remove end", "link relation friend connection", "people person two between"],
    means: "delete relation",
  },

  { groups: ["plus add sum total minus and", "#number number amount"], means: "sum number calculate" },
  { groups: ["what which current now tell", "time day date clock hour"], means: "current time" },
  { groups: ["#clock", "in to what"], means: "convert time timezone" },
  { groups: ["weather warm cold hot rain temperature sunny snow", "in is how will"], means: "weather location city" },
  { groups: ["repeat again back", "say said message word what"], means: "echo message" },
  {
    groups: ["think plan solve reason consider", "step problem how about through difficult"],
    means: "thinking problem solve",
  },
  { groups: ["research investigate look study", "topic subject into about"], means: "research topic" },

  { groups: ["sell offer have sold", "we what which out shop store"], means: "list product" },
  { groups: ["price cost much expensive cheap", GOODS], means: "get product price" },
  { groups: ["bought buy purchase ordered order delivered parcel shipped"], means: "order" },
  { groups: ["buy order purchase"], means: "place order create" },
  { groups: ["amount count number many piece got", `warehouse stock ${GOODS}`], means: "stock update inventory" },
  { groups: ["borrow take lend", "book"], means: "lend list" },
  { groups: ["bring give back return", "book back"], means: "return" },
  { groups: ["sign log", "in password account"], means: "login user" },
  { groups: ["make create new register open", "account profile user"], means: "create user" },

  { groups: ["tell inform write announce say ping let post", PEOPLE], means: "post send message channel" },
  {
    groups: ["what read see", "say said write wrote happened discussed", "people colleague channel team they"],
    means: "channel history message",
  },
  { groups: ["answer reply respond", "conversation thread message there"], means: "reply thread" },
  { groups: ["answer reply respond comment", "issue ticket bug"], means: "comment issue" },
  { groups: ["who", "work team member here employee"], means: "list user" },
  { groups: ["react heart thumb like smile"], means: "reaction emoji" },
  { groups: ["which what where list", "room channel group"], means: "list channel" },

  { groups: ["what show which", "changed change modified", "code commit branch since file"], means: "git status diff" },
  { groups: ["who history when", "code project commit changed"], means: "commit log history" },
  { groups: ["go switch change", "branch"], means: "checkout switch branch" },
  { groups: ["save record keep", "change version"], means: "commit change" },
  { groups: ["report file submit", "bug problem error defect"], means: "create issue" },
  { groups: ["what which", "problem bug reported"], means: "list issue" },
  { groups: ["ask request propose", "merge merged review change"], means: "create pull request" },
  { groups: ["find search", "project source repository"], means: "search repository" },
  { groups: ["where find which", "function class symbol code"], means: "search code" },

  { groups: ["how look find get show what which select count many", DATA], means: "query select database" },
  { groups: ["insert add change update delete remove write", DATA], means: "write query execute sql" },
  { groups: ["column field", "table"], means: "describe table schema" },
  { groups: ["note record keep", "finding insight result conclusion"], means: "insight" },
  { groups: ["last first final end bottom top begin", "line row", `${FILE} log text`], means: "read file head tail" },
  { groups: ["when date old", "change touch edit modify create write save update", FILE], means: "file info metadata" },
  { groups: ["phone mobile tablet small", "site page website window screen"], means: "resize" },
  { groups: ["undo revert back unstage", "add stage staging index"], means: "reset unstage" },
  {
    groups: [
      "let allow give able can so",
      "see view read edit access open",
      `${PERSON} client boss team everyone #mail`,
    ],
    means: "share permission access",
  },
  { groups: ["what which", "suppose assign plate todo next", "i my me"], means: "my issue task assigned" },
  {
    groups: ["cannot cant unable able make come", "meeting event party dinner lunch invitation"],
    means: "respond event",
  },
  { groups: ["move shift push postpone bring delay", "meeting appointment call event date"], means: "update event" },
  { groups: ["free available time", "both everyone all we people they are"], means: "free slot" },
  { groups: ["what do when", "plan calendar schedule agenda", "i my me we have"], means: "list event" },
  { groups: ["how", "money cash", "account have we i left"], means: "balance" },
  { groups: ["give get want send", "money", "back"], means: "refund" },
  {
    groups: ["stop end quit cancel", "pay subscribe plan membership charge subscription"],
    means: "cancel subscription",
  },
  { groups: ["make create need want", "pay payment money", "link url page"], means: "create payment link" },
  { groups: ["how many who", "visit visitor view user people", `${WEB} yesterday`], means: "analytics traffic" },
  { groups: ["why what", "fail break broke broken red crash"], means: "log error" },
  { groups: ["which what", "crash exception error", "user customer people"], means: "issue error event" },
  { groups: ["run try start", "again"], means: "retry rerun" },
  { groups: ["go roll switch get", "back previous last", "version deploy release"], means: "rollout undo" },
  { groups: ["who", "change wrote write touch edit", "line code this file"], means: "blame" },
  { groups: ["who", "duty shift charge responsible tonight call weekend"], means: "on call" },
  { groups: ["take swap change cover", "duty shift"], means: "override shift" },
  {
    groups: ["i mine me take", "care handle look own", "outage incident alert it this"],
    means: "acknowledge incident",
  },
  {
    groups: ["how", "get come go travel drive walk way", "from there station airport hotel home office work"],
    means: "direction",
  },
  { groups: ["how", "far long distance"], means: "distance" },
  { groups: ["which what", "song music track artist", "this is play now"], means: "now playing track" },
  { groups: ["dislike hate like skip next other another", "song track music"], means: "skip next" },
  { groups: ["write draft prepare", `${FILE} mail email message`, "check look first send not later"], means: "draft" },
  { groups: ["look find search where", "mail email message"], means: "search email" },
  { groups: ["turn convert make save export", "pdf word excel csv docx"], means: "export convert" },
  { groups: ["is are", "still run up alive healthy down work"], means: "status get list" },
  { groups: ["is are check", "real valid exist correct"], means: "validate lookup" },
  {
    groups: ["open open close still", "shop store restaurant pharmacy museum bank now today"],
    means: "place detail opening",
  },
  {
    groups: ["we they i", "receive got arrive more new", "piece unit number #number stock"],
    means: "stock inventory adjust update",
  },
  { groups: ["no not stop", "longer more anymore", `sell need ${GOODS}`], means: "delete product" },
  { groups: ["not no", "yet still", "left sent ship deliver paid"], means: "pending list order" },
  { groups: ["#clock #number", "in", "when what time"], means: "convert time timezone" },
  { groups: ["look see show", "over review feedback opinion", "design screen mockup"], means: "comment" },
  { groups: ["draw paint generate create make", PICTURE], means: "generate image" },
  { groups: ["add put write", "row line entry record", "sheet spreadsheet table excel"], means: "append row sheet" },
];
