import { automated } from '../kit/behaviours/automated.ts';
import { roles } from '../kit/model/caller.ts';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { choice, email, flag, text, timestamp } from '../kit/model/fields.ts';
import { domainList } from '../kit/model/composed/domain-list.ts';
import { timeZone } from '../kit/model/composed/time-zone.ts';
import { allow, anyone, deny, role, system } from '../kit/model/policy.ts';
import { internalRecord } from '../presets/internal-record.ts';
import { managers } from '../presets/roles.ts';

/** Notices of a deletion, in their order. */
export const deletionNotices = ['marked', 'three_days', 'one_day'] as const;

const billingPart = (max: number) => ({ max, optional: true, exposed: 'read-write' }) as const;

export const organizationSetting = defineEntityModule({
  kind: 'organizationSetting',
  table: 'organization_settings',
  description: 'Settings of an organization; created together with it.',
  fields: {
    billingEmail: email('E-mail address for invoices; initially the address of the owner.', {
      optional: true,
      exposed: 'read-write',
    }),
    billingPhone: text('Telephone number for questions about invoices, in the form +4312345 (E.164).', {
      max: 16,
      pattern: /^\+[1-9][0-9]{1,14}$/,
      optional: true,
      exposed: 'read-write',
    }),
    billingLine1: text('Billing address: street and number, or post office box.', billingPart(200)),
    billingLine2: text('Billing address: floor, building or department.', billingPart(200)),
    billingCity: text('Billing address: city.', billingPart(100)),
    billingRegion: text('Billing address: state, province or county.', billingPart(100)),
    billingPostalCode: text('Billing address: postal code.', billingPart(20)),
    billingCountry: text('Billing address: country, by its code of two capital letters (ISO 3166-1).', {
      max: 2,
      pattern: /^[A-Z]{2}$/,
      optional: true,
      exposed: 'read-write',
    }),
    taxId: text('Tax number of the organization on invoices, such as its VAT number.', billingPart(50)),
    timezone: timeZone('Time zone of the organization; determines where its days begin.', {
      default: 'UTC',
      exposed: 'read-write',
    }),
    requiresSecondFactor: flag(
      'Whether members need a second factor to act in the organization and in the organizations that are part of it. Members without one can set it up, and then enter.',
      { default: false, exposed: 'read-write', needsProof: 'any' },
    ),
    filesNeedVerdict: flag(
      'Whether files of the organization, also those that are there already, are withheld until an API token has reported them clean (FileVerdict). Pictures of people and the documents of exports and imports are not withheld.',
      { default: false, exposed: 'read-write', needsProof: 'any' },
    ),
    emailDomains: domainList(
      'Domains of e-mail addresses that belong to the organization, such as example.com: stored in lower case, and as ASCII (UTS 46). A domain is valid while a DNS record proves it; POST /v1/email-domains/verify shows the record and looks for it.',
      { exposed: 'read-write', needsProof: 'any' },
    ),
    admitsEmailDomains: flag(
      'Whether people become members, with the role member, when they confirm an address of one of these domains. Former members do not, and nobody does while single sign-on is enforced.',
      { default: false, exposed: 'read-write', needsProof: 'any' },
    ),
    emailTheme: choice('Brand of the e-mails that are sent for the organization.', ['modern', 'classic'], {
      default: 'modern',
      exposed: 'read-write',
    }),
    markedForDeletionAt: timestamp(
      'When the organization was marked for deletion, because nobody pays for it or because an owner has announced it; null when it is not marked.',
      { optional: true, exposed: 'read', changedElsewhere: 'the server marks and spares organizations' },
    ),
    deletionNotBefore: timestamp(
      'Earliest time of the deletion of which people were notified; null when the organization is not marked.',
      { optional: true, exposed: 'read', changedElsewhere: 'the server marks and spares organizations' },
    ),
    deletionNotice: choice(
      'Last notice of the deletion that people were sent; null before the first.',
      deletionNotices,
      {
        optional: true,
      },
    ),
    deletionRequesterId: text('Id of the owner who has announced the deletion; null if nobody has.', {
      max: 26,
      optional: true,
    }),
    sparedUntil: timestamp('Time until which an operator spares the organization from deletion; null for none.', {
      optional: true,
    }),
  },
  unique: [{ fields: ['organizationId'], message: 'This organization already has settings.' }],
  indexes: [['markedForDeletionAt']],
  tenancy: 'organization',
  behaviours: [
    decidesCallers({ of: 'organizationId', by: ['requiresSecondFactor'] }),
    guarded({
      needsSession: 'changes',
    }),
    automated({
      fields: [
        'billingEmail',
        'timezone',
        'requiresSecondFactor',
        'filesNeedVerdict',
        'emailDomains',
        'admitsEmailDomains',
        'emailTheme',
      ],
    }),
  ],
  policy: {
    ...internalRecord(),
    view: [allow(system), allow(role(...roles)), deny(anyone)],
    edit: [allow(system), allow(managers)],
  },
  mutate: ['update'],
  events: ['created', 'updated'],
});
