/** A version of the schema: which tools each execution called, and the indexes of lists. Never edit it. */

/** Older executions have the tools of their records in the ledger. */
export const LISTS = `
  CREATE TABLE execution_tools (
    execution TEXT NOT NULL,
    tool TEXT NOT NULL,
    PRIMARY KEY (execution, tool)
  ) STRICT, WITHOUT ROWID;
  INSERT OR IGNORE INTO execution_tools SELECT execution, subject FROM (
    SELECT detail ->> '$.execution' AS execution, subject FROM ledger
    WHERE substr(action, 1, 5) = 'call.' AND json_valid(detail)
  ) WHERE execution IN (SELECT id FROM executions);
  CREATE INDEX execution_tools_by_tool ON execution_tools (tool, execution);
  CREATE INDEX executions_by_state ON executions (state, started_at, id);
  CREATE INDEX executions_by_principal ON executions (principal, started_at, id);
`;
