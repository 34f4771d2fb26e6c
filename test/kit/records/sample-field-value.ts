import fc from 'fast-check';
import { Check } from 'typebox/value';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { newId } from '#entities/kit/base/ids.ts';

interface Limits {
  readonly pattern?: string;
  readonly format?: string;
  readonly examples?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Limits;
}

/** Integers and examples made so far. */
let made = 0;
/** Texts made for patterns so far. */
const madeTexts = new Set<string>();

/**
 * A value that a field takes, other than most defaults; a text is the only one of its sort, and integers differ as long as there are
 * others. Undefined for references, and for a text whose pattern and length nothing was found for.
 */
export function sampleValue({ type, schema, values, naming, momentOf }: Field, now: Date): unknown {
  if (naming !== undefined) return naming === 'kind' ? 'task' : ['createdAt'];
  const { pattern, format, minLength, maxLength, minimum = 0, maximum = 0, items, examples } = schema as Limits;
  switch (type) {
    case 'text':
      if (examples) return examples[made++ % examples.length];
      if (pattern !== undefined) return matching(pattern, (text) => Check(schema, text));
      if (format === 'email') return `${newId().toLowerCase()}@example.com`;
      return newId()
        .padStart(minLength ?? 0, '0')
        .slice(-(maxLength ?? 0));
    case 'textList':
      return [items?.format === 'uri' ? `https://example.com/${made++}` : 'word'.slice(0, items?.maxLength)];
    case 'choice':
      // Of some choices, not all values are taken yet.
      return examples?.at(-1) ?? values?.at(-1);
    case 'integer':
      return maximum - (made++ % Math.max(maximum - minimum, 1));
    case 'decimal':
      return `${1 + (made++ % 9)}.5`;
    case 'date':
      return now.toISOString().slice(0, 10);
    case 'boolean':
      return true;
    case 'timestamp':
      // Another field has to have a certain value.
      if (momentOf) return null;
      // Some records need a time to come.
      return new Date(now.getTime() + 3_600_000);
    case 'json':
      return examples?.[0] ?? {};
    case 'file':
    case 'reference':
    default:
      return undefined;
  }
}

/** Error that names the place for a sample value that does not follow from the definition of a field. */
export function noSampleValue(kind: string, name: string): Error {
  return new Error(
    `Let sampleValue in test/kit/records/sample-field-value.ts return a value of the field "${name}" of ${kind}.`,
  );
}

/**
 * A printable text with this pattern that meets a condition, if possible another one than before: in a unique key, a text that was
 * made twice would stand for the same record. Undefined when there was none among many.
 */
function matching(pattern: string, isRight: (text: string) => boolean): string | undefined {
  const right = texts(pattern).filter((text) => /^[ -~]*$/.test(text) && text.trim() === text && isRight(text));
  const chosen = right.find((text) => !madeTexts.has(text)) ?? right[0];
  if (chosen !== undefined) madeTexts.add(chosen);
  return chosen;
}

/** Texts with this pattern; none for a pattern with parts that fast-check cannot follow, such as lookaheads. */
function texts(pattern: string): string[] {
  try {
    return fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), 200);
  } catch (error) {
    if (error instanceof Error && error.message.includes('not implemented')) return [];
    throw error;
  }
}
