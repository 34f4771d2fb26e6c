import { describe, expect, test } from 'vitest';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { lostParts } from '#tools/generators/lost-parts.ts';
import { printEventSchemas } from '#tools/generators/print-events.ts';
import { eventCatalogue } from '#entities/kit/model/event-catalogue.ts';
import { registry } from '#entities/index.ts';

describe('a schema of an event', () => {
  const before = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string' }, many: { type: 'array', items: { type: 'string' } } },
  };

  test.each([
    ['nothing', before, []],
    ['a new property', { ...before, properties: { ...before.properties, more: { type: 'string' } } }, []],
    ['a lost property', { ...before, properties: { id: { type: 'string' } } }, ['has lost many']],
    [
      'another type',
      { ...before, properties: { ...before.properties, id: { type: 'integer' } } },
      ['has another type at id'],
    ],
    [
      'another type of items',
      { ...before, properties: { ...before.properties, many: { type: 'array', items: { type: 'integer' } } } },
      ['has another type at many[]'],
    ],
    ['a property that may be missing', { ...before, required: [] }, ['no longer always has id']],
  ])('with %s', (_name, now, lost) => {
    expect(lostParts(before, now)).toEqual(lost);
  });

  test('that has lost a property is not printed, unless its version was raised', () => {
    const held = (topic: string, version: number) =>
      JSON.stringify({
        types: {
          [topic]: { version, isPublic: true, schema: { properties: { data: { properties: { promised: {} } } } } },
        },
      });
    expect(() => printEventSchemas(held('task.created', 1))).toThrow('task.created has lost data.promised');
    expect(() => printEventSchemas(held('task.created', 0))).not.toThrow();
    expect(() => printEventSchemas(held('unicorn.eaten', 1))).toThrow('unicorn.eaten is no longer public');
    expect(printEventSchemas('')).toContain('"task.created"');
  });
});

test.each(eventCatalogue(registry))('the example of $topic is valid', ({ schema, example }) => {
  expect(Compile(Type.Unsafe(schema)).Errors(example)).toEqual([]);
});
