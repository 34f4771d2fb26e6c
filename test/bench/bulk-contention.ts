import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { pace } from './pace.ts';
import { median, spreadOf, type Bench } from './row.ts';

const clients = 16;
/** Tasks that all clients change, each time another choice of them in another order. */
const shared = 40;
const changedAtOnce = 20;

/** Codes that say that a record is gone: another client deleted it, which is no refusal. */
const isGone = (code: string) => code === 'not_found';

interface GraphqlAnswer {
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

/** The share of overlapping bulk changes, crossed changes and cascading deletions in one organization that is refused. */
export const bulkContention: Bench = {
  name: 'bulk-contention',
  run: async (say) => {
    const installation = await openApiInstallation();
    try {
      const { token, taskIds } = installation.people[0] as ApiInstallation['people'][number];
      const send = async (query: string, variables: object): Promise<GraphqlAnswer> => {
        const answer = await fetch(`${installation.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({ query, variables }),
        });
        return (await answer.json()) as GraphqlAnswer;
      };
      const tasks = taskIds.slice(0, shared);
      const shares: number[] = [];
      const rates: number[] = [];
      for (let round = 0; round < pace.rounds; round++) {
        const seen = await measure(send, tasks, pace.roundMs);
        const refused = [...seen.refused.values()].reduce((sum, count) => sum + count, 0);
        shares.push((100 * refused) / seen.answers);
        rates.push(seen.answers / (pace.roundMs / 1_000));
        say(
          `round ${round + 1}: ${refused} of ${seen.answers} refused ${JSON.stringify(Object.fromEntries(seen.refused))}`,
        );
      }
      return [
        {
          name: 'bulk-contention',
          unit: '% refused',
          ours: median(shares),
          reference: null,
          ratio: null,
          spread: median(shares) === 0 ? 0 : spreadOf(shares),
          note: `${clients} clients change ${changedAtOnce} of ${shared} tasks at once, in pairs, and with their subtasks; ${Math.round(median(rates))} answers a second`,
        },
      ];
    } finally {
      await installation.close();
    }
  },
};

/** Runs all clients for this time. */
async function measure(
  send: (query: string, variables: object) => Promise<GraphqlAnswer>,
  tasks: readonly string[],
  forMs: number,
): Promise<{ readonly answers: number; readonly refused: ReadonlyMap<string, number> }> {
  const until = performance.now() + forMs;
  const refused = new Map<string, number>();
  let answers = 0;
  const ask = async (query: string, variables: object): Promise<GraphqlAnswer['data']> => {
    const { data, errors = [] } = await send(query, variables);
    answers++;
    const code = errors.map(({ extensions }) => extensions.code).find((one) => !isGone(one));
    if (code !== undefined) refused.set(code, (refused.get(code) ?? 0) + 1);
    return data;
  };
  const works: readonly (() => Promise<unknown>)[] = [
    () =>
      ask('mutation ($ids: [ID!]!, $n: Int!) { updateBulkTask(ids: $ids, input: { priority: $n }) { updatedIds } }', {
        ids: shuffled(tasks).slice(0, changedAtOnce),
        n: Math.floor(Math.random() * 100),
      }),
    () => {
      const [one, other] = shuffled(tasks);
      return ask(
        `mutation ($one: ID!, $other: ID!, $title: String!) { one: updateTask(id: $one, input: { title: $title }) { task { id } }
          other: updateTask(id: $other, input: { title: $title }) { task { id } } }`,
        { one, other, title: String(Math.random()) },
      );
    },
    async () => {
      const made = await ask(
        `mutation { createTask(input: { title: "parent", createSubtasks: [{ title: "one" }, { title: "two" }] }) {
          task { id subtasks { edges { node { id } } } } } }`,
        {},
      );
      const task = made?.['createTask']?.['task'] as
        | { id: string; subtasks: { edges: { node: { id: string } }[] } }
        | undefined;
      if (!task) return;
      const below = task.subtasks.edges.map(({ node }) => node.id);
      await Promise.all([
        ask('mutation ($id: ID!) { deleteTask(id: $id) { deletedId } }', { id: task.id }),
        ask('mutation ($ids: [ID!]!) { updateBulkTask(ids: $ids, input: { priority: 1 }) { updatedIds } }', {
          ids: [...below, ...shuffled(tasks).slice(0, changedAtOnce), task.id],
        }),
        ask('mutation ($id: ID!) { createNote(input: { text: "seen", taskId: $id }) { note { id } } }', {
          id: below[0],
        }),
      ]);
    },
  ];
  await Promise.all(
    Array.from({ length: clients }, async (_, number) => {
      for (let turn = number; performance.now() < until; turn++) await works[turn % works.length]?.();
    }),
  );
  return { answers, refused };
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
