import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { export as exportKind, note, registry, task } from '#entities/index.ts';
import { callerOf, systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { hasObjectRights, mayAll } from '#entities/kit/model/policy.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { compilePage } from '#entities/kit/read/answer-statements.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';
import type { Statement } from '#entities/kit/storage/sql.ts';
import { compileRows } from '#entities/kit/read/rows.ts';
import type { Comparison } from '#entities/kit/read/filter.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { depth, sampleOf, timesOf } from '../kit/depth.ts';
import {
  fillTables,
  hasFewPerOrganization,
  idOfRow,
  largeOrganization,
  pretendRows,
} from '../kit/records/bulk-fixtures.ts';
import { pagesRead, planOf, rowsRead, scansOf, type PlanNode } from '../kit/records/query-plan.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Of which one organization owns half. */
const rows = 1_000_000;
/** Rows that are really there, for statistics. */
const rowsForStatistics = timesOf({ sample: 2_000, prove: 20_000 });
/** Rows that are read. */
const rowsToRead = timesOf({ sample: 40_000, prove: rows });

const kinds = registry.modules.filter(({ tenancy }) => tenancy === 'organization');

const person = {
  kind: 'user',
  subjectId: idOfRow(8),
  organizationId: largeOrganization,
  productModules,
} as const;
const callers: Readonly<Record<string, Caller>> = {
  owner: callerOf({ ...person, role: 'owner' }),
  // Sees what is assigned to them or was asked for by them, and what is shared with two groups.
  member: callerOf({ ...person, role: 'member', groupIds: [idOfRow(4), idOfRow(6)] }),
};

/** One kind of every shape: statements about kinds of one shape differ in names alone. To fill a table with all rows takes a minute. */
const kindsOfAllShapes = [...Map.groupBy(kinds, shapeOf).values()].flatMap(([first]) => first ?? []);

/** What of a kind decides how its statements are made. */
function shapeOf(module: EntityModule): string {
  const { rlsUsing, policy, search = [], filter, fields } = module;
  return JSON.stringify({
    isOpenWider: rlsUsing !== undefined,
    hasObjectRights: hasObjectRights(policy),
    isSearched: search.length > 0,
    hasLists: filter.some((name) => fields[name]?.type === 'textList'),
    hasFew: hasFewPerOrganization(module),
  });
}

const callerCount = Object.keys(callers).length;

let world: World;
let client: Client;
/** Columns of all indexes, in their order. */
let columnsOf: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  // The rows are nobody's: no history, no tuples, no parents.
  world = await openWorld({ skipVerify: true });
  client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  await fillTables(client, kinds, rowsForStatistics);
  for (const module of kinds) await pretendRows(client, module, rows);
  const indexes = await client.query<{ name: string; columns: string[] }>(
    `select indexrelid::regclass::text as name, array_agg(pg_get_indexdef(indexrelid, place, true) order by place) as columns
     from pg_index, generate_series(1, indnatts) as place group by 1`,
  );
  columnsOf = new Map(indexes.rows.map(({ name, columns }) => [name, columns]));
});
afterAll(async () => {
  await client.end();
  await world.close();
});

interface Case {
  readonly name: string;
  readonly orderBy: PageSelection['orderBy'];
  readonly field?: string;
  readonly comparison?: Comparison;
  /** Column by which an index has to lead to the rows, or to their order. */
  readonly sought?: string;
}

/** What a list of this kind may be asked for: each order both ways, each filter with each comparison that an index can serve. */
async function casesOf(module: EntityModule): Promise<Case[]> {
  const cases: Case[] = [{ name: 'no order', orderBy: [], sought: 'id' }];
  for (const field of new Set([...module.order, 'createdAt', 'updatedAt']))
    for (const direction of ['asc', 'desc'] as const) {
      const orderBy = [{ field, direction }];
      cases.push({ name: `order by ${field} ${direction}`, orderBy, sought: snakeCase(field) });
    }
  for (const field of new Set([...module.filter, 'createdAt', 'updatedAt']))
    for (const comparison of await comparisonsOf(module, field)) {
      const name = `${field} ${JSON.stringify(comparison)}`;
      // Where many records meet a filter, going through them in their order is less; and how many texts are less than another is
      // more than statistics can tell.
      const isTextRange = module.fields[field]?.type === 'text' && ('gt' in comparison || 'lt' in comparison);
      const isSelective =
        (await shareOf(module, field, comparison)) < ('eq' in comparison ? 0.5 : 0.0005) && !isTextRange;
      cases.push({ name, orderBy: [], field, comparison, ...(isSelective ? { sought: snakeCase(field) } : {}) });
    }
  return cases;
}

