import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { ChangedBy, OracleRecord } from './oracle-model.ts';
import type { OracleOperation } from './oracle-operation.ts';
import { codeOf } from './oracle-rules.ts';

interface HowMany {
  readonly verb: 'updates' | 'deletes';
  readonly problemsOf: (record: OracleRecord) => readonly string[];
  readonly isChange: (record: OracleRecord) => boolean;
  readonly run: (data: DataClient, ids: readonly string[]) => Promise<unknown>;
  readonly apply: (allowed: readonly OracleRecord[], by: ChangedBy) => void;
  readonly named: (text: string) => string;
}

/** The same change of several records. Records that may not be changed are left out; in an archived organization, a change refuses all. */
export function ofMany(
  records: readonly OracleRecord[],
  { verb, problemsOf, isChange, run, apply, named }: HowMany,
): Omit<OracleOperation, 'acting' | 'says'> {
  const archived = 'organization_archived';
  const nowhere = 'no_current_organization';
  const found = records.map((record) => ({ record, problems: problemsOf(record) }));
  const isArchived = found.some(({ problems }) => problems.includes(archived));
  const own = found.map(({ record, problems }) => ({ record, problems: problems.filter((code) => code !== archived) }));
  const allowed = own.filter(({ problems }) => problems.length === 0).map(({ record }) => record);
  const ids = records.map(({ id }) => id);
  return {
    sort: `${verb} many of ${records[0]?.kind}`,
    problems: [
      ...(isArchived && allowed.some(isChange) ? [archived] : []),
      ...(found.some(({ problems }) => problems.includes(nowhere)) ? [nowhere] : []),
    ],
    run: (data) => run(data, ids),
    disagreement: (answer) => {
      const { refused } = answer as { readonly refused: readonly { readonly id: string; readonly code: string }[] };
      const codes = new Map(refused.map(({ id, code }) => [id, code]));
      const wrong = own.flatMap(({ record: { id }, problems }) => {
        const code = codes.get(id);
        const isRight = code === undefined ? problems.length === 0 : problems.map(codeOf).includes(code);
        return isRight ? [] : [`${id}: ${code ?? 'changed'} instead of ${problems.join(' or ') || 'changed'}`];
      });
      return wrong.length === 0 ? undefined : named(wrong.join('; '));
    },
    apply: (by) => apply(allowed, by),
  };
}
