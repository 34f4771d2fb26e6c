import { automated } from '../kit/behaviours/automated.ts';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { domainList } from '../kit/model/composed/domain-list.ts';
import { flag, text, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, system } from '../kit/model/policy.ts';
import { managers } from '../presets/roles.ts';

export const identityProvider = defineEntityModule({
  kind: 'identityProvider',
  table: 'identity_providers',
  description: 'OpenID Connect provider for the single sign-on of an organization.',
  fields: {
    issuer: text('URL of the provider, below which it has its OpenID Connect metadata.', { max: 512, exposed: 'read' }),
    clientId: text('Client id of this server at the provider.', { max: 256, exposed: 'read' }),
    clientSecret: text('Client secret, encrypted.', { max: 8_192, secret: true }),
    revision: text('Number that changes with issuer and client: sessions that began with earlier values have ended.', {
      max: 26,
    }),
    allowedDomains: domainList(
      'Domains of e-mail addresses whose people become members when they first sign in with it, once a DNS record proves the domain; empty for none.',
      { exposed: 'read' },
    ),
    testedAt: timestamp('When a manager signed in with the current settings; null: not yet.', {
      optional: true,
      exposed: 'read',
    }),
    isEnforced: flag(
      'Whether all members must sign in with it to act in the organization and in the organizations that are part of it, except owners of the organization or of one above it.',
      { default: false, exposed: 'read' },
    ),
  },
  unique: [{ fields: ['organizationId'], message: 'The organization has a provider for its single sign-on already.' }],
  tenancy: 'organization',
  behaviours: [
    decidesCallers({ of: 'organizationId', by: ['revision', 'isEnforced'] }),
    guarded({
      needsSession: 'changes',
      // It also ends the enforcement.
      deletionNeedsProof: true,
    }),
    automated({ fields: ['isEnforced'] }),
    refusesChanges([
      {
        refuseIf: `exists (select 1 from organizations o where o.id = row.organization_id and o.is_personal)`,
        field: 'organizationId',
        code: 'permission_denied',
        message: 'A personal organization has no single sign-on; create an organization and set it up there.',
      },
      {
        // Also of a change of which a gate holds the end of the enforcement, and of one that is written after an approval.
        on: ['edit'],
        refuseIf: 'given.is_enforced and given.tested_at is null',
        field: 'isEnforced',
        code: 'rule_violated',
        message:
          'Single sign-on is enforced only with settings that were tested. End the enforcement before you set others, and test them with POST /v1/sso/test before you enforce it.',
      },
    ]),
  ],
  policy: {
    view: [allow(system), allow(managers), deny(anyone)],
    create: [allow(system), allow(managers)],
    edit: [allow(system), allow(managers)],
    remove: [allow(system), allow(managers)],
  },
  mutate: ['delete'],
  events: ['created', 'updated', 'deleted'],
});
