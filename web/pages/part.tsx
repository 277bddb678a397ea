/** The page that the address names, once its script is there. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { PageProps } from "../page-props.ts";
import { Empty, Head, Problem } from "../parts/frame.tsx";
import { findPage } from "./pages.ts";
import type { Page, RoutedProps } from "./pages.ts";

type Loading =
  | { readonly kind: "ready"; readonly page: Page; readonly Content: ComponentType<RoutedProps> }
  | { readonly kind: "failed"; readonly page: Page };

export function Part({ path, ...props }: PageProps & { readonly path: string }) {
  const found = findPage(path);
  const page = found?.page;
  const [loading, setLoading] = useState<Loading>();
  useEffect(() => {
    if (!page) return undefined;
    let isCurrent = true;
    const set = (next: Loading): void => void (isCurrent && setLoading(next));
    page.load().then(
      ({ Page: Content }) => set({ kind: "ready", page, Content }),
      () => set({ kind: "failed", page }),
    );
    return () => (isCurrent = false);
  }, [page]);
  if (!found) return <NotFound />;
  if (loading?.page !== page) return null;
  return loading?.kind === "ready" ? <loading.Content {...props} id={found.id} /> : <NotLoaded />;
}

function NotFound() {
  return (
    <>
      <Head title="This page does not exist" />
      <div class="content">
        <Empty title="Nothing is here">
          <a class="btn" href="/approvals">
            Approvals
          </a>
        </Empty>
      </div>
    </>
  );
}

/** A script is missing when the gateway was updated, or does not answer. */
function NotLoaded() {
  return (
    <div class="content">
      <Problem message="This part of the page could not be loaded. The gateway may have been updated or stopped.">
        <button class="btn small" type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </Problem>
    </div>
  );
}
