import { Type } from 'typebox';
import type { Call } from '../../http/route.ts';

/** Headers of changes that can name the version on which they are based. */
export const ifMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1_000,
      description:
        'Entity tags of the versions on which the change may be based, or *; if the record has another version, the request fails with precondition_failed.',
    }),
  ),
});

/** The versions on which the change may be based, as the request names them; undefined if it names none. */
export function ifMatch({ request }: Call<unknown>): string | undefined {
  return request.headers['if-match'];
}
