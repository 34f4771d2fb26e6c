import { snakeCase } from '../kit/base/snake-case.ts';
import { proposalKindOf } from '../kit/model/derived/proposal.ts';
import { linesOf, pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';

interface InstanceRow {
  readonly id: string;
  readonly recordKind: string;
  readonly proposalId: string | null;
  readonly isExpected: boolean;
}

/** Compares instances of workflow definitions with their status, their assignments and their proposals, and expects a workflow of each open one. */
export const instanceComparison: Comparison = {
  name: 'instances of workflow definitions',
  first: [''],
  page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    // Contents of deleted organizations are removed in any order.
    const { rows } = await session.query<InstanceRow>(
      `select i.id, i.record_kind as "recordKind", i.proposal_id as "proposalId",
         i.ended_at is null and i.updated_at < $3 as "isExpected"
       from workflow_instances i join organizations o on o.id = i.organization_id and o.deleted_at is null
       where i.id > $1 and i.deleted_at is null order by i.id limit $2`,
      [...after, limit, new Date(work.clock.now().getTime() - graceMs)],
    );
    const ids = rows.map(({ id }) => id);
    const lines = await linesOf(
      session,
      [
        `select format('instance %s has the status %s and %s', id, status, case when ended_at is null then 'no end' else 'has ended' end) as line
         from workflow_instances where id = any($1)
           and (status in ('completed', 'rejected', 'cancelled')) <> (ended_at is not null)`,
        `select format('assignment %s is pending, but its instance %s has ended', a.id, i.id) as line
         from workflow_assignments a join workflow_instances i on i.id = a.instance_id
         where i.id = any($1) and i.ended_at is not null and a.deleted_at is null and a.status = 'pending'`,
      ],
      [ids],
    );
    for (const [kind, own] of Map.groupBy(rows, ({ recordKind }) => recordKind)) {
      const held = own.filter(({ proposalId }) => proposalId !== null).map(({ id }) => id);
      const proposals = work.registry.modules.find((module) => module.kind === proposalKindOf({ kind }));
      if (held.length === 0 || !proposals) continue;
      // A record takes its proposals with it.
      lines.push(
        ...(await linesOf(
          session,
          `select format('${snakeCase(kind)} proposal %s is %s, but its instance %s is %s', p.id, p.status, i.id, i.status) as line
           from workflow_instances i join "${proposals.table}" p on p.id = i.proposal_id and p.deleted_at is null
           where i.id = any($1) and ((p.status in ('draft', 'submitted') and i.ended_at is not null)
             or (p.status in ('rejected', 'withdrawn') and i.ended_at is null))`,
          [held],
        )),
      );
    }
    return {
      lines,
      expected: rows
        .filter(({ isExpected }) => isExpected)
        .map(({ id }) => ({ of: 'instance' as const, key: id, claim: `instance ${id} is open` })),
      ...pageOf(rows, limit, ({ id }) => [id]),
    };
  },
};
