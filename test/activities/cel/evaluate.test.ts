import { describe, expect, test } from 'vitest';
import { openEvaluator, taskVariables } from './opened-evaluator.ts';

const evaluator = openEvaluator();
const generous = openEvaluator({ costlimit: 1_000_000_000, timeout: 500 });

describe('variables', () => {
  test.each([
    ['object.status == "OPEN" && "status" in changed_fields', true],
    ['object.score + 1', 6n],
    ['object.weight * 2.0', 3],
    ['event_time + duration("36h")', new Date('2026-02-01T21:00:00Z')],
    ['event_time.getDayOfWeek()', 6n],
    ['event_time.getHours("America/New_York")', 4n],
    ['event_time.getHours("+05:30")', 14n],
    ['event_time - timestamp("2026-01-30T07:30:00Z")', '91800s'],
    ['object.tags', ['red', 'blue']],
    ['proposed_changes', { status: 'COMPLETED' }],
    ['added_ids["controls"]', ['c1']],
    ['[object.assignee, old_object.assignee] == [null, null]', 'does_not_compile'],
  ])('%s is %s', async (expression, value) => {
    expect(await evaluator.outcome(expression)).toEqual(value);
  });

  test('may be null where their type ends in ?', async () => {
    const values = {
      'object.title == null && null == object.title && object.due == null': true,
      'has(object.title) || has(object.due) || has(object.assignee)': false,
      'has(object.status) && has(object.tags)': true,
      'old_object == null && object != old_object': true,
      'object.assignee == null && !has(object.assignee.name)': true,
      'object.title == null || object.title.startsWith("x")': true,
      'object.assignee.name': 'no_such_key',
      'object.title.size()': 'wrong_type',
    };
    for (const [expression, value] of Object.entries(values)) expect(await evaluator.outcome(expression)).toBe(value);
  });

  test('have the declared types only, and a wrong one is an error where it is read', async () => {
    const object = { ...(taskVariables['object'] as object), score: '7', tags: 'red', due: 'tomorrow', weight: null };
    const outcome = (expression: string) => evaluator.outcome(expression, { ...taskVariables, object });
    expect(await outcome('object.status')).toBe('OPEN');
    expect(await outcome('object.score')).toBe(7n);
    for (const expression of ['object.tags', 'object.due', 'object.weight'])
      expect(await outcome(expression)).toBe('wrong_type');
    expect(await evaluator.outcome('object.status', {})).toBe('no_such_key');
  });

  test('are compared as a whole by their declared fields', async () => {
    const before = { ...(taskVariables['object'] as object), secret: 'another' };
    const same = { ...taskVariables, old_object: before };
    expect(await evaluator.outcome('object == old_object', same)).toBe(true);
    const changed = { ...taskVariables, old_object: { ...before, score: 6 } };
    expect(await evaluator.outcome('object == old_object', changed)).toBe(false);
  });
});

describe('errors', () => {
  test.each([
    ['1 / (object.score - 5) > 0', 'division_by_zero', 'Division by zero.'],
    ['9223372036854775807 + object.score', 'overflow', 'The result is no 64-bit integer.'],
    ['object.tags[2]', 'no_such_key', 'There is no index 2.'],
    ['proposed_changes.due', 'no_such_key', 'There is no key "due".'],
    ['int(object.status)', 'invalid_argument', 'The value is no int.'],
    ['timestamp(object.status)', 'invalid_argument', 'The value is no timestamp, such as 2026-01-31T09:00:00Z.'],
    ['{object.status: 1, "OPEN": 2}', 'invalid_argument', 'A key is in the map twice.'],
  ])('%s: %s', async (expression, code, message) => {
    const result = await evaluator.result(expression);
    expect(result).toMatchObject({ error: { code, message } });
    expect('error' in result && result.error.start).toBeTypeOf('number');
  });

  test('of one side of || and && do not matter where the other side decides', async () => {
    expect(await evaluator.outcome('object.tags[9] == "x" || object.score == 5')).toBe(true);
    expect(await evaluator.outcome('object.score == 6 && object.tags[9] == "x"')).toBe(false);
    expect(await evaluator.outcome('object.tags.exists(t, object.tags[9] == t || t == "blue")')).toBe(true);
  });
});

