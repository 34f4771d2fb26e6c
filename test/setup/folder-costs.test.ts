import { expect, test } from 'vitest';
import { costLines } from './folder-costs.ts';

test('costs of folders are compared by the files that both runs had, the dearest folder first', () => {
  const costs = { 'test/a/one.test.ts': 1, 'test/b/two.test.ts': 4, 'test/b/three.test.ts': 2.25 };
  expect(costLines(costs, { 'test/b/two.test.ts': 3, 'test/c/gone.test.ts': 9 })).toEqual([
    'processor:    6.3 s test/b; 1 of 2 files ran last time: 3.0 s then, 4.0 s now',
    'processor:    1.0 s test/a',
    'processor:    7.3 s in all; 1 of 3 files ran last time: 3.0 s then, 4.0 s now',
  ]);
});
