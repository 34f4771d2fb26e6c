/** Text of the ORM when it found nothing itself. */
const nothing = 'select 1';

/** The ORM knows none of our functions and triggers: on its way down it would create them again, also those of tables that did not change. */
const foreign = /^(?:create or replace function|drop function|create trigger|drop trigger) /;

/** The statements of the ORM that a migration keeps. */
export function ownStatements(statements: readonly string[]): string[] {
  return statements.filter((statement) => statement !== nothing && !foreign.test(statement));
}
