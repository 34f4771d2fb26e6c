import { Type } from 'typebox';
import type { Field, FieldUse } from '../declared-field.ts';
import { textList } from '../fields.ts';

/** A list of up to 100 domains of e-mail addresses, stored in lower case and as ASCII. Its default is the empty list. */
export function domainList(description: string, use: FieldUse<'filter'> = {}): Field<string[], false, true> {
  const [max, maxItems] = [253, 100];
  const schema = Type.Array(Type.String({ format: 'idn-hostname', minLength: 1, maxLength: max }), { maxItems });
  return { ...textList(description, { max, maxItems, ...use }), schema, holdsDomains: true };
}
