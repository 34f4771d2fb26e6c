import { afterAll, beforeAll, expect, test } from 'vitest';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import type { DescribedApi } from '../kit/http/described-api.ts';
import { seedOf, timesOf } from '../kit/depth.ts';
import { FuzzedInstallation } from '../kit/fuzz/fuzzed-installation.ts';
import { GraphqlOperations, rootFieldsOf } from '../kit/fuzz/graphql-operations.ts';
import { operationsOf, RestRequests } from '../kit/fuzz/openapi-requests.ts';
import { Random } from '../kit/random.ts';
import { recordTried } from '../kit/tried.ts';
import { undescribed } from '../kit/fuzz/undescribed.ts';
import { openWorld, type World } from '../kit/world.ts';

/**
 * Requests that are generated from the descriptions of the API, with something wrong in most of them: no answer is a failure of the
 * server, each refusal has a code of the catalogue that the operation is described with, nothing is logged as an error, and nothing of another organization is in an answer.
 */
let world: World;
let installation: FuzzedInstallation;

beforeAll(async () => {
  world = await openWorld();
  installation = await FuzzedInstallation.open(world);
});
afterAll(() => world.close());

/** So many times each of them in turn; every request follows from its number and the seed of the run. */
async function inTurn<T extends { readonly name: string }>(
  what: string,
  all: readonly T[],
  least: number,
  send: (random: Random, item: T, about: string) => Promise<void>,
): Promise<void> {
  const count = Math.max(all.length, least);
  for (let number = 0; number < count; number++) {
    const item = all[number % all.length] as T;
    await send(new Random(seedOf(`${what} ${number}`)), item, `${what} ${number}, ${item.name}`);
  }
  recordTried(what, count);
  expect(installation.faults.splice(0)).toEqual([]);
  const accepted = [...installation.statuses].filter(([status]) => status < 300).reduce((sum, [, n]) => sum + n, 0);
  // Most of what is asked has to get as far as the records.
  expect(accepted).toBeGreaterThan(count / 20);
}

test('requests generated from /openapi.json', async () => {
  const document = (await world.client().get('/openapi.json')).body as DescribedApi;
  const requests = new RestRequests(document, installation.ids);
  await inTurn(
    'REST requests',
    operationsOf(document),
    timesOf({ sample: 0, prove: 50_000 }),
    (random, item, about) => {
      const request = requests.request(random, item);
      return installation.send(random, about, request, (answer) => undescribed(document, item, request, answer));
    },
  );
});

test('operations generated from the GraphQL schema', async () => {
  const operations = new GraphqlOperations(installation.ids);
  const fields = rootFieldsOf(productSchema());
  await inTurn('GraphQL documents', fields, timesOf({ sample: 0, prove: 20_000 }), (random, item, about) =>
    installation.send(random, about, operations.request(random, item)),
  );
});
