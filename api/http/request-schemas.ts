import { Type } from 'typebox';
import { idPattern } from '#entities/kit/base/ids.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';

/** A malformed id is refused where it is read, in words that say how to find the id. */
export const idText = { type: 'string', maxLength: 100, [describedKeyword]: { pattern: idPattern.source } } as const;

/** Characters that show nothing, and those that end a line (`isVisible`, `hasLineBreak`), as far as patterns can express it. */
const blank = String.raw`\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb`;
const ends = String.raw`\u0000\n\v\f\r\u0085\u2028\u2029`;
const line = `[^${ends}]*[^${blank}][^${ends}]*`;

/** Patterns of a text that shows something, of one in one line, and of one in one line that can be empty. */
export const visibleText = String.raw`^[^\u0000]*[^${blank}][^\u0000]*$`;
export const visibleLine = `^${line}$`;
export const optionalLine = `^(${line})?$`;

export const idSchema = (description: string) => Type.Unsafe<string>({ ...idText, description });

/** A day, which begins in UTC, or an instant (`parseDayOrInstant`). */
export const dayOrInstant = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 40,
    [describedKeyword]: {
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
      ],
    },
    description,
  });

export const EmailSchema = Type.String({
  format: 'email',
  minLength: 3,
  maxLength: 254,
  description: 'E-mail address.',
});

export const MessageSchema = Type.Object(
  {
    message: Type.String({ description: 'Result, as text for people.' }),
  },
  { title: 'Message', description: 'Result.' },
);

/** Expected record version of a change or a deletion. */
export const versionSchema = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Expected record version; if the record has another version, the request fails with stale_record.',
  }),
);
