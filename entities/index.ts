import * as automation from './automation/index.ts';
import * as billing from './billing/index.ts';
import * as email from './email/index.ts';
import * as files from './files/index.ts';
import * as groups from './groups/index.ts';
import * as identity from './identity/index.ts';
import * as integrations from './integrations/index.ts';
import * as notifications from './notifications/index.ts';
import * as organizations from './organizations/index.ts';
import * as transfers from './transfers/index.ts';
import * as webhooks from './webhooks/index.ts';
import * as work from './work/index.ts';
import { createRegistry } from './kit/model/registry.ts';

export * from './automation/index.ts';
export * from './billing/index.ts';
export * from './email/index.ts';
export * from './files/index.ts';
export * from './groups/index.ts';
export * from './identity/index.ts';
export * from './integrations/index.ts';
export * from './notifications/index.ts';
export * from './organizations/index.ts';
export * from './transfers/index.ts';
export * from './webhooks/index.ts';
export * from './work/index.ts';

/** Every kind of the product, by area. */
export const registry = createRegistry({
  identity,
  organizations,
  groups,
  work,
  files,
  notifications,
  email,
  webhooks,
  integrations,
  billing,
  transfers,
  automation,
});

/** Lets groups create records of the kinds whose policy says `allow(creators)`. */
export const creatorGrant = registry.byKind('creatorGrant');