describe('cost', () => {
  const costOf = async (expression: string) => (await evaluator.result(expression)).cost;

  test('is that of the table: 1 for a field, 10 for a list, 30 for a map, 0.1 for a character', async () => {
    expect(await costOf('object.score')).toBe(2);
    expect(await costOf('[object.score]')).toBe(12);
    expect(await costOf('{"a": object.score}')).toBe(32);
    expect(await costOf('object.status + "12345678901234567890"')).toBeCloseTo(2 + 1 + 2.4);
  });

  test('is the same each time, and grows with the values', async () => {
    const expression = 'object.tags.exists(t, t.contains("zzz"))';
    const withTags = async (count: number) => {
      const object = { ...(taskVariables['object'] as object), tags: Array.from({ length: count }, () => 'a tag') };
      return (await evaluator.result(expression, { ...taskVariables, object })).cost;
    };
    expect(await withTags(10)).toBe(await withTags(10));
    expect(await withTags(11)).toBeGreaterThan(await withTags(10));
    expect(await withTags(1000)).toBeGreaterThan(10 * (await withTags(50)));
  });
});

describe('a batch', () => {
  test('gives a result for each item, in their order', async () => {
    const items = Array.from({ length: 1000 }, (_, index) => ({
      expression: `n * ${index % 10}`,
      variables: { n: index },
    }));
    const results = await evaluator.evaluate({ environment: { variables: { n: 'int' } }, items });
    expect(results).toMatchObject(items.map((_, index) => ({ value: BigInt(index * (index % 10)) })));
    expect(await evaluator.evaluate({ environment: { variables: {} }, items: [] })).toEqual([]);
  });

  const list = JSON.stringify(Array.from({ length: 300 }, (_, index) => index));
  const endless = `${list}.map(a, ${list}.map(b, ${list}.map(c, ${list}.map(d, d)))).size() > n`;

  test('may have the timeout for all its items together', async () => {
    const items = [1, 2, 3, 4, 5, 6].map((n) => ({ expression: endless, variables: { n } }));
    const environment = { variables: { n: 'int' } };
    await generous.compile({ expression: endless, environment });
    const startedAt = performance.now();
    const results = await generous.evaluate({ environment, items, together: true });
    const together = performance.now() - startedAt;
    expect(results).toMatchObject(items.map(() => ({ error: { code: 'timeout' } })));
    expect(together).toBeLessThan(2500);
  });

  test('waits for a thread no longer than that', async () => {
    const environment = { variables: { n: 'int' } };
    const busy = generous.evaluate({
      environment,
      items: [1, 2, 3].map((n) => ({ expression: endless, variables: { n } })),
    });
    const late = await generous.evaluate({
      environment,
      items: [{ expression: 'n == 1', variables: { n: 1 } }],
      together: true,
    });
    expect(late).toMatchObject([{ error: { code: 'timeout' } }]);
    await busy;
  });
});

test('a variable that is no data is a mistake of the caller, and the next call is served', async () => {
  await expect(evaluator.outcome('1', { object: { status: () => 1 } })).rejects.toThrow('could not be cloned');
  expect(await evaluator.outcome('1')).toBe(1n);
});

test('a closed evaluator rejects what runs and what comes', async () => {
  const closing = openEvaluator({ timeout: 60_000, costlimit: 1_000_000_000 });
  const list = JSON.stringify(Array.from({ length: 300 }, (_, index) => index));
  const running = closing.outcome(`${list}.map(a, ${list}.map(b, ${list}.map(c, ${list}.map(d, 1))))`);
  const rejected = expect(running).rejects.toThrow('closed');
  await closing.close();
  await rejected;
  await expect(closing.outcome('1')).rejects.toThrow('closed');
});
