import { Type } from 'typebox';
import { decidesCallers } from '../kit/model/behaviours/decides-callers.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { integer, json, text, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';

const ofPerson = payload({ userId: Type.String({ description: 'Id of the person.' }) });

/** Only the server changes it, after a proof that no rule knows. While it is not confirmed, it has no effect. */
export const secondFactor = defineEntityModule({
  kind: 'secondFactor',
  table: 'second_factors',
  description:
    'Authenticator app of a person: after the first proof of identity, a sign-in also asks for a one-time code (TOTP, RFC 6238).',
  fields: {
    sealedSecret: text('Secret shared with the authenticator app, encrypted (JWE); null once it is removed.', {
      max: 512,
      optional: true,
      secret: true,
    }),
    digits: integer('Number of digits of a code; set when the app is set up.', { min: 6, max: 8, default: 6 }),
    confirmedAt: timestamp('When the person confirmed the app with a code; null until then.', {
      optional: true,
      exposed: 'read',
    }),
    lastUsedStep: integer(
      'Number of the time step (30 seconds) of the last accepted code; codes of this step and of earlier ones are refused.',
      { min: 0, max: 2_147_483_647, default: 0 },
    ),
    recoveryCodeHashes: json('HMAC-SHA256 of each recovery code that has not been used, as a list in base64url.', {
      maxBytes: 8_192,
      optional: true,
      secret: true,
    }),
    recoveryCodesLeft: integer('Number of recovery codes that have not been used.', {
      min: 0,
      max: 100,
      default: 0,
      exposed: 'read',
    }),
  },
  unique: [{ fields: ['userId'], message: 'This person already has an authenticator app.' }],
  tenancy: 'user',
  behaviours: [decidesCallers({ of: 'userId', by: ['confirmedAt'] })],
  policy: {
    view: [allow(system), allow(self('userId')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  events: ['created', 'deleted'],
  customEvents: {
    confirmed: { description: 'A person set up an authenticator app and confirmed it with a code.', payload: ofPerson },
    removed: { description: 'A person removed the authenticator app.', payload: ofPerson },
    recovery_code_used: { description: 'A recovery code was used in place of a code of the app.', payload: ofPerson },
    recovery_codes_replaced: {
      description: 'A person got new recovery codes; the previous ones no longer work.',
      payload: ofPerson,
    },
  },
});
