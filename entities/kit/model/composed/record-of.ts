import { idPattern } from '../../base/ids.ts';
import type { Field, FieldUse } from '../declared-field.ts';
import { choice, text } from '../fields.ts';
import { snakeCase } from '../../base/snake-case.ts';

type RecordOf<Name extends string, Kind extends string> = {
  readonly [N in `${Name}Kind`]: Field<Kind, true, false>;
} & {
  readonly [N in `${Name}Id`]: Field<string, true, false>;
};

/**
 * The two fields of a reference to a record of one of several kinds: its kind and its id. Both have a value, or none has. There is no
 * foreign key: the record may be deleted, and the rule `aboutHidden` then hides what refers to it.
 * @param kinds names of the kinds
 */
export function recordOf<const Name extends string>(
  name: Name,
  description: string,
  kinds: readonly [string, ...string[]],
  use: FieldUse = {},
): RecordOf<Name, string> {
  const kindIn = `${name}Kind`;
  const [first, ...others] = kinds.map((kind) => snakeCase(kind)) as [string, ...string[]];
  const fields = {
    [kindIn]: {
      ...choice(`Kind of the record in \`${name}Id\`.`, [first, ...others], {
        optional: true,
        immutable: true,
        ...use,
      }),
      pairedWith: `${name}Id`,
    },
    [`${name}Id`]: {
      ...text(description, { max: 26, pattern: idPattern, optional: true, immutable: true, ...use }),
      anyOf: { kindIn, kinds },
      pairedWith: kindIn,
    },
  };
  return fields as unknown as RecordOf<Name, string>;
}
