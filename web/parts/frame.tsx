/** What surrounds every page: the navigation, the title, how fresh the data is, and who is logged in. */

import { Fragment } from "preact";
import type { ComponentChildren } from "preact";

import { freshness } from "../live/live.ts";
import { nextTheme, theme } from "../theme-choice.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon.tsx";
import { formatAge, useNow } from "./time.tsx";

export interface Counts {
  readonly approvals: number;
  /** Servers that need a person. */
  readonly servers: number;
}

interface Entry {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  readonly group: "Review" | "Connect" | "Control";
}

const ENTRIES: readonly Entry[] = [
  { path: "/approvals", name: "Approvals", icon: "approvals", group: "Review" },
  { path: "/executions", name: "Executions", icon: "executions", group: "Review" },
  { path: "/servers", name: "Servers", icon: "servers", group: "Connect" },
  { path: "/tools", name: "Tools", icon: "tools", group: "Connect" },
  { path: "/setup", name: "Setup", icon: "setup", group: "Connect" },
  { path: "/ledger", name: "Ledger", icon: "ledger", group: "Control" },
  { path: "/sessions", name: "Sessions", icon: "sessions", group: "Control" },
];
const TABS = 4;

interface FrameProps {
  readonly path: string;
  readonly counts: Counts;
  /** One line about the gateway, such as its isolation. */
  readonly about: string;
  readonly person: string;
  readonly onLogOut?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

export function Frame({ children, ...props }: FrameProps) {
  return (
    <div class="app">
      <Rail {...props} />
      <div class="page">
        <header class="top">
          <img src="/icon.svg" alt="" />
          <span>{location.host}</span>
          <span class="end">
            <Freshness />
            <ThemeButton />
          </span>
        </header>
        <main id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      <nav class="tabbar" aria-label="Pages, short">
        <Links {...props} entries={ENTRIES.slice(0, TABS)} />
        <details>
          <summary>
            <Icon name="more" />
            <span>More</span>
          </summary>
          <div class="sheet">
            <Links {...props} entries={ENTRIES.slice(TABS)} />
          </div>
        </details>
      </nav>
    </div>
  );
}

type Surroundings = Omit<FrameProps, "children">;

function Rail(props: Surroundings) {
  const { about, person, onLogOut } = props;
  return (
    <aside class="rail" aria-label="Glovebox">
      <a class="brand" href="/approvals">
        <img src="/icon.svg" alt="" />
        <span>
          Glovebox<small>{location.host}</small>
        </span>
      </a>
      <nav aria-label="Pages">
        {(["Review", "Connect", "Control"] as const).map((group) => (
          <Fragment key={group}>
            <h2>{group}</h2>
            <Links {...props} entries={ENTRIES.filter((entry) => entry.group === group)} />
          </Fragment>
        ))}
      </nav>
      <footer>
        <div>
          <Freshness />
          <span class="small">{about}</span>
        </div>
        <div>
          <span>{person}</span>
          {onLogOut && (
            <button class="btn quiet small" type="button" onClick={onLogOut}>
              Log out
            </button>
          )}
          <ThemeButton />
        </div>
      </footer>
    </aside>
  );
}

function Links({
  entries,
  path,
  counts,
}: Pick<Surroundings, "path" | "counts"> & { readonly entries: readonly Entry[] }) {
  return (
    <>
      {entries.map((entry) => (
        <Link key={entry.path} {...{ entry, path, counts }} />
      ))}
    </>
  );
}

interface LinkProps {
  readonly entry: Entry;
  readonly path: string;
  readonly counts: Counts;
}

function Link({ entry, path, counts }: LinkProps) {
  const isCurrent = path === entry.path || path.startsWith(`${entry.path}/`);
  const count = entry.path === "/approvals" ? counts.approvals : entry.path === "/servers" ? counts.servers : 0;
  const [tone, words] = entry.path === "/approvals" ? ["wait", " waiting"] : ["bad", " need attention"];
  return (
    <a href={entry.path} aria-current={isCurrent ? "page" : undefined}>
      <Icon name={entry.icon} />
      <span>{entry.name}</span>
      {count > 0 && (
        <span class={`count ${tone}`}>
          {count}
          <span class="vh">{words}</span>
        </span>
      )}
    </a>
  );
}

/** Says at once when nothing is heard any more, and how old the data is. */
function Freshness() {
  const now = useNow();
  const { kind, since } = freshness.value;
  if (kind === "live") return <span class="live">Live</span>;
  const text = kind === "polling" ? "Every 3 s" : `Not live for ${formatAge(now - since)}`;
  return <span class={kind === "off" ? "live off" : "live"}>{text}</span>;
}

function ThemeButton() {
  return (
    <button class="icon-button" type="button" aria-label={`Theme: ${theme.value}`} onClick={nextTheme}>
      <Icon name="theme" />
    </button>
  );
}

/** The first line of a page. */
export function Head(props: {
  readonly title: ComponentChildren;
  readonly sub?: string;
  readonly children?: ComponentChildren;
}) {
  const { title, sub, children } = props;
  return (
    <div class="head">
      {typeof title === "string" ? <h1>{title}</h1> : <div class="crumbs">{title}</div>}
      {sub !== undefined && <span class="sub">{sub}</span>}
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="panel">
      <div class="empty">
        <h2>{title}</h2>
        {children}
      </div>
    </div>
  );
}

/** What failed and what to do; the page below it stays. */
export function Problem({ message, children }: { readonly message: string; readonly children?: ComponentChildren }) {
  return (
    <div class="note bad" role="alert">
      <Icon name="warn" />
      <div>{message}</div>
      {children}
    </div>
  );
}
