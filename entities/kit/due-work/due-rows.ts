import { forceIndexScans } from '../outbox/outbox.ts';
import type { Work } from '../storage/work.ts';
import type { Claim, ClaimRequest, DueItem, DueRows, DueWork } from './define-due-work.ts';

/** Owner of rows that belong to no organization. */
export const noOwner = '-';

/** Owner of rows that may belong to none. Below row-level security, PostgreSQL uses no index of an expression with `coalesce`. */
export const organizationOrNone = `case when organization_id is null then '${noOwner}' else organization_id end`;

/** Time for which work may be due before `npm run verify` reports it, in milliseconds. */
const overdueAfterMs = 15 * 60_000;

const maxCounted = 10_000;

/** Claims due work: row by row, unless it has a claim of its own. */
export function claimDueWork(work: Work, { rows, leaseMs, claim }: DueWork, request: ClaimRequest): Promise<Claim> {
  return claim ? claim(work, request, leaseMs) : claimRows(work, rows, leaseMs, request);
}

/**
 * Takes rows that are due, of each owner the same share. They are due again after the lease, so nothing is lost with the process that took
 * them. Concurrent claims take different rows.
 */
async function claimRows(
  work: Work,
  rows: DueRows,
  leaseMs: number,
  { limit, lane = noOwner, after }: ClaimRequest,
): Promise<Claim> {
  const now = work.clock.now();
  const session = await work.readAs('system');
  const [, { rows: found }] = await Promise.all([
    session.query(forceIndexScans),
    session.query<DueItem & { readonly owners: number; readonly last: string }>(claimStatement(rows), [
      now,
      new Date(now.getTime() + leaseMs),
      after,
      limit,
      lane,
    ]),
  ]);
  const [first] = found;
  if (!first) return { items: [], next: '', hasMore: after !== '' };
  const share = Math.max(1, Math.floor(limit / first.owners));
  const isFull = [...Map.groupBy(found, ({ owner }) => owner).values()].some((items) => items.length >= share);
  const next = first.owners < limit ? '' : first.last;
  return { items: found, next, hasMore: isFull || next !== after };
}

/**
 * Owners are found with a loose index scan, so that the backlog of one does not hide the others. A subquery with a limit is looked up for each
 * of them; `exists` would read all that is due.
 */
export function claimStatement({ table, key, owner, dueAt, waits, lane, columns = [] }: DueRows): string {
  const waiting = `${waits} and ${lane ?? `'${noOwner}'::text`} = $5`;
  return `
    with recursive owners as (
      (select ${owner} as owner from ${table} where ${waiting} and ${owner} > $3 order by 1 limit 1)
      union all
      select (select ${owner} from ${table} where ${waiting} and ${owner} > o.owner order by 1 limit 1) from owners o where o.owner is not null
    ),
    served as materialized (
      select o.owner from owners o
        cross join lateral (select 1 from ${table} where ${waiting} and ${owner} = o.owner and ${dueAt} <= $1 limit 1) as due
      where o.owner is not null limit $4
    ),
    due as materialized (
      select w.key, s.owner from served s cross join lateral (
        select ${key} as key from ${table} where ${waiting} and ${owner} = s.owner and ${dueAt} <= $1
        order by ${dueAt}, ${key} limit greatest(1, $4 / (select count(*) from served)) for update skip locked) as w
    ),
    claimed as (
      update ${table} held set ${dueAt} = $2 from due where held.${key} = due.key and ${waiting}
      returning due.key, due.owner, held.${dueAt} as "leasedUntil"${columns.map((column) => `, held.${column}`).join('')}
    )
    select c.*, (select count(*)::int from served) as owners, (select max(owner) from served) as last from claimed c`;
}

/**
 * Makes a row due at another time: now, when left out.
 * @param from the time is only changed if it is this one
 * @returns whether it was changed
 */
export async function wakeRow(
  work: Work,
  { rows: { table, key, dueAt, waits } }: DueWork,
  value: string,
  at = work.clock.now(),
  from?: Date,
): Promise<boolean> {
  const count = await work.runAsSystem(
    `update ${table} set ${dueAt} = $2 where ${key} = $1 and ${waits} and ($3::timestamptz is null or ${dueAt} = $3)`,
    [value, at, from ?? null],
  );
  return count === 1;
}

export interface WaitingRows {
  /** Null without lanes. */
  readonly lane: string | null;
  /** Rows that are due, and those whose time is to come; of all lanes together up to 10,000. */
  readonly due: number;
  readonly later: number;
  readonly oldestDueAt: Date | null;
}

export function readWaitingRows(work: Work, { rows }: DueWork): Promise<WaitingRows[]> {
  const { table, dueAt, waits, lane = 'null::text' } = rows;
  return work.rowsAsSystem<WaitingRows>(
    `select lane, count(*) filter (where at <= $1)::int as due, count(*) filter (where at > $1)::int as later,
       min(at) filter (where at <= $1) as "oldestDueAt"
     from (select ${lane} as lane, ${dueAt} as at from ${table} where ${waits} limit ${maxCounted}) as waiting group by lane order by lane`,
    [work.clock.now()],
  );
}

/**
 * Says when rows have been due for so long that nobody seems to claim them. Work with a claim of its own has a comparison of its own.
 * @param openLanes those that are not paused
 */
export async function overdueLines(
  work: Work,
  dueWork: DueWork,
  openLanes: readonly (string | undefined)[],
): Promise<string[]> {
  const { name, claim } = dueWork;
  if (claim) return [];
  const before = work.clock.now().getTime() - overdueAfterMs;
  return (await readWaitingRows(work, dueWork))
    .filter(({ lane }) => openLanes.includes(lane ?? undefined))
    .flatMap(({ lane, due, oldestDueAt }) =>
      oldestDueAt && oldestDueAt.getTime() <= before
        ? [
            `${lane === null ? name : `${name} (${lane})`}: ${due} are due, the oldest since ${oldestDueAt.toISOString()}`,
          ]
        : [],
    );
}
