import type { EntityModule } from '../kit/model/define.ts';
import { pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';

interface EmailRow {
  readonly id: string;
  readonly key: string;
  readonly template: string;
  readonly status: string;
  readonly isOpen: boolean;
  readonly isOld: boolean;
  readonly hasContent: boolean;
}

/** E-mails that are to be sent have a workflow; of all others, the text is not kept. */
export function emailComparison({ table }: EntityModule): Comparison {
  return {
    name: `state of ${table}`,
    first: [''],
    page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
      const rows = await work.rowsAsSystem<EmailRow>(
        `select id, key, template, status, deleted_at is null and status in ('pending', 'sending', 'waiting') as "isOpen",
           updated_at <= $3 as "isOld", content is not null as "hasContent"
         from ${table} where id > $1 order by id limit $2`,
        [...after, limit, new Date(work.clock.now().getTime() - graceMs)],
      );
      const nameOf = ({ id, template }: EmailRow) => `e-mail ${id} (${template})`;
      return {
        lines: rows
          .filter(({ status, hasContent }) => hasContent && !['pending', 'sending', 'waiting'].includes(status))
          .map((row) => `${nameOf(row)} is ${row.status}, but its text is still kept`),
        expected: rows
          .filter(({ isOpen, isOld }) => isOpen && isOld)
          .map((row) => ({ of: 'email', key: row.key, claim: `${nameOf(row)} is ${row.status}` })),
        ...pageOf(rows, limit, ({ id }) => [id]),
      };
    },
  };
}
