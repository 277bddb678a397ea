/** The pages by address. A page is one line here and one folder beside this file; its script loads when it is shown. */

import type { ComponentType } from "preact";

import type { PageProps } from "../page-props.ts";
import type { IconName } from "../parts/icon.tsx";

/** The part of an address after the name of the page, such as the id in `/executions/ID`. */
export interface RoutedProps extends PageProps {
  readonly id: string;
}

export interface Page {
  /** The first part of an address; a second one is `:id`. */
  readonly path: string;
  readonly load: () => Promise<{ readonly Page: ComponentType<RoutedProps> }>;
  /** Absent for a page that other pages link to. */
  readonly link?: Link;
}

interface Link {
  readonly name: string;
  readonly icon: IconName;
  /** Absent for what stands above the groups. */
  readonly group?: (typeof GROUPS)[number];
  /** A tab on a phone; the others are under More. */
  readonly isTab?: boolean;
  /** One of these roles is needed to see anything there. */
  readonly roles?: readonly string[];
}

export type PageLink = Link & { readonly path: string; readonly isTab: boolean };

export const GROUPS = ["Review", "Connect", "Control"] as const;

/** In the order of the navigation. */
export const PAGES: readonly Page[] = [
  { path: "/setup", load: () => import("./setup/page.tsx"), link: { name: "Setup", icon: "setup" } },
  {
    path: "/approvals",
    load: () => import("./approvals/page.tsx"),
    link: { name: "Approvals", icon: "approvals", group: "Review", isTab: true },
  },
  { path: "/approvals/:id", load: () => import("./approval/page.tsx") },
  {
    path: "/executions",
    load: () => import("./executions/page.tsx"),
    link: { name: "Executions", icon: "executions", group: "Review", isTab: true },
  },
  { path: "/executions/:id", load: () => import("./execution/page.tsx") },
  {
    path: "/skills",
    load: () => import("./skills/page.tsx"),
    link: { name: "Skills", icon: "skills", group: "Review" },
  },
  { path: "/skills/:id", load: () => import("./skill/page.tsx") },
  {
    path: "/servers",
    load: () => import("./servers/page.tsx"),
    link: { name: "Servers", icon: "servers", group: "Connect", isTab: true },
  },
  {
    path: "/tools",
    load: () => import("./tools/page.tsx"),
    link: { name: "Tools", icon: "tools", group: "Connect", isTab: true },
  },
  {
    path: "/playground",
    load: () => import("./playground/page.tsx"),
    link: { name: "Playground", icon: "playground", group: "Connect", roles: ["operator"] },
  },
  {
    path: "/secrets",
    load: () => import("./secrets/page.tsx"),
    link: { name: "Secrets", icon: "secrets", group: "Connect", roles: ["operator"] },
  },
  {
    path: "/people",
    load: () => import("./people/page.tsx"),
    link: { name: "People and tokens", icon: "people", group: "Connect", roles: ["operator"] },
  },
  {
    path: "/policy",
    load: () => import("./policy/page.tsx"),
    link: { name: "Policy", icon: "policy", group: "Control", roles: ["operator"] },
  },
  {
    path: "/usage",
    load: () => import("./usage/page.tsx"),
    link: { name: "Usage", icon: "usage", group: "Control", roles: ["operator"] },
  },
  {
    path: "/ledger",
    load: () => import("./ledger/page.tsx"),
    link: { name: "Ledger", icon: "ledger", group: "Control", roles: ["operator"] },
  },
  {
    path: "/settings",
    load: () => import("./settings/page.tsx"),
    link: { name: "Settings", icon: "settings", group: "Control", roles: ["operator"] },
  },
  {
    path: "/sessions",
    load: () => import("./sessions/page.tsx"),
    link: { name: "Sessions", icon: "sessions", group: "Control" },
  },
];

const FIRST = "/approvals";

/** The page of an address, and what follows its name. `/` is the queue. */
export function findPage(path: string): { readonly page: Page; readonly id: string } | undefined {
  const [, name = "", ...rest] = path.split("/");
  const id = rest.join("/");
  const wanted = name === "" ? FIRST : `/${name}${id === "" ? "" : "/:id"}`;
  const page = PAGES.find((one) => one.path === wanted);
  return page && { page, id };
}
