import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { ProductProcesses } from '../kit/product-processes.ts';
import { Random } from '../kit/random.ts';
import { openWorld, type World } from '../kit/world.ts';
import { expectExactlyOnce } from './recovery-checks.ts';
import { InFlightRequests } from './traffic.ts';

const kills = 50;
/** Longest time from the beginning of a visit to a kill, in milliseconds: about what it and its deliveries take. */
const maxPauseMs = 400;

let world: World;
let product: ProductProcesses;
beforeAll(async () => {
  world = await openWorld();
  product = new ProductProcesses(world, [
    'api/api-main.ts',
    'worker/worker-main.ts',
    'api/api-main.ts',
    'worker/worker-main.ts',
  ]);
});
afterAll(async () => {
  await product.close();
  await world.close();
});

test(`${kills} kills at random moments`, { timeout: 300_000 }, async () => {
  const seed = Date.now() % 2 ** 31;
  const random = new Random(seed);
  console.log(`random kills: seed ${seed}`);
  const traffic = await InFlightRequests.of(world, { urls: () => product.apiUrls });
  for (let kill = 0; kill < kills; kill++) {
    const order = product.places.toSorted(() => random.next() - 0.5);
    const serving = () => order.filter(({ current }) => current.isServing);
    // Another of its kind goes on, or nothing would ever get done between two kills.
    const victim = await eventually(
      () => serving().find((place) => serving().some((other) => other !== place && other.program === place.program)),
      60_000,
    );
    const visit = traffic.visit();
    visit.catch(() => {});
    await pause(random.next() * maxPauseMs);
    await victim.current.kill();
    await visit;
  }
  console.log(
    `random kills: ${traffic.signedUp.length} sign-ups, ${traffic.created.length} organizations, ${traffic.unanswered} requests without an answer`,
  );
  await expectExactlyOnce(world, traffic);
  product.refuseCrashes();
});
