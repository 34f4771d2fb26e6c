import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import { syntheticRegistry } from '../kit/synthetic-kinds.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let client: TestClient;

beforeAll(async () => {
  let t = performance.now();
  const registry = syntheticRegistry();
  console.log('registry', performance.now() - t, registry.modules.length);
  t = performance.now();
  world = await openWorld({ registry });
  console.log('world', performance.now() - t);
  t = performance.now();
  client = await signedIn(world, await buildPerson(world));
  console.log('signed in', performance.now() - t);
}, 60_000);
afterAll(() => world.close());

test('a record is created', async () => {
  const { data, errors } = await client.graphql('mutation { createThing7(input: { name: "a" }) { thing7 { id } } }');
  expect(errors).toBeUndefined();
  console.log(await client.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: data.createThing7.thing7.id }));
});
