import type { DatabaseOptions } from '../access/database-options.ts';
import { inputError } from '../base/input-error.ts';
import { onceForEach } from '../base/once-for-each.ts';
import { openSecret, sealSecret } from '../base/secrets/sealed-secret.ts';
import type { EntityModule } from '../model/define.ts';

type Row = Readonly<Record<string, unknown>>;
type Keys = Pick<DatabaseOptions, 'encryptionSecrets'>;

const sealedFieldsOf = onceForEach(({ fields }: EntityModule): readonly string[] =>
  Object.keys(fields).filter((name) => fields[name]?.isSealed),
);

/** Values of a record with its sealed fields encrypted. Each belongs to the field and the record: in another place it does not open. */
export async function withSealedValues(keys: Keys, module: EntityModule, id: string, values: Row): Promise<Row> {
  const given = sealedFieldsOf(module).filter((name) => typeof values[name] === 'string');
  if (given.length === 0) return values;
  const sealed = await Promise.all(
    given.map(async (name): Promise<[string, string]> => [
      name,
      await sealSecret(values[name] as string, sealingOf(keys, module, id, name)),
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
  return openSecret(row[field] as string, sealingOf(keys, module, row['id'] as string, field));
}

/** Values of sealed fields in a deleted record: the secret is gone with it. */
export const erasedSecrets = onceForEach((module: EntityModule): Row =>
  Object.fromEntries(sealedFieldsOf(module).map((name) => [name, module.fields[name]?.optional ? null : ''])),
);

/** One secret given to many records would be one text in many places. @throws AppError invalid_input */
export function refuseSecretForMany(module: EntityModule, values: Row): void {
  const problems = sealedFieldsOf(module)
    .filter((name) => Object.hasOwn(values, name))
    .map((name) => ({ path: `/${name}`, message: 'is a secret of one record; change one record' }));
  if (problems.length > 0) throw inputError(problems);
}

export function sealingOf({ encryptionSecrets }: Keys, { kind }: EntityModule, id: string, field: string) {
  return { secrets: encryptionSecrets(), purpose: 'record-secret', subject: `${kind}.${field} ${id}` } as const;
}
