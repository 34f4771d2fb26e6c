import { didYouMean } from './did-you-mean.ts';
import { idHint } from './id-hint.ts';
import { idPattern } from './ids.ts';
import { isDay, missingDay, parseInstant } from './instant.ts';
import { shortened } from './shortened.ts';

/** An error of a JSON Schema validator. */
export interface SchemaProblem {
  readonly keyword: string;
  /** Where in the value, as a JSON pointer. */
  readonly instancePath: string;
  readonly params: object;
  readonly message?: string | undefined;
}

/** Facts about the value with the problem. */
interface ProblemContext {
  /** Description of the value; it explains a pattern in words. */
  readonly description?: string | undefined;
  readonly value?: unknown;
  /** Format of the value, which says more than its type. */
  readonly format?: string | undefined;
  /** The message says nothing about the value. */
  readonly isSecret?: boolean;
}

interface Params {
  readonly pattern?: string;
  readonly limit?: number;
  readonly format?: string;
  readonly type?: string | readonly string[];
  readonly allowedValues?: readonly (string | null)[];
}

/** Expectations of a value, by the types and formats of JSON Schema. */
const expectations: Readonly<Record<string, string>> = {
  string: 'must be a text',
  integer: 'must be a whole number',
  number: 'must be a number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
  'date-time': 'must be a timestamp such as 2026-01-31T12:00:00Z',
  date: 'must be a day such as 2026-01-31',
  decimal: 'must be a decimal number as a text, such as "12.50"',
  uri: 'must be a URL with http or https, such as https://example.com/path',
  'idn-hostname': 'must be a domain such as example.com',
  email: 'must be an e-mail address such as name@example.com',
};

/** Expectation of a value, as the end of a sentence about its field. @param type a type or a format of JSON Schema */
export function expectation(type: string): string {
  return expectations[type] ?? `must match format "${type}"`;
}

/** Expectation of a value, its actual form, and the way to write the probable meaning. @param type a type or a format of JSON Schema */
export function mismatch(type: string, value: unknown): string {
  const hint = typeof value === 'string' ? (hints[type]?.(value) ?? '') : '';
  return `${inQuotes(type, value)}${found(value)}${hint}`;
}

/** Expectation of a value, with the advice to write a number that was sent for a text in quotes. */
function inQuotes(type: string, value: unknown): string {
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  return `${expectation(type)}${type === 'string' && isPlain ? ', in quotes' : ''}`;
}

const hints: Readonly<Record<string, (text: string) => string>> = {
  date: dayHint,
  'date-time': timestampHint,
  integer: plainHint(/^-?(?:0|[1-9]\d*)$/),
  number: plainHint(/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/),
  boolean: plainHint(/^(?:true|false)$/),
};

/** Longer numbers are none that every client writes exactly. */
const maxHintLength = 15;

/** For texts of what is written without quotes. */
function plainHint(pattern: RegExp): (text: string) => string {
  return (text) => (text.length <= maxHintLength && pattern.test(text) ? `. Write it without quotes: ${text}` : '');
}

function dayHint(text: string): string {
  const day = missingDay(text);
  return day === undefined ? '' : `. The calendar has no ${day}`;
}

function timestampHint(text: string): string {
  const noDay = dayHint(text);
  if (noDay !== '') return noDay;
  if (isDay(text)) return `. A timestamp has a time, too: "${text}T00:00:00Z" is the beginning of that day in UTC`;
  return parseInstant(`${text}Z`) ? '. It names no time zone: add Z for UTC, or its offset' : '';
}

/** The end of a message that names the value that was sent. Long values are shortened. */
export function found(value: unknown): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return '; it is a list';
  if (typeof value === 'object' && value !== null) return '; it is an object';
  return `; it is ${JSON.stringify(typeof value === 'string' ? shortened(value) : value)}`;
}

/** Longer lists of constants begin with the one that is meant: their end may not be shown. */
const maxPlainChoice = 12;

/** @param wrong that is none of the values */
export function oneOf(values: readonly string[], wrong?: unknown): string {
  const isLong = values.length > maxPlainChoice && typeof wrong === 'string';
  const near = isLong ? didYouMean(wrong, values) : undefined;
  return near === undefined
    ? `must be one of ${values.join(', ')}`
    : `must be another value (did you mean "${near}"?): one of ${values.join(', ')}`;
}

/** The message for a field that is missing. @param values constants of which its value is one */
export function required(values: readonly (string | null)[] = []): string {
  const named = values.filter((value) => value !== null);
  return named.length > 0 && named.length <= maxPlainChoice ? `is required: one of ${named.join(', ')}` : 'is required';
}

/** The error as the end of a sentence about the value: what it must be, and what it is. */
export function schemaMessage(
  problem: SchemaProblem,
  { description, value, format: valueFormat = '', isSecret }: ProblemContext = {},
): string {
  const { keyword, message } = problem;
  const { pattern, limit = 0, format = '', type = '', allowedValues = [] } = problem.params as Params;
  const sent = isSecret ? '' : found(value);
  const mismatched = (expected: string) => (isSecret ? inQuotes(expected, value) : mismatch(expected, value));
  const count = (unit: string) => `${limit} ${unit}${limit === 1 ? '' : 's'}`;
  const length = isSecret || !isSized(value) ? '' : `; it has ${value.length}`;
  switch (keyword) {
    case 'type':
      if (value === null) return 'must not be empty';
      return mismatched(
        Object.hasOwn(expectations, valueFormat) ? valueFormat : ([type].flat().find((name) => name !== 'null') ?? ''),
      );
    case 'format':
      return mismatched(format);
    case 'enum':
      return (
        oneOf(
          allowedValues.filter((allowed) => allowed !== null),
          isSecret ? undefined : value,
        ) + sent
      );
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${count('character')}${length}`;
    case 'maxLength':
      return `must have at most ${count('character')}${length}`;
    case 'minItems':
      return `must have at least ${count('item')}${length}`;
    case 'maxItems':
      return `must have at most ${count('item')}${length}`;
    case 'minimum':
      return `must be at least ${limit}${sent}`;
    case 'maximum':
      return `must be at most ${limit}${sent}`;
    case 'pattern':
      if (pattern === idPattern.source) return isSecret ? 'is not an id' : notAnId(value);
      if (description) return `does not have the required format: ${description.replace(/\.$/, '')}${sent}`;
      return `does not have the required format${sent}`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'minProperties':
      return `must have at least ${count('field')}`;
    case 'maxProperties':
      return `must have at most ${count('field')}`;
    case '~refine':
      // A check of a field, which has words of its own.
      return message ?? 'is not valid';
    default:
      // The text of the validator is about its schema, which callers do not see.
      return description ? `is not valid: ${description.replace(/\.$/, '')}${sent}` : `is not valid${sent}`;
  }
}

/**
 * Problem of a value that is no id, as the end of a sentence about its field.
 * @param prefixes of the display ids of the kinds whose ids are expected; without them, of all kinds
 */
export function notAnId(value: unknown, prefixes?: readonly string[]): string {
  const hint = typeof value === 'string' ? idHint(value, prefixes) : '';
  return `is not an id${found(value)}${hint === '' ? '' : `.${hint}`}`;
}

function isSized(value: unknown): value is { readonly length: number } {
  return typeof value === 'string' || Array.isArray(value);
}
