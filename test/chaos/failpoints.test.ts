import { test } from 'vitest';
import { failpoints } from '#entities/kit/failpoint.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcesses } from '../kit/product-processes.ts';
import { openWorld } from '../kit/world.ts';
import { expectExactlyOnce } from './aftermath.ts';
import { Traffic } from './traffic.ts';

test.each(failpoints)(
  'what was committed happens once when processes die at %s',
  { timeout: 180_000 },
  async (name) => {
    const world = await openWorld();
    // Whichever of the two has this place dies there; it is replaced by one that lives.
    const product = new ProductProcesses(world, ['api/main.ts', 'worker/main.ts'], { FAILPOINTS: `${name}=kill` });
    try {
      const traffic = await Traffic.of(world, { urls: () => product.apiUrls });
      await Promise.all([traffic.signUp(), traffic.createOrganization(), traffic.beRefused()]);
      await eventually(() => product.places.some(({ deaths }) => deaths > 0), 60_000);
      await expectExactlyOnce(world, traffic);
      product.refuseCrashes();
    } finally {
      await product.close();
      await world.close();
    }
  },
);
