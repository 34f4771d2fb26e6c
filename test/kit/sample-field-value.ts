import type { Field } from '#entities/kit/model/fields.ts';
import { newId } from '#entities/kit/base/ids.ts';

interface Limits {
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maximum?: number;
}

/** A value that a field takes, other than most defaults; a text is the only one of its sort. Undefined where it cannot be guessed. */
export function sampleValue({ type, schema, values }: Field, now: Date): unknown {
  const { pattern, format, minLength, maxLength, maximum } = schema as Limits;
  switch (type) {
    case 'text':
      if (pattern !== undefined) return undefined;
      if (format === 'email') return `${newId().toLowerCase()}@example.com`;
      return newId()
        .padStart(minLength ?? 0, '.')
        .slice(-(maxLength ?? 0));
    case 'textList':
      return ['word'];
    case 'choice':
      return values?.at(-1);
    case 'integer':
      return maximum;
    case 'boolean':
      return true;
    case 'timestamp':
      return now;
    case 'json':
      return {};
    case 'reference':
    default:
      return undefined;
  }
}
