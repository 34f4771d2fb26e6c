import { expect, test } from 'vitest';
import { OperationQueue } from '#api/graphql/operations/operation-queue.ts';
import { eventually } from '../../kit/eventually.ts';
import { Gate } from '../../kit/http/misbehaving-routes.ts';

const inAMinute = () => Date.now() + 60_000;

/** Operations that run until the gate opens; their names, in the order in which they began. */
function operations(queue: OperationQueue) {
  const gate = new Gate();
  const begun: string[] = [];
  const run = (owner: string, name: string, deadline = inAMinute()) =>
    queue
      .run(owner, deadline, async () => {
        begun.push(name);
        await gate.pass();
        return name;
      })
      .catch((error: { readonly code: string }) => error.code);
  return { gate, begun, run };
}

test('owners take turns, and each of them in the order of arrival', async () => {
  const queue = new OperationQueue(() => 1);
  const { gate, begun, run } = operations(queue);
  const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => run(name.slice(0, 1), name));
  expect({ running: queue.running, waiting: queue.waiting }).toEqual({ running: 1, waiting: 5 });
  gate.open();
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  expect({ running: queue.running, waiting: queue.waiting }).toEqual({ running: 0, waiting: 0 });
});

test('the last one of the longest queue makes room, and nobody for somebody who waits as long', async () => {
  const queue = new OperationQueue(() => 1);
  const { gate, run } = operations(queue);
  const many = Array.from({ length: 11 }, (_, index) => run('many', `many ${index}`));
  expect(await run('many', 'one more')).toBe('overloaded');
  const few = run('few', 'few');
  expect(await many[10]).toBe('overloaded');
  expect(queue.waiting).toBe(10);
  gate.open();
  expect(await few).toBe('few');
  expect(await Promise.all(many.slice(0, 10))).toHaveLength(10);
});

test('one owner leaves a quarter for others, who need not wait', async () => {
  const queue = new OperationQueue(() => 4);
  const { gate, begun, run } = operations(queue);
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((name) => run(name.slice(0, 1), name));
  await eventually(() => begun.length === 4);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
  expect(queue.waiting).toBe(2);
  gate.open();
  await Promise.all(all);
});

test('who waits until its deadline is refused and takes no turn', async () => {
  const queue = new OperationQueue(() => 1);
  const { gate, begun, run } = operations(queue);
  const first = run('a', 'first');
  expect(await run('a', 'late', Date.now())).toBe('deadline_exceeded');
  expect(queue.waiting).toBe(0);
  gate.open();
  await first;
  expect(begun).toEqual(['first']);
});

test('a failure ends a turn as well, and a raised limit starts those who wait', async () => {
  let limit = 1;
  const queue = new OperationQueue(() => limit);
  await expect(queue.run('a', inAMinute(), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(queue.running).toBe(0);
  const { gate, begun, run } = operations(queue);
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')];
  limit = 3;
  queue.wake();
  await eventually(() => begun.length === 2);
  expect(queue.waiting).toBe(1);
  gate.open();
  await Promise.all(all);
});
