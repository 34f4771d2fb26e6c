import { Type } from 'typebox';
import { idPattern } from '#entities/kit/base/ids.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';

/** A malformed id is refused where it is read, in words that say how to find the id. */
export const idText = { type: 'string', maxLength: 100, [describedKeyword]: { pattern: idPattern.source } } as const;

/** Pattern of a text with a character besides white space. */
export const visibleText = String.raw`^[^\u0000]*[^\s\u0000][^\u0000]*$`;

export const idSchema = (description: string) => Type.Unsafe<string>({ ...idText, description });

export const EmailSchema = Type.String({
  format: 'email',
  minLength: 3,
  maxLength: 254,
  description: 'E-mail address.',
});

export const MessageSchema = Type.Object(
  {
    message: Type.String({ description: 'What happened, as text for people.' }),
  },
  { title: 'Message', description: 'What happened.' },
);
