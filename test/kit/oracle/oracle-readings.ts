import { registry } from '#entities/index.ts';
import type { OracleKind, OracleRecord } from './oracle-model.ts';
import type { OracleOperation, OracleWorld } from './oracle-operation.ts';
import type { Acting } from './oracle-rights.ts';

/** More than a sequence makes of a kind. */
const wholeList = 1_000;

/** Somebody lists all records of a kind: those that they may see, and no others. */
export function listOf(
  { model, rules }: Pick<OracleWorld, 'model' | 'rules'>,
  acting: Acting,
  kind: OracleKind,
  named: (text: string) => string,
): Omit<OracleOperation, 'acting' | 'says'> {
  const module = registry.byKind(kind);
  const visible = model
    .live(kind)
    .filter((record) => rules.may(acting, 'view', record))
    // One's own memberships elsewhere are a list of their own.
    .filter(({ organizationId }) => kind !== 'membership' || organizationId === acting.organizationId)
    .map(({ id }) => id);
  return {
    sort: `lists ${kind}`,
    problems: rules.nowhere(acting, kind),
    run: ({ answers }) =>
      answers.page({
        module,
        orderBy: [],
        size: wholeList,
        from: 'first',
        parts: [
          { is: 'records', as: 'records', record: { module, parts: [{ is: 'value', as: 'id', field: 'id' }] } },
          { is: 'totalCount', as: 'count' },
        ],
      }),
    disagreement: (answer) => {
      const { records, count } = answer as { readonly records: readonly { id: string }[]; readonly count: number };
      const listed = new Set(records.map(({ id }) => id));
      const wrong = [
        ...visible.filter((id) => !listed.has(id)).map((id) => `${id} is missing`),
        ...[...listed].filter((id) => !visible.includes(id)).map((id) => `${id} is shown`),
        ...(count === visible.length ? [] : [`the count is ${count} instead of ${visible.length}`]),
      ];
      return wrong.length === 0 ? undefined : named(wrong.join(', '));
    },
  };
}

/** Somebody looks one record up. */
export function readingOf(
  { rules }: Pick<OracleWorld, 'rules'>,
  acting: Acting,
  record: OracleRecord,
): Omit<OracleOperation, 'acting' | 'says'> {
  const isVisible = rules.may(acting, 'view', record);
  return {
    sort: `reads ${record.kind}`,
    problems: [],
    run: (data) => data.findOne(registry.byKind(record.kind) as never, { id: { eq: record.id } }),
    disagreement: (answer) =>
      (answer !== undefined) === isVisible ? undefined : `it is ${isVisible ? 'hidden from' : 'shown to'} them`,
  };
}
