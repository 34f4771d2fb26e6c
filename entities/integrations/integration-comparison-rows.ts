import { linesOf, pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';

interface IntegrationRow {
  readonly id: string;
  /** Operations that its loops have repeated; empty while none is expected. */
  readonly looped: readonly string[];
  /** Open runs that a workflow of their own makes. */
  readonly open: readonly string[];
}

/** Compares integrations with their runs, and expects a workflow of each loop and of each open run that no loop makes. */
export const integrationComparison: Comparison = {
  name: 'integrations',
  first: [''],
  page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    // Contents of deleted organizations are removed in any order.
    const { rows } = await session.query<IntegrationRow>(
      `select i.id,
         array(select distinct r.operation_name from integration_runs r
           where i.status = 'connected' and i.next_sync_at is not null and i.updated_at < $3
             and r.integration_id = i.id and r.trigger = 'schedule' and r.deleted_at is null) as looped,
         array(select r.id from integration_runs r where r.integration_id = i.id and r.trigger <> 'schedule'
           and r.status in ('pending', 'running') and r.updated_at < $3 and r.deleted_at is null) as open
       from integrations i join organizations o on o.id = i.organization_id and o.deleted_at is null
       where i.id > $1 and i.deleted_at is null order by i.id limit $2`,
      [...after, limit, new Date(work.clock.now().getTime() - graceMs)],
    );
    const lines = await linesOf(
      session,
      [
        `select format('integration run %s is %s and %s', id, status, case when ended_at is null then 'has no end' else 'has ended' end) as line
         from integration_runs where integration_id = any($1) and deleted_at is null
           and (status in ('succeeded', 'failed', 'cancelled')) <> (ended_at is not null)`,
        `select format('integration run %s is %s, but its pass over the directory is %s', r.id, r.status, p.status) as line
         from integration_runs r join directory_sync_runs p on p.run_id = r.id and p.deleted_at is null
         where r.integration_id = any($1) and r.deleted_at is null and (r.ended_at is null) <> (p.ended_at is null)`,
        `select format('integration run %s has ended and still keeps what it has seen', r.id) as line
         from integration_runs r where r.integration_id = any($1) and r.ended_at is not null
           and exists (select 1 from integration_sightings s where s.run_id = r.id)`,
      ],
      [rows.map(({ id }) => id)],
    );
    return {
      lines,
      expected: rows.flatMap(({ id, looped, open }) => [
        ...looped.map((operation) => ({
          of: 'loop' as const,
          key: `${id}/${operation}`,
          claim: `integration ${id} is connected and repeats ${operation}`,
        })),
        ...open.map((run) => ({ of: 'run' as const, key: run, claim: `integration run ${run} is open` })),
      ]),
      ...pageOf(rows, limit, ({ id }) => [id]),
    };
  },
};
