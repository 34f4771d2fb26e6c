import { nameForm } from '#entities/kit/base/name-form.ts';
import { knownEntityTypes, organizationsAfter } from '#entities/organizations/backfill-rows.ts';
import { entityType } from '#entities/work/entity-type.ts';
import { defineBackfill } from './define-backfill.ts';
import { lockRecords } from './lock-records.ts';
import { organization } from '#entities/organizations/organization.ts';

export const entityTypesBackfill = defineBackfill({
  name: 'entity-types',
  version: 1,
  description: 'Gives organizations the entity types of ormconfig.entitytypes that they never had.',
  isWanted: ({ ormconfig }) => ormconfig.entitytypes.length > 0,
  find: organizationsAfter,
  apply: async (unit, ids) => {
    const organizations = await lockRecords(unit, organization, ids);
    const known = await knownEntityTypes(unit, organizations);
    const keyOf = (organizationId: string, name: string) => `${organizationId} ${nameForm(name)}`;
    const held = new Set(known.map(({ organizationId, name }) => keyOf(organizationId, name)));
    let created = 0;
    for (const name of unit.options.configuredNames().entityTypes) {
      const lacking = organizations.filter((organizationId) => !held.has(keyOf(organizationId, name)));
      if (lacking.length === 0) continue;
      for (const organizationId of lacking) held.add(keyOf(organizationId, name));
      const inputs = lacking.map((organizationId) => ({
        module: entityType,
        input: { organizationId, name },
        path: '',
      }));
      created += (await unit.data.createAll(inputs)).length;
    }
    return created;
  },
});
