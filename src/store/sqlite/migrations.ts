/**
 * The schema of the SQLite file, version by version. Never edit a released version: files with it exist. To change the
 * schema, add a version at the end.
 */

import { LISTS } from "./list-migration.ts";

/** "GLBX" in the file header, so that databases of other programs are recognized and left unchanged. */
export const APPLICATION_ID = 0x474c4258;

/** The script at index n migrates from version n to version n + 1. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE schema_history (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;

  CREATE TABLE executions (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    source TEXT NOT NULL,
    source_text TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    state TEXT,
    error_code TEXT,
    result TEXT
  ) STRICT;
  CREATE INDEX executions_by_start ON executions (started_at, id);

  CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL
  ) STRICT;

  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    wrapped_key BLOB NOT NULL,
    nonce BLOB NOT NULL,
    ciphertext BLOB NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  PRAGMA application_id = ${APPLICATION_ID};
`,
  // The triggers guard against bugs; the hash chain guards against an attacker with access to the file.
  `
  CREATE TRIGGER ledger_is_not_edited BEFORE UPDATE ON ledger
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TRIGGER ledger_is_not_cut BEFORE DELETE ON ledger
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE INDEX executions_unfinished ON executions (started_at, id) WHERE state IS NULL;
`,
  // Tool definitions, learned shapes of results, and stored results.
  `
  CREATE TABLE pins (
    connector TEXT NOT NULL,
    remote_name TEXT NOT NULL,
    digest TEXT NOT NULL,
    definition TEXT NOT NULL,
    pinned_at INTEGER NOT NULL,
    pinned_by TEXT NOT NULL,
    PRIMARY KEY (connector, remote_name)
  ) STRICT;

  CREATE TABLE held_definitions (
    connector TEXT NOT NULL,
    remote_name TEXT NOT NULL,
    digest TEXT NOT NULL,
    definition TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (connector, remote_name)
  ) STRICT;

  CREATE TABLE learned_shapes (
    connector TEXT NOT NULL,
    remote_name TEXT NOT NULL,
    definition TEXT NOT NULL,
    shape TEXT NOT NULL,
    samples INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (connector, remote_name)
  ) STRICT;

  CREATE TABLE results (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    execution TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    shape TEXT NOT NULL,
    body BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX results_by_expiry ON results (expires_at, id);
`,
  // Signed statements about the ledger, and the progress of exports. Only a record that a signed cut covers can be deleted,
  // and only a statement that a later cut made obsolete.
  `
  CREATE TABLE statements (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE TRIGGER statements_are_not_edited BEFORE UPDATE ON statements
  BEGIN SELECT RAISE(ABORT, 'statements are append-only'); END;
  CREATE TRIGGER statements_are_not_removed BEFORE DELETE ON statements
  WHEN NOT EXISTS (SELECT 1 FROM statements WHERE kind = 'cut' AND seq >= OLD.seq AND number > OLD.number)
  BEGIN SELECT RAISE(ABORT, 'statements are append-only'); END;

  DROP TRIGGER ledger_is_not_cut;
  CREATE TRIGGER ledger_is_not_cut BEFORE DELETE ON ledger
  WHEN OLD.seq > coalesce((SELECT max(seq) FROM statements WHERE kind = 'cut'), 0)
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;

  CREATE TABLE exports (
    id TEXT PRIMARY KEY,
    cursor INTEGER NOT NULL,
    holder TEXT NOT NULL,
    held_until INTEGER NOT NULL,
    sent_at INTEGER,
    failed_at INTEGER,
    failure TEXT
  ) STRICT;
`,
  // The owner of an execution, and idempotency keys of clients.
  `
  ALTER TABLE executions ADD COLUMN owner TEXT;
  CREATE TABLE request_keys (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    execution TEXT NOT NULL,
    PRIMARY KEY (principal, key)
  ) STRICT;
`,
  // Counters of quotas, and slots of running executions, which expire.
  `
  CREATE TABLE quota_windows (
    key TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    used INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE quota_places (
    key TEXT NOT NULL,
    lease TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (key, lease)
  ) STRICT, WITHOUT ROWID;
`,
  // The labels of principals and of stored results, as JSON; `[]` for older results.
  `
  CREATE TABLE taken_labels (
    principal TEXT PRIMARY KEY,
    sources TEXT NOT NULL,
    taken_at INTEGER NOT NULL
  ) STRICT;
  ALTER TABLE results ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';
`,
  // Approvals. `change` grows with every change of any row.
  `
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    change INTEGER NOT NULL,
    execution TEXT NOT NULL,
    seq INTEGER NOT NULL,
    principal TEXT NOT NULL,
    session TEXT,
    tool TEXT NOT NULL,
    definition TEXT NOT NULL,
    effect TEXT NOT NULL,
    sealed_args BLOB NOT NULL,
    args_digest TEXT NOT NULL,
    rule TEXT NOT NULL,
    reason TEXT NOT NULL,
    labels TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    scope TEXT,
    decided_by TEXT,
    decided_at INTEGER,
    note TEXT
  ) STRICT;
  CREATE UNIQUE INDEX approvals_by_change ON approvals (change);
  CREATE INDEX approvals_by_execution ON approvals (execution, tool);
  CREATE INDEX approvals_by_state ON approvals (state, expires_at);
  CREATE INDEX approvals_remembered ON approvals (principal, tool, args_digest) WHERE scope = 'session';
`,
  // Sealed journals, dropped some time after the execution has ended.
  `
  CREATE TABLE journals (
    execution TEXT NOT NULL,
    piece INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    UNIQUE (execution, piece)
  ) STRICT;
  CREATE INDEX executions_by_end ON executions (ended_at) WHERE state IS NOT NULL AND state <> 'paused';
`,
  // Requests to cancel an execution that another process runs.
  `
  CREATE TABLE cancellations (
    execution TEXT PRIMARY KEY,
    asked_by TEXT NOT NULL,
    asked_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`,
  // Units that running executions hold: when they took them, and when they were last alive.
  `
  CREATE TABLE quota_reservations (
    holder TEXT NOT NULL,
    key TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    taken_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (holder, key)
  ) STRICT, WITHOUT ROWID;
`,
  // The size of each execution, and indexes by which those of ended ones and what belongs to them are found.
  `
  ALTER TABLE executions ADD COLUMN bytes INTEGER GENERATED ALWAYS AS
    (octet_length(source_text) + coalesce(octet_length(result), 0)) VIRTUAL;
  DROP INDEX executions_by_end;
  CREATE INDEX executions_by_end ON executions (ended_at, bytes) WHERE state IS NOT NULL AND state <> 'paused';
  CREATE INDEX results_by_execution ON results (execution);
  CREATE INDEX request_keys_by_execution ON request_keys (execution);
  `,
  // The name of a pinned tool in programs. Catalogs name the pins of older versions, and no two tools of a server alike.
  `
  ALTER TABLE pins ADD COLUMN name TEXT;
  CREATE UNIQUE INDEX pins_by_name ON pins (connector, name COLLATE NOCASE);
`,
  // Sealed results. Those that older versions stored in clear, and the file with its former content, are sealed and rebuilt
  // later (`seal-older.ts`); a row of `results` is sealed when it has a sealed shape.
  `
  ALTER TABLE executions ADD COLUMN sealed_result BLOB;
  DROP INDEX executions_by_end;
  ALTER TABLE executions DROP COLUMN bytes;
  ALTER TABLE executions ADD COLUMN bytes INTEGER GENERATED ALWAYS AS
    (octet_length(source_text) + coalesce(octet_length(result), 0) + coalesce(octet_length(sealed_result), 0)) VIRTUAL;
  CREATE INDEX executions_by_end ON executions (ended_at, bytes) WHERE state IS NOT NULL AND state <> 'paused';
  CREATE INDEX executions_in_clear ON executions (id) WHERE result IS NOT NULL;
  ALTER TABLE results ADD COLUMN sealed_shape BLOB;
  CREATE INDEX results_in_clear ON results (id) WHERE sealed_shape IS NULL;
  INSERT INTO meta SELECT 'sealing', 'due' WHERE EXISTS (SELECT 1 FROM ledger);
`,
  // People, tokens, sessions and one-time codes. Credentials are keyed digests.
  `
  CREATE TABLE people (
    name TEXT PRIMARY KEY,
    roles TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL COLLATE NOCASE,
    digest BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    person TEXT NOT NULL,
    scopes TEXT NOT NULL,
    servers TEXT,
    tools TEXT,
    executions_per_minute INTEGER,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    revoked_by TEXT,
    last_used_at INTEGER
  ) STRICT;
  CREATE INDEX tokens_by_name ON tokens (name);
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    principal TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    authenticated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    origin TEXT NOT NULL
  ) STRICT;
  CREATE TABLE login_codes (
    digest BLOB PRIMARY KEY,
    purpose TEXT NOT NULL,
    principal TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`,
  // Passwords of people, as salted hashes with their parameters.
  `
  CREATE TABLE passwords (
    principal TEXT PRIMARY KEY,
    verifier TEXT NOT NULL,
    set_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`,
  // Records of the authorization server, sealed; ids are keyed digests.
  `
  CREATE TABLE oauth_records (
    digest BLOB PRIMARY KEY,
    model TEXT NOT NULL,
    grant_digest BLOB,
    uid_digest BLOB,
    person TEXT,
    sealed BLOB NOT NULL,
    expires_at INTEGER,
    consumed_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX oauth_records_by_grant ON oauth_records (grant_digest) WHERE grant_digest IS NOT NULL;
  CREATE INDEX oauth_records_by_uid ON oauth_records (uid_digest) WHERE uid_digest IS NOT NULL;
  CREATE INDEX oauth_records_by_person ON oauth_records (person) WHERE person IS NOT NULL;
  CREATE INDEX oauth_records_by_expiry ON oauth_records (expires_at) WHERE expires_at IS NOT NULL;
`,
  // The bodies of large results, in parts: one of ten megabytes would hold the thread of the gateway for as long.
  `
  CREATE TABLE result_parts (
    result TEXT NOT NULL,
    part INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (result, part)
  ) STRICT;
  CREATE TRIGGER results_deleted AFTER DELETE ON results BEGIN
    DELETE FROM result_parts WHERE result = OLD.id;
  END;
`,
  // People whose login is at a provider, by what the provider names them for good.
  `
  CREATE TABLE provider_logins (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_login_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT, WITHOUT ROWID;
`,
  // Passkeys of people: public keys only.
  `
  CREATE TABLE passkeys (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    public_key BLOB NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    label TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX passkeys_by_principal ON passkeys (principal);
`,
  // Versions of skills, which never change, and their files by digest.
  `
  CREATE TABLE skill_files (digest TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
  CREATE TABLE skill_versions (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    address TEXT NOT NULL COLLATE NOCASE,
    digest TEXT NOT NULL,
    files TEXT NOT NULL,
    grants TEXT NOT NULL,
    origin TEXT NOT NULL,
    state TEXT NOT NULL,
    author TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    note TEXT,
    signature TEXT,
    PRIMARY KEY (name, version)
  ) STRICT;
  CREATE INDEX skill_versions_by_address ON skill_versions (address);
  CREATE TABLE skill_revision (revision INTEGER NOT NULL) STRICT;
  INSERT INTO skill_revision VALUES (0);
`,
  // Learned shapes of one person. Older ones are those of the user who owns the store.
  `
  CREATE TABLE shapes_of_owners (
    owner TEXT NOT NULL, connector TEXT NOT NULL, remote_name TEXT NOT NULL, definition TEXT NOT NULL,
    shape TEXT NOT NULL, samples INTEGER NOT NULL, changed_at INTEGER NOT NULL,
    PRIMARY KEY (owner, connector, remote_name)
  ) STRICT;
  INSERT INTO shapes_of_owners SELECT 'operator', connector, remote_name, definition, shape, samples, changed_at FROM learned_shapes;
  DROP TABLE learned_shapes;
  ALTER TABLE shapes_of_owners RENAME TO learned_shapes;
`,
  LISTS,
];
