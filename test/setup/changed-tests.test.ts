import { expect, test } from 'vitest';
import { Random } from '../kit/random.ts';
import { testsOf } from './changed-tests.ts';

const imports = new Map([
  ['test/kit/people.ts', ['test/kit/world.ts']],
  ['test/kit/world.ts', ['api/app.ts']],
  ['test/api/work/task-rules.test.ts', ['test/kit/people.ts']],
  ['test/workflows/work/due.test.ts', []],
  ['test/entities/visitors.test.ts', ['test/kit/tried-kinds.ts']],
  ['test/config/format.test.ts', ['config/reading/format.ts']],
  ['test/config/rules.test.ts', []],
  ['test/docs/links.test.ts', []],
  ['test/workflows/events/deliver.test.ts', []],
  ['test/chaos/kills.test.ts', []],
  ['activities/events/deliver-record.ts', ['entities/kit/base/pause.ts']],
  ['entities/kit/base/pause.ts', []],
]);
const testsFor = (...changed: string[]) => testsOf(changed, imports, new Random(1));
const sorted = ({ files }: { readonly files: readonly string[] }) => files.toSorted();

test('a test runs itself', () => {
  expect(testsFor('test/docs/links.test.ts').files).toEqual(['test/docs/links.test.ts']);
});

test('what tests share runs the tests that import it, also by others', () => {
  expect(testsFor('test/kit/world.ts').files).toEqual(['test/api/work/task-rules.test.ts']);
});

test('a kind runs the tests of its area, and the matrices for it', () => {
  const all = testsFor('entities/work/task.ts', 'entities/work/saved-view.rights.yaml', 'entities/work/index.ts');
  expect(sorted(all)).toEqual([
    'test/api/work/task-rules.test.ts',
    'test/entities/visitors.test.ts',
    'test/workflows/work/due.test.ts',
  ]);
  expect(all.kinds).toEqual(['task', 'savedView']);
});

test('a file of no area runs the tests of the areas that use it', () => {
  expect(testsFor('activities/events/deliver-record.ts').files).toEqual(['test/workflows/events/deliver.test.ts']);
});

test('a changed test runs also when it takes minutes', () => {
  expect(testsFor('test/chaos/kills.test.ts').files).toEqual(['test/chaos/kills.test.ts']);
});

test('the matrices are for all kinds when more than kinds is changed', () => {
  expect(testsFor('entities/work/task.ts', 'entities/kit/base/pause.ts').kinds).toEqual([]);
});

test('a file of no area runs the tests that import it first, then those of its room', () => {
  expect(testsFor('config/reading/format.ts').files).toEqual([
    'test/config/format.test.ts',
    'test/config/rules.test.ts',
  ]);
});

test('no more than fits into two minutes, and says how many others there are', () => {
  const many = new Map(Array.from({ length: 40 }, (_, n) => [`test/config/n${n}.test.ts`, []] as const));
  const { files, left } = testsOf(['config/reading/format.ts', 'test/config/n39.test.ts'], many, new Random(1));
  expect(files).toHaveLength(30);
  expect(files[0]).toBe('test/config/n39.test.ts');
  expect(left).toBe(10);
});
