import type { DatabaseOptions } from '../access/database-options.ts';
import { inputError } from '../base/input-error.ts';
import { openSecret, sealSecret } from '../base/sealed-secret.ts';
import type { EntityModule } from '../model/define.ts';

type Row = Readonly<Record<string, unknown>>;
type Keys = Pick<DatabaseOptions, 'encryptionSecrets'>;

/** Values of a record with its sealed fields encrypted. Each belongs to the field and the record: in another place it does not open. */
export async function withSealedValues(keys: Keys, module: EntityModule, id: string, values: Row): Promise<Row> {
  const given = Object.entries(values).filter(
    (entry): entry is [string, string] => module.fields[entry[0]]?.isSealed === true && typeof entry[1] === 'string',
  );
  if (given.length === 0) return values;
  const sealed = await Promise.all(
    given.map(async ([name, text]): Promise<[string, string]> => [
      name,
      await sealSecret(text, sealing(keys, module, id, name)),
    ]),
  );
  return { ...values, ...Object.fromEntries(sealed) };
}

/**
 * The text of a sealed field, for work of the server.
 * @returns with whether the newest key encrypted it
 * @throws Error when no configured key opens it
 */
export function openSealedValue(
  keys: Keys,
  module: EntityModule,
  row: Row,
  field: string,
): Promise<{ readonly secret: string; readonly isCurrent: boolean }> {
  return openSecret(row[field] as string, sealing(keys, module, row['id'] as string, field));
}

/** What sealed fields have in a deleted record: the secret is gone with it. */
export function erasedSecrets({ fields }: EntityModule): Row {
  const sealed = Object.keys(fields).filter((name) => fields[name]?.isSealed);
  return Object.fromEntries(sealed.map((name) => [name, fields[name]?.optional ? null : '']));
}

/** One secret given to many records would be one text in many places. @throws AppError invalid_input */
export function refuseSecretForMany(module: EntityModule, values: Row): void {
  const problems = Object.keys(values)
    .filter((name) => module.fields[name]?.isSealed)
    .map((name) => ({ path: `/${name}`, message: 'is a secret of one record; change one record' }));
  if (problems.length > 0) throw inputError(problems);
}

function sealing({ encryptionSecrets }: Keys, { kind }: EntityModule, id: string, field: string) {
  return { secrets: encryptionSecrets(), purpose: 'record-secret', subject: `${kind}.${field} ${id}` } as const;
}
