import { parse, validate, type ExecutionArgs } from 'graphql';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { costLimits } from '#api/graphql/documents/operation-budget.ts';
import { measureOperation } from '#api/graphql/operations/measure-operation.ts';
import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { pace } from './pace.ts';
import { median, spreadOf, type Bench } from './row.ts';

/** Organization → groups → memberships, with a filter: what a page of an application asks. */
const query = `query ($id: ID!) { organization(id: $id) { name groups(first: 20, where: { name: { contains: "a" } }) {
  totalCount edges { node { id name groupMemberships(first: 10) { edges { node { id role userId } } } } } } } }`;

/** What counting the cost of a query takes before it runs, in microseconds; reference: GraphQL's own validation of the same document. */
export const complexity: Bench = {
  name: 'complexity',
  run: (say) => {
    const schema = productSchema(registry);
    const document = parse(query);
    const input: ExecutionArgs = { schema, document, variableValues: { id: newId() } };
    const options = { registry, limits: costLimits(1_000), largestPage: 100 };
    const measure = () => measureOperation(input, options);
    const check = () => {
      if (validate(schema, document).length > 0) throw new Error('complexity: the query is not valid');
    };
    for (const work of [measure, check]) microsecondsOf(work);
    const rounds = Array.from({ length: pace.rounds }, (_, round) => {
      const measured = { ours: microsecondsOf(measure), reference: microsecondsOf(check) };
      say(`round ${round + 1}: ours ${measured.ours.toFixed(1)}, reference ${measured.reference.toFixed(1)} µs`);
      return measured;
    });
    const ours = rounds.map((round) => round.ours);
    return Promise.resolve([
      {
        name: 'complexity',
        unit: 'µs/query',
        ours: median(ours),
        reference: median(rounds.map(({ reference }) => reference)),
        ratio: median(rounds.map((round) => round.reference / round.ours)),
        spread: spreadOf(ours),
        note: 'the cost of a nested query, counted before it runs; reference: its validation by graphql',
      },
    ]);
  },
};

/** Time of one call, over a round. */
function microsecondsOf(work: () => void): number {
  const startedAt = performance.now();
  let calls = 0;
  while (performance.now() < startedAt + pace.roundMs) {
    // Looks at the clock rarely.
    for (const until = calls + 100; calls < until; calls++) work();
  }
  return ((performance.now() - startedAt) * 1_000) / calls;
}
