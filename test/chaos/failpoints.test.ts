import { afterAll, beforeAll, expect, test } from 'vitest';
import { failpoints, type Failpoint } from '#entities/kit/failpoint.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcesses, type Program } from '../kit/product-processes.ts';
import { openWorld, type World } from '../kit/world.ts';
import { expectExactlyOnce } from './aftermath.ts';
import { Traffic } from './traffic.ts';

const api = 'api/main.ts';
const worker = 'worker/main.ts';

/** The processes that die at a failpoint, with the passes they survive. A new failpoint has to be entered here. */
const mortals: Readonly<Record<Failpoint, readonly (readonly [Program, number])[]>> = {
  // A worker commits without anything to do, too.
  'before-commit': [
    [api, 0],
    [worker, 4],
  ],
  'after-commit': [
    [api, 0],
    [worker, 4],
  ],
  'relay-claimed': [[worker, 0]],
  'relay-started': [[worker, 0]],
  'delivery-before-commit': [[worker, 0]],
  'delivery-after-commit': [[worker, 0]],
  'delivery-before-settle': [[worker, 0]],
  'delivery-after-settle': [[worker, 0]],
  'email-before-write': [[worker, 0]],
  'email-after-write': [[worker, 0]],
  'tuples-before-write': [[api, 0]],
  'tuples-after-write': [[api, 0]],
};
const deaths = failpoints.flatMap((name) => mortals[name].map(([program, passes]) => [name, program, passes] as const));

let world: World;
let product: ProductProcesses;
beforeAll(async () => {
  world = await openWorld();
  product = new ProductProcesses(world, [api, worker]);
});
afterAll(async () => {
  await product.close();
  await world.close();
});

test.each(deaths)('killed at %s in %s: what was committed happens once', { timeout: 180_000 }, async (...death) => {
  const [name, program, passes] = death;
  const traffic = await Traffic.of(world, { urls: () => product.apiUrls });
  const mortal = await product.placeOf(program).replace({ FAILPOINTS: `${name}=kill@${passes}` });
  await Promise.all([traffic.signUp(), traffic.createOrganization(), traffic.beRefused()]);
  await eventually(() => !mortal.isRunning, 60_000);
  expect(await mortal.ended).toEqual({ code: null, signal: 'SIGKILL' });
  await expectExactlyOnce(world, traffic);
});
