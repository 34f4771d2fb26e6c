import type { Field } from './field.ts';
import { isPlainObject } from './is-plain-object.ts';

const maxLength = 120;

/** A text in quotes, truncated, on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);
}

const urlShape = /^(?<scheme>[A-Za-z][\w+.-]*:\/\/)(?<name>[^:@/?#]*)(?:(?<password>.*)@)?(?<tail>[^@]*)$/su;

/**
 * A URL with a masked password. Everything up to the last `@` is treated as the password, because a password that is not percent-encoded
 * can contain any character. An invalid URL without `@` is truncated after its first name, because the rest may be a password. A text that
 * is not a URL is hidden.
 */
function maskUrl(text: string, isValid: boolean): string {
  if (text === '') return quote(text);
  const match = urlShape.exec(text)?.groups;
  if (match === undefined) return '(hidden)';
  const beginning = (match.scheme ?? '') + (match.name ?? '');
  if (match.password === undefined && !isValid) return quote(`${beginning}…`);
  const user = match.password === undefined ? '' : `${match.password === '' ? '' : ':***'}@`;
  const tail = (match.tail ?? '').replaceAll(/(?<=[?&][^=&]*(?:pass|secret|key|token)[^=&]*=)[^&]*/giu, '***');
  return quote(beginning + user + tail);
}

/** The value of a field for messages: secrets masked, long texts truncated, on one line. */
export function showValue(field: Field, value: unknown): string {
  switch (field.type) {
    case 'text': {
      if (typeof value !== 'string') return typeof value;
      if (field.secret === 'value') return value === '' ? '""' : '(hidden)';
      const isValid = field.format?.check(value) === undefined;
      return field.secret === 'url' || /^[A-Za-z][\w+.-]*:\/\/.*@/su.test(value)
        ? maskUrl(value, isValid)
        : quote(value);
    }
    case 'list':
      return Array.isArray(value) ? `[${value.map((item) => showValue(field.items, item)).join(', ')}]` : typeof value;
    case 'map':
      return showEntries(value, () => field.values);
    case 'object':
      return showEntries(value, (key) => (Object.hasOwn(field.fields, key) ? field.fields[key] : undefined));
    case 'any':
    case 'empty':
      return value === undefined ? 'unset' : '(a value)';
    case 'integer':
    case 'flag':
    case 'text-or-integer':
      return JSON.stringify(value) ?? 'unset';
  }
}

function showEntries(value: unknown, fieldOf: (key: string) => Field | undefined): string {
  if (!isPlainObject(value)) return typeof value;
  const entries = Object.entries(value).map(([key, item]) => {
    const field = fieldOf(key);
    return `${key}: ${field === undefined ? '(hidden)' : showValue(field, item)}`;
  });
  return `{${entries.join(', ')}}`;
}
