import { Type } from 'typebox';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** Schema of `heldIn`. */
export const heldSchema = Type.Array(
  Type.Object({
    field: Type.String({ description: 'Name of the field.' }),
    message: Type.String({ description: 'The reason, as text for people.' }),
  }),
  { description: 'Fields of the change that are held: they keep their values for now. All others are written.' },
);

/** Fields of these records that their change has not written. */
export function heldIn(ids: readonly string[], { data }: UnitOfWork) {
  return data.heldOf(ids).map(({ field, message }) => ({ field: snakeCase(field), message }));
}
