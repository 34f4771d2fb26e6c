import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { email, integer, timestamp } from '../kit/model/fields.ts';
import { allow, deny, anyone, system } from '../kit/model/policy.ts';

/**
 * No token is stored: the mailed one is derived from this row's id and `round` with a key of the server
 * (design, Durable work), so a copy of the table confirms nothing.
 */
export const emailVerification = defineEntityModule({
  kind: 'emailVerification',
  table: 'email_verifications',
  description: 'A request to confirm that an address belongs to the person who gave it.',
  fields: {
    email: email('The address to confirm.', { immutable: true }),
    round: integer('Raised by every new mail; only the newest mail works.', { min: 1, max: 1_000, default: 1 }),
    sentAt: timestamp('When the newest mail was asked for.'),
    expiresAt: timestamp('When the newest mail stops working.'),
    usedAt: timestamp('When the address was confirmed.', { optional: true }),
  },
  unique: [{ fields: ['userId'], message: 'This person has an open verification.' }],
  tenancy: 'user',
  policy: {
    view: [allow(system), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  expose: {},
  filter: ['email'],
  order: [],
  events: ['created', 'updated'],
  customEvents: {
    requested: {
      description: 'Somebody asked for a confirmation mail.',
      payload: payload({ round: Type.Integer({ description: 'Which mail was asked for: `round` of the record.' }) }),
    },
  },
});
