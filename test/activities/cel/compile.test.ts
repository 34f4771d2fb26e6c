import { describe, expect, test } from 'vitest';
import { openEvaluator, taskEnvironment } from './opened-evaluator.ts';

const evaluator = openEvaluator();
const codes = async (expression: string) => (await evaluator.problems(expression)).map(({ code }) => code);
const compiled = (expression: string, expected?: string) =>
  evaluator.compile({ expression, environment: taskEnvironment, expected });

describe('an expression with mistakes', () => {
  test('is refused with all of them, their places and suggestions', async () => {
    expect(await evaluator.problems('object.staus == "x" && foo > 1 || object.tags.alll(t, t == 1)')).toEqual([
      { code: 'unknown_field', at: 'staus', message: 'Task has no field "staus"; did you mean "status"?' },
      { code: 'unknown_variable', at: 'foo', message: 'There is no variable "foo".' },
      {
        code: 'unknown_function',
        at: 'object.tags.alll(t, t == 1)',
        message: 'There is no function "alll"; did you mean "all"?',
      },
    ]);
  });

  test.each([
    ['object.status + 1', 'wrong_type'],
    ['object.status == 1', 'wrong_type'],
    ['object.title == 1', 'wrong_type'],
    ['object.status && true', 'wrong_type'],
    ['object.due > 3', 'wrong_type'],
    ['object.secret', 'unknown_field'],
    ['has(object.staus)', 'unknown_field'],
    ['object["staus"]', 'unknown_field'],
    ['object.tags.map(t, t.size)', 'wrong_type'],
    ['old_object.assignee.nam', 'unknown_field'],
    ['has(1)', 'syntax'],
    ['[1].map(1, 2)', 'syntax'],
    ['1 +', 'syntax'],
    ['"open', 'syntax'],
    ['', 'syntax'],
    ['{1.5: 1}', 'wrong_type'],
    ['9223372036854775808', 'invalid_literal'],
    ["b'é'", 'syntax'],
    ['now()', 'unknown_function'],
    ['b"{}".json()', 'unknown_function'],
  ])('%s is refused: %s', async (expression, code) => {
    expect(await codes(expression)).toEqual([code]);
  });

  test('has 100 problems at most', async () => {
    const wrong = Array.from({ length: 150 }, (_, index) => `x${index}`).join(', ');
    expect(await codes(`[${wrong}]`)).toHaveLength(100);
    expect(await codes('`'.repeat(9999))).toHaveLength(100);
    expect(await codes(`[${Array.from({ length: 15_000 }, () => 'none').join(',')}]`)).toHaveLength(100);
  });

  test('has no value, and says why', async () => {
    expect(await evaluator.result('object.staus')).toMatchObject({
      error: {
        code: 'does_not_compile',
        message: 'Task has no field "staus"; did you mean "status"?',
        start: 7,
        end: 12,
      },
    });
  });
});

describe('a valid expression', () => {
  test.each([
    ['object.status', 'string'],
    ['object.title', 'string?'],
    ['object.due', 'timestamp?'],
    ['object.tags.map(t, t.size())', 'list<int>'],
    ['{"a": object.weight}', 'map<string, double>'],
    ['proposed_changes.status', 'dyn'],
    ['event_time - duration("1h")', 'timestamp'],
    ['event_time - event_time', 'duration'],
    ['duration("1h") + event_time', 'timestamp'],
    ['object.assignee', 'Person'],
    ['[]', 'list<dyn>'],
    ['{}', 'map<dyn, dyn>'],
    ['indexBy([object.assignee], "name")', 'map<string, dyn>'],
  ])('%s is of type %s', async (expression, type) => {
    expect(await compiled(expression)).toMatchObject({ problems: [], type });
  });

  test('lists the variables and fields that it reads', async () => {
    const expression =
      'old_object.assignee.name == "a" || object.tags.exists(object, object == "b") || has(object.due) || ' +
      'added_ids["controls"].size() > 0 && cel.bind(event_time, 1, event_time > object.score) || "x" in changed_fields';
    expect((await compiled(expression)).fields).toEqual([
      'added_ids.controls',
      'changed_fields',
      'object.due',
      'object.score',
      'object.tags',
      'old_object.assignee.name',
    ]);
  });

  test('must have the type that is expected; a value of any type is checked when there is one', async () => {
    expect((await compiled('object.status', 'bool')).problems).toEqual([
      { code: 'wrong_result_type', message: 'The result is string, and must be bool.', start: 0, end: 13 },
    ]);
    for (const [expression, expected] of [
      ['object.status == "a"', 'bool'],
      ['proposed_changes.status', 'bool'],
      ['object.title', 'string'],
      ['{"a": 1}', 'map<string, dyn>'],
      ['event_time', 'timestamp'],
    ] as const)
      expect((await compiled(expression, expected)).problems).toEqual([]);
    const items = [{ expression: 'x', variables: { x: 'text' }, expected: 'bool' }];
    const [result] = await evaluator.evaluate({ environment: { variables: { x: 'dyn' } }, items });
    expect(result).toMatchObject({ error: { code: 'wrong_type', message: 'The result is string, and must be bool.' } });
  });
});

test('an environment that is not well-formed is a mistake of the caller', async () => {
  for (const type of ['strng', 'list<', 'map<Task, string>', 'T', 'Unknown']) {
    const environment = { variables: { x: type } };
    await expect(evaluator.compile({ expression: 'x', environment })).rejects.toThrow();
  }
  const reserved = { variables: { __proto__x: 'int', while: 'int' } };
  await expect(evaluator.compile({ expression: '1', environment: reserved })).rejects.toThrow('reserved');
});
