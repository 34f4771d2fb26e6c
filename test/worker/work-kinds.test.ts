import { expect, test } from 'vitest';
import { kindsOfWorkflows, placeOfWork } from '#activities/kit/work-kind.ts';
import { isProgrammingError } from '#entities/kit/base/programming-error.ts';
import { releaseWorkflows } from '#worker/release-workflows.ts';

test('every workflow that no schedule starts has a kind of work', () => {
  const others = releaseWorkflows.filter(({ contract }) => !contract.schedule).map(({ contract }) => contract.name);
  expect(others.filter((name) => !Object.hasOwn(kindsOfWorkflows, name))).toEqual([]);
});

test('all runs of a schedule are the same work', () => {
  const place = { workflowId: 'a/sweep-outbox-2026-11-27T14:00:00Z', runId: 'r', workflowType: 'sweepOutbox' };
  expect(placeOfWork(place, 'sweepOutbox')).toMatchObject({ kind: 'schedule', key: 'a/sweep-outbox/sweepOutbox' });
});

test.each([
  [new TypeError('x is not a function'), true],
  [new ReferenceError('x is not defined'), true],
  [new RangeError('Invalid time value'), true],
  [new Error('connection refused'), false],
  [new SyntaxError('Unexpected token'), false],
  [new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }), false],
  ['x', false],
])('%s is a programming error: %s', (error, is) => expect(isProgrammingError(error)).toBe(is));
