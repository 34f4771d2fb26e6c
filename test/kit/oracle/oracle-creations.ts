import { registry } from '#entities/index.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { NewOracleRecord } from './oracle-model.ts';

/** A record that is to be created, with tasks below it. */
export type Created = NewOracleRecord & { readonly below: readonly Created[] };

/** A record and all that is below it, parents first. */
export function withBelow(root: Created): Created[] {
  return [root, ...root.below.flatMap((one) => withBelow(one))];
}

type DataCreation = Parameters<DataClient['createAll']>[0][number];

/** The same for the product. */
export function creationOf({ kind, id, values, below }: Created): DataCreation {
  return {
    module: registry.byKind(kind),
    input: { ...values, id },
    path: '',
    children: below.map((one) => ({ field: 'parentId', creation: creationOf(one) })),
  };
}

export function printed(made: readonly NewOracleRecord[]): string {
  return made.map(({ id, values }) => `${id} ${JSON.stringify(values)}`).join(', ');
}
