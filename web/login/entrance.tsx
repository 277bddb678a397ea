/** What a visitor without a session sees where people do not log in with a password. */

export function renderEntrance(reason: string) {
  return (
    <main class="entrance" id="content">
      <section class="card">
        <div class="brand">
          <img src="/icon.svg" alt="" />
          <span>
            Glovebox<small>{location.host}</small>
          </span>
        </div>
        <h1>This page needs a session</h1>
        <p>{reason}</p>
        <p>
          Run <code>glovebox open</code> on the machine of the gateway. Its link works once, for a minute.
        </p>
      </section>
    </main>
  );
}
