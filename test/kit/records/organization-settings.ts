import type { ChangesOf } from '#entities/kit/model/define.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { asSystem } from '../as-person.ts';
import { eventually } from '../eventually.ts';
import type { World } from '../world.ts';

/** Changes the settings of an organization. A worker that runs may make them at the same time: then they are changed afterwards. */
export function changeSettings(
  world: World,
  organizationId: string,
  values: ChangesOf<typeof organizationSetting>,
): Promise<{ readonly id: string }> {
  return eventually(() =>
    asSystem(world, organizationId, async (data) => {
      const held = await data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
      return held
        ? data.update(organizationSetting, held.id, values)
        : data.create(organizationSetting, { organizationId, ...values });
    }),
  );
}
