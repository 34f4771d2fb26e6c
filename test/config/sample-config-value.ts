import type { Field } from '#config/schema/field.ts';

/** A right value of a field that differs from its default. */
export function sampleValue(field: Field): unknown {
  switch (field.type) {
    case 'text':
      return sampleText(field);
    case 'integer': {
      const candidates = [field.minimum, field.minimum + 1];
      return candidates.find((value) => value !== field.default);
    }
    case 'flag':
      return !field.default;
    case 'list':
      return [sampleValue(field.items)];
    case 'map':
      return {
        [field.keyFormat?.name === 'a name without spaces and separators' ? 'X-Sample' : 'sample']: sampleValue(
          field.values,
        ),
      };
    case 'object':
      return Object.fromEntries(Object.entries(field.fields).map(([key, child]) => [key, sampleValue(child)]));
    case 'text-or-integer':
      return sampleValue(field.integer);
    case 'any':
      return { sample: [1, 'two', null] };
    case 'empty':
      return {};
  }
}

function sampleText(field: Extract<Field, { type: 'text' }>): string {
  const other = field.values?.find((value) => value !== field.default && value !== '');
  if (other !== undefined) return other;
  // A field with a single allowed value cannot differ from its default.
  if (field.values !== undefined) return field.values[0] ?? '';
  const example = field.format?.example.split(/, | or /u)[0];
  const text = example ?? `sample${'x'.repeat(field.minLength ?? 0)}`;
  if (text !== field.default) return text;
  return (
    {
      '/': '/sample',
      core: 'sample',
      ':17608': ':17800',
      '#14171e': '#abcdef',
      CORE_API_TOKEN_KEY_: 'SAMPLE_',
      nosniff: 'sample',
    }[text] ?? `${text}1`
  );
}
