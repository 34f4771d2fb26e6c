import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seedOf, timesOf } from '../../kit/depth.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld, type World } from '../../kit/world.ts';

interface Task {
  readonly id: string;
  readonly title: string;
  readonly due_at: string | null;
  readonly priority: number;
}

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function clientWith(inputs: readonly object[]): Promise<TestClient> {
  const client = await signedIn(world, await buildPerson(world));
  const { errors } = await client.graphql(
    'mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id } } }',
    { inputs },
  );
  expect(errors).toBeUndefined();
  return client;
}

async function listed(client: TestClient, query: string): Promise<Task[]> {
  const { status, body } = await client.get(`/v1/tasks?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

const titlesOf = (tasks: readonly Task[]) => tasks.map(({ title }) => title);

test('texts follow a language: letters with accents stand by those without, and case decides last', async () => {
  const titles = ['apple', 'Äpfel', 'b', 'B', 'éclair', 'lodge', 'Łódź', 'zebra', 'Zoo', 'Ωmega', '東京'];
  const expected = ['Äpfel', 'apple', 'b', 'B', 'éclair', 'lodge', 'Łódź', 'zebra', 'Zoo', 'Ωmega', '東京'];
  const client = await clientWith(titles.map((title) => ({ title })));
  expect(titlesOf(await listed(client, 'order_by=title'))).toEqual(expected);
  expect(titlesOf(await listed(client, 'order_by=-title'))).toEqual(expected.toReversed());
  // Ranges are those of the order; equality is exact.
  expect(titlesOf(await listed(client, 'order_by=title&title[gt]=B&title[lte]=zebra'))).toEqual(expected.slice(4, 8));
  expect(titlesOf(await listed(client, 'title=b'))).toEqual(['b']);
  expect(titlesOf(await listed(client, 'title[in]=b&title[in]=Łódź&order_by=title'))).toEqual(['b', 'Łódź']);
});

test('records without a value come last in both directions', async () => {
  const client = await clientWith([
    { title: 'none' },
    { title: 'late', dueAt: '2027-03-01T00:00:00Z' },
    { title: 'early', dueAt: '2027-01-01T00:00:00Z' },
  ]);
  expect(titlesOf(await listed(client, 'order_by=due_at'))).toEqual(['early', 'late', 'none']);
  expect(titlesOf(await listed(client, 'order_by=-due_at'))).toEqual(['late', 'early', 'none']);
  expect(titlesOf(await listed(client, 'order_by=-due_at&last=2'))).toEqual(['early', 'none']);
});

describe('pages of a list in any order', () => {
  const letters = fc.constantFrom('a', 'A', 'á', 'b', 'ß', 'Z', 'ł', 'Ω', '東', ' ', '-', '1');
  const anyTask = fc.record({
    title: fc.string({ unit: letters, minLength: 0, maxLength: 2 }).map((text) => `x${text}`),
    dueAt: fc.constantFrom(null, '2027-01-01T00:00:00Z', '2027-01-01T00:00:00.001Z', '2028-01-01T00:00:00Z'),
    priority: fc.integer({ min: 0, max: 2 }),
  });
  const orders = ['title', '-title', 'due_at', '-due_at', 'due_at,-title', '-due_at,title', '-priority,-due_at,title'];

  /** By the parts of an order, with empty values last; records that are equal by their ids in the direction of the last part. */
  function inOrder(tasks: readonly Task[], order: string): Task[] {
    const { compare } = new Intl.Collator('und');
    const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    const byTerm = (term: string, a: Task, b: Task): number => {
      const name = term.replace('-', '') as keyof Task;
      const [one, other] = [a[name], b[name]];
      if (one === null || other === null) return Number(one === null) - Number(other === null);
      const found =
        name === 'title'
          ? compare(String(one), String(other)) || bytes(String(one), String(other))
          : one < other
            ? -1
            : Number(one > other);
      return term.startsWith('-') ? -found : found;
    };
    const id = order.split(',').at(-1)?.startsWith('-') ? '-id' : 'id';
    return tasks.toSorted((a, b) => [...order.split(','), id].reduce((found, term) => found || byTerm(term, a, b), 0));
  }

  async function pages(client: TestClient, order: string, size: number, way: 'after' | 'before'): Promise<string[]> {
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await client.get(
        `/v1/tasks?order_by=${order}&${way === 'after' ? 'first' : 'last'}=${size}${cursor === '' ? '' : `&${way}=${cursor}`}`,
      );
      expect(status, JSON.stringify(body)).toBe(200);
      const ids = body.data.map(({ id }: Task) => id);
      if (way === 'after') seen.push(...ids);
      else seen.unshift(...ids);
      const {
        has_next_page: hasNext,
        has_previous_page: hasPrevious,
        end_cursor: end,
        start_cursor: start,
      } = body.page_info;
      if (!(way === 'after' ? hasNext : hasPrevious)) return seen;
      cursor = way === 'after' ? end : start;
    }
  }

  test('have each record once, forwards and backwards, with ties and empty values', async () => {
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyTask, { minLength: 12, maxLength: 25 }), async (inputs) => {
        const client = await clientWith(inputs);
        const all = await listed(client, 'first=100');
        for (const order of orders) {
          const expected = inOrder(all, order).map(({ id }) => id);
          expect(
            (await listed(client, `first=100&order_by=${order}`)).map(({ id }) => id),
            order,
          ).toEqual(expected);
          for (const way of ['after', 'before'] as const) {
            expect(await pages(client, order, 4, way), `${order}, ${way}`).toEqual(expected);
            tried += 1;
          }
        }
      }),
      { numRuns: timesOf({ sample: 2, prove: 20 }), seed: seedOf('orders of lists'), endOnFailure: true },
    );
    recordTried('orders of random records', tried);
  });
});
