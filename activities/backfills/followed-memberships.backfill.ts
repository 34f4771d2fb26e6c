import { alignFollowers } from '#entities/kit/write/consequences.ts';
import { membershipsAfter } from '#entities/organizations/backfill-rows.ts';
import { membership } from '#entities/organizations/membership.ts';
import { defineBackfill } from './define-backfill.ts';
import { lockRecords } from './lock-records.ts';

export const followedMembershipsBackfill = defineBackfill({
  name: 'followed-memberships',
  version: 1,
  description: 'Puts members into the groups that the server keeps, where they are missing.',
  isWanted: () => true,
  find: membershipsAfter,
  apply: async (unit, ids) => alignFollowers(unit, membership, await lockRecords(unit, membership, ids)),
});
