import { expect, test } from 'vitest';
import { user } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { demoEmail, seedDemo } from '#temporal-dev/product/seed-demo.ts';
import { asOwner } from '../kit/as-owner.ts';
import { callerNow } from '../kit/caller-now.ts';
import { openWorld } from '../kit/world.ts';

test('the demo is written once, and its organizations have every product module', async () => {
  const world = await openWorld({ environment: { CORE_ORMCONFIG_MODULES_ENABLED: 'true' } });
  try {
    const { database } = world.runtime;
    const organizationId = await seedDemo(database);
    const written = await asOwner(world, 'select count(*) from history');
    expect(await seedDemo(database)).toBe(organizationId);
    expect(await asOwner(world, 'select count(*) from history')).toEqual(written);
    const context = { caller: systemCaller('test'), requestId: newId() };
    const ada = await database.transact(context, ({ data }) => data.findOne(user, { email: { eq: demoEmail } }));
    const caller = await callerNow(world.runtime, ada?.id ?? '', organizationId);
    expect([...caller.productModules].toSorted()).toEqual([...productModules]);
  } finally {
    await world.close();
  }
});