async function comparisonsOf(module: EntityModule, name: string): Promise<Comparison[]> {
  const field = module.fields[name];
  const column = snakeCase(name);
  if (field?.type === 'textList') return [{ has: 'word-4' }];
  const found = await client.query<{ low: unknown; middle: unknown; high: unknown }>(
    `select v[1] as low, v[2] as middle, v[3] as high from (
       select percentile_disc(array[0.0002, 0.5, 0.9998]) within group (order by ${column}) as v from ${module.table}
       where organization_id = $1 and ${column} is not null) as known`,
    [largeOrganization],
  );
  const { low, middle, high } = found.rows[0] ?? {};
  // No record has a value.
  if (middle === null) return [];
  const isOrdered =
    (!field && name !== 'organizationId') ||
    ['integer', 'decimal', 'date', 'timestamp'].includes(field?.type ?? '') ||
    module.order.includes(name);
  return [
    { eq: middle },
    { in: [low, middle] },
    ...(isOrdered ? [{ gt: high }, { lt: low }] : []),
    ...(field?.type === 'text' ? [{ startsWith: middle as string }] : []),
  ];
}

/** Orders, and filters by their comparison and the type of their field. */
const sortOf =
  ({ fields }: EntityModule) =>
  ({ name, field, comparison }: Case): string =>
    field === undefined ? name : `${Object.keys(comparison ?? {}).join()} of ${fields[field]?.type ?? field}`;

/** The part of the organization's rows that meet a comparison. */
async function shareOf(module: EntityModule, field: string, comparison: Comparison): Promise<number> {
  const [operator = '', operand] = Object.entries(comparison)[0] ?? [];
  const column = snakeCase(field);
  const conditions: Readonly<Record<string, string>> = {
    eq: `${column} = $2`,
    in: `${column} = any($2)`,
    gt: `${column} > $2`,
    lt: `${column} < $2`,
    startsWith: `starts_with(${column}, $2)`,
    has: `$2 = any(${column})`,
  };
  const found = await client.query<{ share: number }>(
    `select (count(*) filter (where ${conditions[operator]}))::float / count(*) as share from ${module.table} where organization_id = $1`,
    [largeOrganization, operand],
  );
  return found.rows[0]?.share ?? 0;
}

/** The statements that would answer: for a page, and for rows that are to be changed. */
function statementsOf(module: EntityModule, { orderBy, field, comparison }: Case, caller: Caller): Statement[] {
  const parts: PageSelection['parts'] = [
    { is: 'records', as: 'data', record: { module, parts: [...Object.keys(module.expose), 'id'].map(value) } },
    { is: 'pageInfo', as: 'page_info', parts: [{ is: 'hasNextPage', as: 'has_next_page' }] },
  ];
  const filter = field === undefined ? undefined : ({ is: 'field', field, comparison: comparison ?? {} } as const);
  const page = { module, orderBy, size: 50, from: 'first', parts, ...(filter ? { filter } : {}) } as const;
  const where = field === undefined ? {} : { where: { [field]: comparison ?? {} } };
  return [
    compilePage(page, caller, world.runtime.database.plans),
    compileRows(module, { ...where, orderBy, limit: 51 }, caller, world.runtime.database.plans),
  ];
}

const value = (field: string) => ({ is: 'value', as: field, field }) as const;

/** What of a plan is worse than it should be. */
function faultsOf(plan: PlanNode, module: EntityModule, sought: string | undefined): string[] {
  const tables = new Set(registry.modules.map(({ table }) => table));
  const scans = scansOf(plan);
  const whole = scans.flatMap(({ 'Node Type': type, 'Relation Name': table = '' }) =>
    type === 'Seq Scan' && tables.has(table) ? [`all of ${table} is read`] : [],
  );
  // Nodes of bitmaps name no table.
  const used = scans.flatMap(({ 'Relation Name': table, 'Index Name': index = '' }) =>
    index !== '' && (table ?? indexTable(index)) === module.table ? [index] : [],
  );
  const strange = used.filter((index) => !leads(module, columnsOf.get(index)?.[0] ?? ''));
  const isFound = used.some((index) => {
    const columns = columnsOf.get(index) ?? [];
    // By words the records themselves are found.
    return columns[0] === 'id' || columns.includes(sought ?? '') || hasFewPerOrganization(module);
  });
  return [
    ...whole,
    ...strange.map((index) => `${index} is used`),
    ...(sought === undefined || used.length === 0 || isFound
      ? []
      : [`no index leads by ${sought}, but ${used.join()}`]),
  ];
}

/** Tables are told apart by the longest name that an index begins with. */
function indexTable(index: string): string | undefined {
  const tables = registry.modules.map(({ table }) => table).filter((table) => index.startsWith(`${table}_`));
  return tables.toSorted((a, b) => b.length - a.length)[0];
}

/**
 * Whether an index that begins with this column leads to rows of the organization alone: ids are of one organization, and so
 * are the rows that refer to a record. A row-level security policy of its own (`rlsUsing`) allows more rows, which are adjacent only in the order of the list.
 */
function leads(module: EntityModule, column: string): boolean {
  if (column === 'organization_id' || column === 'id' || column.startsWith('tenant_words(')) return true;
  const field = Object.entries(module.fields).find(([name]) => snakeCase(name) === column)?.[1];
  return (
    field?.type === 'reference' || (module.rlsUsing !== undefined && ['created_at', 'updated_at'].includes(column))
  );
}

