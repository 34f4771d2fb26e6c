import type { Migration } from '@mikro-orm/migrations';
import { migrations } from './index.ts';

/** A statement of a migration during which others cannot write to a table, for a time that grows with the table. */
export interface LockingStatement {
  readonly table: string;
  readonly statement: string;
  /** Effect of the statement, and its replacement. */
  readonly remark: string;
}

/** A migration that says why it may lock large tables: reasons by table. */
type ReasonedMigration = Migration & { readonly locks?: Readonly<Record<string, string>> };

interface Rule {
  /** Its first group is the table. */
  readonly pattern: RegExp;
  readonly remark: string;
}

const name = '(?:only )?"?([a-z_]+)"?';

const rules: readonly Rule[] = [
  {
    pattern: new RegExp(
      String.raw`^create (?:unique )?index (?!concurrently)(?:if not exists )?"?\w+"? on ${name}`,
      'i',
    ),
    remark: 'writes wait until the index is built',
  },
  {
    pattern: new RegExp(
      String.raw`^alter table ${name} .*\badd (?:constraint "?\w+"? )?(?:foreign key|check)\b(?!.* not valid)`,
      'i',
    ),
    remark: 'writes wait while all rows are checked; add the constraint NOT VALID and validate it in a later migration',
  },
  {
    pattern: new RegExp(String.raw`^alter table ${name} .*\badd (?:constraint "?\w+"? )?(?:primary key|unique)\b`, 'i'),
    remark: 'reads and writes wait until the index is built',
  },
  {
    pattern: new RegExp(String.raw`^alter table ${name} .*\balter column "?\w+"? set not null`, 'i'),
    remark: 'reads and writes wait while all rows are read; validate a CHECK (… IS NOT NULL) in an earlier migration',
  },
  {
    pattern: new RegExp(String.raw`^alter table ${name} .*\balter column "?\w+"? (?:set data )?type\b`, 'i'),
    remark: 'reads and writes wait while the table is written anew; add a column and fill it in slices',
  },
  {
    pattern: new RegExp(
      String.raw`^alter table ${name} .*\badd (?:column )?"?\w+"? .*\b(?:default (?:random|gen_random_uuid|clock_timestamp|nextval)\(|generated always as \()`,
      'i',
    ),
    remark:
      'reads and writes wait while the table is written anew; add the column without a value and fill it in slices',
  },
  {
    pattern: new RegExp(String.raw`^(?:with .* )?(?:update|delete from) ${name}`, 'i'),
    remark: 'the changed rows are locked until the migration ends; change them in slices, by a workflow',
  },
  {
    pattern: new RegExp(String.raw`^(?:lock table|vacuum full|cluster|reindex table) ${name}`, 'i'),
    remark: 'reads and writes wait until it ends',
  },
];

/** Those among the statements that lock a table which they did not create. */
export function lockingAmong(statements: readonly string[]): LockingStatement[] {
  const created = new Set<string>();
  const found: LockingStatement[] = [];
  for (const part of statements.flatMap(partsOf)) {
    const made = /^create (?:unlogged )?table (?:if not exists )?"?(\w+)"?/i.exec(part)?.[1];
    if (made !== undefined) created.add(made);
    for (const { pattern, remark } of rules) {
      const table = pattern.exec(part)?.[1];
      if (table !== undefined && !created.has(table)) found.push({ table, statement: part, remark });
    }
  }
  return found;
}

/** Several statements in one text. Bodies of functions hold statements that do not run in the migration. */
function partsOf(text: string): string[] {
  const line = text.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
  return /\$\w*\$/.test(line) ? [line] : line.split(/;(?: |$)/).filter((part) => part !== '');
}

/**
 * Statements of a migration that lock tables, without those of tables for which its `locks` gives a reason.
 * @param migration name of the migration
 */
export async function lockingStatements(migration: string): Promise<LockingStatement[]> {
  const known = migrations.find((each) => each.name === migration);
  if (!known) throw new TypeError(`there is no migration "${migration}"`);
  const { class: MigrationClass } = known;
  // Its statements depend on nothing, so they can be listed without driver and configuration.
  const made: ReasonedMigration = new MigrationClass(undefined, undefined) as Migration;
  await made.up();
  const { locks = {} } = made;
  return lockingAmong(made.getQueries().map(String)).filter(({ table }) => !Object.hasOwn(locks, table));
}
