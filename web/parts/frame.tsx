/** What surrounds every page: the navigation, the title, how fresh the data is, and who is logged in. */

import { Fragment } from "preact";
import type { ComponentChildren } from "preact";

import { GROUPS, PAGES } from "../pages/pages.ts";
import type { PageLink } from "../pages/pages.ts";
import { freshness } from "../live/live.ts";
import { nextTheme, theme } from "../theme/theme-choice.ts";
import { Icon } from "./icon.tsx";
import { formatAge, useNow } from "./time.tsx";

/** What stands beside a link of the navigation. */
export interface Badge {
  readonly text: string;
  readonly tone: "wait" | "bad" | "run" | "ok";
  /** What the text counts, for those who do not see the color. */
  readonly words: string;
}

interface FrameProps {
  readonly path: string;
  /** By the path of the page. */
  readonly badges: Readonly<Record<string, Badge | undefined>>;
  readonly roles: readonly string[];
  /** One line about the gateway, such as its isolation. */
  readonly about: string;
  readonly person: string;
  readonly onLogOut?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** Of the pages that these roles can use. */
function findLinks(roles: readonly string[]): readonly PageLink[] {
  return PAGES.flatMap(({ path, link }) => {
    if (!link || link.roles?.some((role) => roles.includes(role)) === false) return [];
    return [{ isTab: false, ...link, path }];
  });
}

export function Frame({ children, ...props }: FrameProps) {
  const links = findLinks(props.roles);
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
        <Links {...props} links={links.filter(({ isTab }) => isTab)} />
        <details>
          <summary>
            <Icon name="more" />
            <span>More</span>
          </summary>
          <div class="sheet">
            <Links {...props} links={links.filter(({ isTab }) => !isTab)} />
          </div>
        </details>
      </nav>
    </div>
  );
}

type Surroundings = Omit<FrameProps, "children">;

function Rail(props: Surroundings) {
  const { about, person, roles, onLogOut } = props;
  const links = findLinks(roles);
  return (
    <aside class="rail" aria-label="Glovebox">
      <a class="brand" href="/approvals">
        <img src="/icon.svg" alt="" />
        <span>
          Glovebox<small>{location.host}</small>
        </span>
      </a>
      <nav aria-label="Pages">
        <Links {...props} links={links.filter(({ group }) => group === undefined)} />
        {GROUPS.map((group) => (
          <Fragment key={group}>
            <h2>{group}</h2>
            <Links {...props} links={links.filter((link) => link.group === group)} />
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

function Links(props: Pick<Surroundings, "path" | "badges"> & { readonly links: readonly PageLink[] }) {
  const { links, path, badges } = props;
  return (
    <>
      {links.map((link) => {
        const isCurrent = path === link.path || path.startsWith(`${link.path}/`);
        const badge = badges[link.path];
        return (
          <a key={link.path} href={link.path} aria-current={isCurrent ? "page" : undefined}>
            <Icon name={link.icon} />
            <span>{link.name}</span>
            {badge && (
              <span class={`count ${badge.tone}`}>
                {badge.text}
                <span class="vh"> {badge.words}</span>
              </span>
            )}
          </a>
        );
      })}
    </>
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
export function Problem(props: { readonly message: ComponentChildren; readonly children?: ComponentChildren }) {
  const { message, children } = props;
  return (
    <div class="note bad" role="alert">
      <Icon name="warn" />
      <div>{message}</div>
      {children}
    </div>
  );
}
