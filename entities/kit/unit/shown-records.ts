import { snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from '../model/define.ts';
import { answeredFields } from '../model/exposure.ts';
import type { RecordJson } from './answers.ts';
import type { DataClient } from './data-client.ts';

/**
 * Those of these records that the caller can view, by id, with the names of REST. Files are left out: their URLs need credentials.
 * One statement.
 */
export async function shownRecords(
  data: DataClient,
  module: EntityModule,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecordJson>> {
  const parts = answeredFields(module)
    .filter((field) => module.fields[field]?.type !== 'file')
    .map((field) => ({ is: 'value', as: snakeCase(field), field, words: 'stored' }) as const);
  const records = await data.answers.records({ module, parts }, ids);
  return new Map(records.map((record) => [record['id'] as string, record]));
}
