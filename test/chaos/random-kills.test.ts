import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { seeded, timesOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcesses, type Place, type Program } from '../kit/processes/product-processes.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';
import { expectExactlyOnce } from './recovery-checks.ts';
import { Visitors } from './traffic.ts';

const kills = timesOf({ sample: 8, prove: 2_000 });
/** Longest time that both programs serve before the next kill, in milliseconds: about what a visit and its deliveries take. */
const maxPauseMs = 400;
/** Kills between two checks of all that happened so far. */
const killsPerCheck = 100;
const programs = ['api/api-main.ts', 'worker/worker-main.ts'] as const satisfies readonly Program[];
/** While some start, others serve; more than a machine can start beside each other would only wait for one another. */
const processesEach = timesOf({ sample: 2, prove: 3 });

let world: World;
let product: ProductProcesses;
beforeAll(async () => {
  world = await openWorld();
  product = await ProductProcesses.start(
    world,
    programs.flatMap((program) => Array.from({ length: processesEach }, () => program)),
  );
});
afterAll(async () => {
  await product.close();
  await world.close();
});

/** One that serves or starts while another of its kind serves, or nothing would ever get done between two kills. */
function victimAmong(order: readonly Place[], state: 'serves' | 'starts'): Place | undefined {
  return order.find(
    (place) =>
      place.current.isServing === (state === 'serves') &&
      order.some((other) => other !== place && other.current.isServing),
  );
}

test('what was answered happened once, and nothing else, however often processes are killed', async () => {
  const random = seeded('random kills');
  let done = 0;
  while (done < kills) {
    const traffic = await Visitors.of(world, { urls: () => product.apiUrls });
    const end = new AbortController();
    // Hashing the passwords of more visitors would only make the starts slower.
    const visits = traffic.repeat(end.signal, () => traffic.visit(), 500);
    visits.catch(() => {});
    try {
      for (const goal = Math.min(kills, done + killsPerCheck); done < goal; done++) {
        await pause(random.next() * maxPauseMs);
        const program = programs[done % 2];
        const order = random.shuffled(product.places.filter((place) => place.program === program));
        const starting = done % 4 < 2 ? undefined : victimAmong(order, 'starts');
        const victim = starting ?? (await eventually(() => victimAmong(order, 'serves')));
        // Its successor starts while the others are killed.
        await victim.current.kill();
        recordTried(`kills of ${program} while it ${starting ? 'starts' : 'serves'}`, 1);
      }
    } finally {
      end.abort();
    }
    await visits;
    await expectExactlyOnce(world, traffic);
    product.refuseCrashes();
    recordTried('sign-ups and organizations', traffic.signedUp.length + traffic.created.length);
    recordTried('refused requests', traffic.refused.length);
    recordTried('requests without an answer', traffic.unanswered);
    if (done < kills) console.log(`${done} of ${kills} kills`);
  }
});
