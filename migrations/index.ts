import type { MigrationObject } from '@mikro-orm/core';
import { Migration0001Foundation } from './migration-0001-foundation.ts';
import { Migration0002Kinds } from './migration-0002-kinds.ts';
import { Migration0003WriteWalls } from './migration-0003-write-walls.ts';
import { Migration0004MoreKinds } from './migration-0004-more-kinds.ts';
import { Migration0005Shares } from './migration-0005-shares.ts';
import { Migration0006Authorization } from './migration-0006-authorization.ts';
import { Migration0007CreatorGrants } from './migration-0007-creator-grants.ts';
import { Migration0008WriteSurface } from './migration-0008-write-surface.ts';
import { Migration0009PeopleMayBeMissing } from './migration-0009-people-may-be-missing.ts';
import { Migration0010ReadableHistory } from './migration-0010-readable-history.ts';
import { Migration0011Search } from './migration-0011-search.ts';
import { Migration0012WordLookup } from './migration-0012-word-lookup.ts';
import { Migration0013ListIndexes } from './migration-0013-list-indexes.ts';
import { Migration0014KeptPlans } from './migration-0014-kept-plans.ts';
import { Migration0015OrganizationModules } from './migration-0015-organization-modules.ts';
import { Migration0016ShareDescriptions } from './migration-0016-share-descriptions.ts';

/** All migrations in the order in which they run; rewritten by `npm run migrate:new`. */
export const migrations: MigrationObject[] = [
  { name: '0001-foundation', class: Migration0001Foundation },
  { name: '0002-kinds', class: Migration0002Kinds },
  { name: '0003-write-walls', class: Migration0003WriteWalls },
  { name: '0004-more-kinds', class: Migration0004MoreKinds },
  { name: '0005-shares', class: Migration0005Shares },
  { name: '0006-authorization', class: Migration0006Authorization },
  { name: '0007-creator-grants', class: Migration0007CreatorGrants },
  { name: '0008-write-surface', class: Migration0008WriteSurface },
  { name: '0009-people-may-be-missing', class: Migration0009PeopleMayBeMissing },
  { name: '0010-readable-history', class: Migration0010ReadableHistory },
  { name: '0011-search', class: Migration0011Search },
  { name: '0012-word-lookup', class: Migration0012WordLookup },
  { name: '0013-list-indexes', class: Migration0013ListIndexes },
  { name: '0014-kept-plans', class: Migration0014KeptPlans },
  { name: '0015-organization-modules', class: Migration0015OrganizationModules },
  { name: '0016-share-descriptions', class: Migration0016ShareDescriptions },
];
