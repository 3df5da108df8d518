/** A migration that no release has, for tests of upgrades. It creates a table and fills it from a table of the schema before. */
export const INVENTED_MIGRATION = `
  CREATE TABLE marks (
    ticker TEXT NOT NULL,
    date TEXT NOT NULL,
    mark REAL NOT NULL,
    PRIMARY KEY (ticker, date)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO marks SELECT ticker, date, close FROM closes WHERE simulated = 0;
`;
