import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { openEvaluator, taskVariables } from './opened-evaluator.ts';

const evaluator = openEvaluator();
/** Only the time limits these. */
const generous = openEvaluator({ costlimit: 1_000_000_000, timeout: 100 });

const list = (length: number) => `[${Array.from({ length }, (_, index) => index).join(', ')}]`;
const nested = (depth: number, length: number) =>
  Array.from({ length: depth }, (_, index) => `x${index}`).reduceRight(
    (body, name) => `${list(length)}.map(${name}, ${body})`,
    '1',
  );

describe('an expression that would take very long', () => {
  test('is linear if it is a pattern', async () => {
    const outcome = await evaluator.outcome(`"${'a'.repeat(5000)}!".matches("(a+)+$")`);
    expect(outcome).toBe(false);
  });

  test('ends by its cost', async () => {
    expect(await evaluator.outcome(nested(3, 200))).toBe('cost_limit');
  });

  test('ends by its time where the cost is not limited', async () => {
    const startedAt = performance.now();
    const result = await generous.result(nested(4, 300));
    expect(result).toMatchObject({ error: { code: 'timeout', message: 'The evaluation took longer than 100 ms.' } });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  test('does not end other expressions of its batch, nor later ones', async () => {
    const environment = { variables: { x: 'int' } };
    const items = ['x + 1', nested(4, 300), 'x + 2'].map((expression) => ({ expression, variables: { x: 1 } }));
    const results = await generous.evaluate({ environment, items });
    expect(results).toMatchObject([{ value: 2n }, { error: { code: 'timeout' } }, { value: 3n }]);
    expect(await generous.outcome('1 + 1')).toBe(2n);
  });

  test('ends by the interrupt of V8 where the clock is not read', async () => {
    const blind = openEvaluator({ costlimit: 1_000_000_000, interruptcheckfrequency: 1_000_000, timeout: 50 });
    expect(await blind.outcome(nested(4, 300))).toBe('timeout');
    expect(await blind.outcome('1 + 1')).toBe(2n);
  });

  test('leaves the event loop of the process free', async () => {
    const long = openEvaluator({ costlimit: 1_000_000_000, timeout: 3000 });
    await long.outcome('1');
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    // A fast machine makes so many values in this time that they do not fit.
    expect(['timeout', 'memory_limit']).toContain(await long.outcome(nested(4, 300)));
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(1500);
  });
});

describe('an expression that would take much memory', () => {
  const doubled = (times: number) =>
    Array.from({ length: times }, (_, index) => index).reduceRight(
      (body, index) => `cel.bind(l${index + 1}, l${index} + l${index}, ${body})`,
      `size(l${times})`,
    );

  test('ends by its cost when it doubles a list', async () => {
    expect(await evaluator.outcome(`cel.bind(l0, [1], ${doubled(30)})`)).toBe('cost_limit');
  });

  test('ends by its cost when it doubles a text', async () => {
    expect(await evaluator.outcome(`cel.bind(l0, 'ab', ${doubled(40)})`)).toBe('cost_limit');
  });

  test('ends by its cost when it compares lists that contain one list many times', async () => {
    const shared = Array.from({ length: 40 }, (_, index) => index).reduceRight(
      (body, index) => `cel.bind(l${index + 1}, [l${index}, l${index}], ${body})`,
      'l40 == [l39, l39]',
    );
    expect(await evaluator.outcome(`cel.bind(l0, [1], ${shared})`)).toBe('cost_limit');
  });

  test('has no value when that would be too large', async () => {
    const shared = Array.from({ length: 40 }, (_, index) => index).reduceRight(
      (body, index) => `cel.bind(l${index + 1}, [l${index}, l${index}], ${body})`,
      'l40',
    );
    expect(await evaluator.outcome(`cel.bind(l0, [1], ${shared})`)).toBe('value_too_large');
  });
});

describe('a deep expression', () => {
  const chains = {
    '!': (length: number) => `${'!'.repeat(length)}true`,
    '! !': (length: number) => `${'! '.repeat(length)}true`,
    '-': (length: number) => `${'-'.repeat(length)}1`,
    '&&': (length: number) => Array.from({ length }, () => 'true').join(' && '),
    '+': (length: number) => Array.from({ length }, () => '1').join('+'),
    '?:': (length: number) => `${'true ? 1 : '.repeat(length)}1`,
    '(': (length: number) => `${'('.repeat(length)}1${')'.repeat(length)}`,
    '[': (length: number) => `${'['.repeat(length)}1${']'.repeat(length)}`,
    '.': (length: number) => `object${'.a'.repeat(length)}`,
    '.size()': (length: number) => `"a"${'.size()'.repeat(length)}`,
  };

  test.each(Object.entries(chains))('is refused when it chains %s', async (_, chain) => {
    for (const length of [300, 9000]) {
      expect(await evaluator.problems(chain(length))).toMatchObject([{ code: 'nested_too_deep' }]);
    }
  });

  test('is evaluated at the largest limit', async () => {
    const deep = openEvaluator({ parserrecursionlimit: 1000 });
    expect(await deep.outcome(chains['+'](999))).toBe(999n);
    expect(await deep.outcome(chains['('](900))).toBe(1n);
    expect(await deep.outcome(`${chains['['](900)} == ${chains['['](900)}`)).toBe(true);
  });

  test('cannot make the name of its type twice as long with each level', async () => {
    const doubling = Array.from({ length: 60 }, (_, index) => index).reduceRight(
      (body, index) => `cel.bind(m${index + 1}, {m${index}: m${index}}, ${body})`,
      'm60',
    );
    const [problem] = await evaluator.problems(`cel.bind(m0, {1: 1}, ${doubling})`);
    expect(problem).toMatchObject({ code: 'wrong_type' });
  });
});

describe('an expression that looks for the machine', () => {
  test.each(['constructor', 'globalThis', 'process', 'this', '__proto__', 'object.constructor', 'object.__proto__'])(
    '%s does not find it',
    async (expression) => {
      expect(await evaluator.problems(expression)).not.toEqual([]);
    },
  );

  test.each([
    'proposed_changes.constructor',
    'proposed_changes["__proto__"]',
    'proposed_changes.toString',
    '{"a": 1}["constructor"]',
    'dyn(object).constructor',
    'dyn(object)["secret"]',
    'dyn("").constructor',
    'dyn([1]).length',
    'dyn([]).constructor',
    'dyn(1).constructor',
    'dyn(event_time).getTime',
    'dyn(object).get',
    'google.protobuf.constructor',
    'google.__proto__',
    'cel.constructor',
    'cel.__proto__',
    'type(1).constructor',
    'dyn(type(1)).name',
  ])('%s is no key', async (expression) => {
    expect(['no_such_key', 'wrong_type']).toContain(await evaluator.outcome(expression));
  });

  test('reads keys of that name when they are there', async () => {
    const variables = { m: JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}') as object };
    const environment = { variables: { m: 'map<string, dyn>' } };
    const sum = 'm.__proto__ + m.constructor + m["toString"]';
    expect(await evaluator.outcome(sum, variables, environment)).toBe(6);
    expect(await evaluator.outcome('m', variables, environment)).toEqual(variables.m);
  });
});

describe('an expression that fails on purpose', () => {
  test.each([
    'int(object.status)',
    'uint(object.status)',
    'double(object.status)',
    'bool(object.status)',
    'timestamp(object.status)',
    'duration(object.status)',
    '{"a": 1}[object.status]',
    'dyn(object)[object.status]',
    'dyn(object.status)[object.status]',
    '{object.status: 1, object.status + "": 2}',
    '"x".matches(object.status + "(")',
    'event_time.getHours(object.status)',
    '"%d".format([object.status])',
    '[1][int(object.score) + 987654321]',
    'object.score + 9223372036854775807',
    'object.score * 9223372036854775807',
    'uint(-object.score)',
  ])('%s has no values of the record in its message', async (expression) => {
    const object = { ...(taskVariables['object'] as object), status: 'do-not-tell', score: 86_420 };
    const result = await evaluator.result(expression, { ...taskVariables, object });
    expect(result).toHaveProperty('error.message');
    expect(JSON.stringify(result)).not.toMatch(/do-not-tell|86420|86,420|987740741/);
  });
});