async function faultsOfAll(module: EntityModule, cases: readonly Case[]): Promise<string[]> {
  const faults: string[] = [];
  for (const wanted of cases)
    for (const [name, caller] of Object.entries(callers))
      for (const statement of statementsOf(module, wanted, caller)) {
        const plan = await planOf(world.runtime.database, caller, statement);
        // Where not all records are the caller's to see, they may be found by rights instead.
        const seesAll = mayAll(module.policy, caller, { kind: module.kind, operation: 'view' });
        const sought = seesAll ? wanted.sought : undefined;
        const found = faultsOf(plan, module, sought);
        faults.push(...found.map((fault) => `${module.kind}, ${wanted.name}, as ${name}: ${fault}`));
      }
  return faults;
}

describe('every declared filter and order uses an index, with row-level security', () => {
  test.each(kinds.map((module) => [module.kind, module] as const))('%s', async (_kind, module) => {
    const all = await casesOf(module);
    const cases = sampleOf(`indexes of ${module.kind}`, all, { by: [sortOf(module)] });
    expect(await faultsOfAll(module, cases)).toEqual([]);
    recordTried('filters and orders with a caller', cases.length * callerCount, all.length * callerCount);
  });

  test.each(depth === 'prove' ? kindsOfAllShapes.map((module) => [module.kind, module] as const) : [])(
    'so they are with as many rows of %s really there',
    async (_kind, module) => {
      await fillTables(client, [module], rows);
      expect(await faultsOfAll(module, await casesOf(module))).toEqual([]);
      recordTried('rows of a kind', rows);
      await fillTables(client, [module], rowsForStatistics);
      await pretendRows(client, module, rows);
    },
  );

  test('a missing index is noticed', async () => {
    await fillTables(client, [note], rowsForStatistics);
    await pretendRows(client, note, rows);
    await client.query('drop index notes_organization_id_created_at_id_index');
    const faults = await faultsOfAll(note, await casesOf(note));
    expect([...new Set(faults.map((fault) => /createdAt/.exec(fault)?.[0]))]).toEqual(['createdAt']);
  });
});

test('the sweep of exports finds those of all organizations that have expired by an index', async () => {
  const { rows: found } = await client.query<{ at: Date }>(
    'select percentile_disc(0.0002) within group (order by expires_at) as at from exports',
  );
  const where = { status: { eq: 'completed' }, expiresAt: { lte: found[0]?.at }, id: { gt: firstIdAt(new Date(0)) } };
  const caller = systemCaller('test');
  const statement = compileRows(exportKind, { where, limit: 100 }, caller, world.runtime.database.plans);
  const plan = await planOf(world.runtime.database, caller, statement, { role: 'system' });
  expect(scansOf(plan).flatMap(({ 'Index Name': index = [] }) => index)).toEqual(['exports_status_expires_at_index']);
});

describe(`with ${rowsToRead} tasks that are really there`, () => {
  let cases: Case[];
  beforeAll(async () => {
    await fillTables(client, [task], rowsToRead);
    cases = await casesOf(task);
  });

  test('the plans are no worse than those made from statistics', async () => {
    expect(await faultsOfAll(task, cases)).toEqual([]);
    recordTried('rows that are really there', rowsToRead, rows);
  });

  test('a page of an owner reads little more than its rows', async () => {
    const excessive: object[] = [];
    // How much of a smaller table a filter reads says nothing about a large one: the planner chooses other plans.
    const measured = depth === 'prove' ? cases : cases.filter(({ field }) => field === undefined);
    for (const { name, ...wanted } of measured) {
      const read = await readBy('owner', { name, ...wanted });
      // An order is there already. What meets a filter may have to be sorted, or to be looked for among what stands before it:
      // a hundredth of the organization at the most. Each task that has a word is looked up.
      const most =
        wanted.field === undefined ? { rows: 51, pages: 100 } : { rows: rowsToRead / 150, pages: rowsToRead / 150 };
      if (read.rows > most.rows || read.pages > most.pages) excessive.push({ name, ...read });
    }
    expect(excessive).toEqual([]);
  });

  test('a page of a member reads as much as the member has rights, not as much as the organization has tasks', async () => {
    const counted = await client.query<{ rights: number }>(
      'select count(*)::int as rights from tasks where organization_id = $1 and $2 in (assignee_id, assigner_id)',
      [largeOrganization, person.subjectId],
    );
    const { rights } = counted.rows[0] as { rights: number };
    expect(rights).toBe(rowsToRead / 1_000);
    const excessive: object[] = [];
    for (const wanted of cases) {
      const read = await readBy('member', wanted);
      if (read.rows > 6 * rights || read.pages > 12 * rights) excessive.push({ name: wanted.name, ...read });
    }
    expect(excessive).toEqual([]);
  });

  async function readBy(who: 'owner' | 'member', wanted: Case): Promise<{ rows: number; pages: number }> {
    const caller = callers[who] as Caller;
    const [page] = statementsOf(task, wanted, caller);
    const plan = await planOf(world.runtime.database, caller, page as Statement, { analyze: true });
    return { rows: rowsRead(plan), pages: pagesRead(plan) };
  }
});
