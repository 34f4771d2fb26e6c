import { Type } from 'typebox';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import type { Call } from '../../http/route.ts';

/** `*`, or entity tags separated by commas (RFC 9110, section 13.1.1). */
const entityTags = String.raw`^(\*|(W/)?"[\x21\x23-\x7e]*"([ \t]*,[ \t]*(W/)?"[\x21\x23-\x7e]*")*)$`;

/** Headers of changes that can name the version on which they are based. */
export const ifMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1_000,
      [describedKeyword]: { pattern: entityTags },
      description:
        'Entity tags of the versions on which the change may be based, or *; if the record has another version, the request fails with precondition_failed.',
    }),
  ),
});

/** The versions on which the change may be based, as the request names them; undefined if it names none. */
export function ifMatch({ request }: Call<unknown>): string | undefined {
  return request.headers['if-match'];
}
