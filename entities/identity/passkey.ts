import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { flag, integer, singleLine, text, textList, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';

/** A WebAuthn credential. It is made by the routes of `api/rest/passkeys`; its owner renames and removes it, and nobody else does. */
export const passkey = defineEntityModule({
  kind: 'passkey',
  table: 'passkeys',
  description:
    'Passkey (WebAuthn credential) with which a person signs in without a password. Deleting it ends sign-ins with it; sessions continue.',
  fields: {
    name: singleLine('Name by which its owner knows the passkey.', {
      min: 1,
      max: 64,
      exposed: 'read-write',
      lists: ['filter', 'order'],
    }),
    credentialId: text('Id of the credential at the authenticator, in base64url.', {
      max: 1_364,
      pattern: /^[\w-]+$/,
      immutable: true,
      exposed: 'read',
    }),
    publicKey: text('Public key of the credential (COSE_Key), in base64url.', {
      max: 4_096,
      pattern: /^[\w-]+$/,
      immutable: true,
    }),
    signCount: integer('Signatures that the authenticator had counted at the last sign-in; 0 if it has no counter.', {
      min: 0,
      max: 4_294_967_295,
    }),
    transports: textList('Ways in which browsers reach the authenticator, for example `internal` or `usb`.', {
      max: 32,
      maxItems: 10,
      exposed: 'read',
    }),
    aaguid: text('Model of the authenticator (AAGUID); zeros if it is unknown.', {
      max: 36,
      pattern: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
      immutable: true,
      exposed: 'read',
    }),
    isBackupEligible: flag('Whether the authenticator may copy the passkey to other devices.', {
      immutable: true,
      exposed: 'read',
    }),
    isBackedUp: flag('Whether the passkey had been copied at the last sign-in.', { exposed: 'read' }),
    lastUsedAt: timestamp('When somebody last signed in with it; null if nobody has.', {
      optional: true,
      exposed: 'read',
      lists: ['filter', 'order'],
    }),
  },
  unique: [{ fields: ['credentialId'], message: 'This passkey is registered already.' }],
  tenancy: 'user',
  policy: {
    view: [allow(system), allow(self('userId')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(self('userId'))],
    remove: [allow(system), allow(self('userId'))],
  },
  mutate: ['update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    sign_count_decreased: {
      description:
        'A sign-in was refused because the counter of the passkey was lower than before, so the passkey may have been copied.',
      payload: payload({ userId: Type.String({ description: 'Id of the user.' }) }),
    },
  },
});
