import { Type } from 'typebox';
import type { Field } from '../declared-field.ts';
import { textList, type TextListOptions } from '../fields.ts';

/** A list of up to `maxItems` URLs with http or https, of up to `max` characters. Its default is the empty list. */
export function urlList(description: string, options: TextListOptions): Field<string[], false, true> {
  const { max, maxItems } = options;
  const schema = Type.Array(Type.String({ format: 'uri', minLength: 1, maxLength: max }), { maxItems });
  return { ...textList(description, options), schema, holdsUrls: true };
}

/** Whether a text is a URL that a browser opens: those of other schemes, such as `javascript:`, can do harm as links. */
export function isWebUrl(text: unknown): boolean {
  return typeof text === 'string' && /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}
