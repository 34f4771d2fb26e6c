import { Type } from 'typebox';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, email, text } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';

const ofPerson = payload({ userId: Type.String({ description: 'Id of the person.' }) });

/**
 * A person is known by issuer and subject alone: addresses and names at a provider can change hands. They are unique within
 * their realm, so an organization whose provider other organizations also use cannot take an identity away from anybody else.
 */
export const externalIdentity = defineEntityModule({
  kind: 'externalIdentity',
  table: 'external_identities',
  description: 'Identity of a person at a sign-in provider, with which they sign in.',
  fields: {
    provider: choice(
      'Provider of the identity: one of this server, or the single sign-on of an organization.',
      ['codehost', 'identity', 'single_sign_on'],
      { immutable: true, exposed: 'read', lists: ['filter'] },
    ),
    realm: text(
      'Issuer at which the identity signs in: the name of the provider of this server, or the id of the organization whose single sign-on it is.',
      { max: 26, immutable: true },
    ),
    issuer: text('URL of the provider.', { max: 512, immutable: true, exposed: 'read' }),
    subject: text('Id of the person at the provider.', { max: 255, immutable: true, exposed: 'read' }),
    email: email('Address that the provider had verified when the identity was linked.', {
      immutable: true,
      exposed: 'read',
    }),
  },
  unique: [{ fields: ['realm', 'issuer', 'subject'], message: 'This identity is linked to an account already.' }],
  tenancy: 'user',
  policy: {
    view: [allow(system), allow(self('userId')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system)],
    remove: [allow(system)],
  },
  events: ['created', 'deleted'],
  customEvents: {
    linked: { description: 'A person linked an identity of a provider to their account.', payload: ofPerson },
    unlinked: { description: 'A person unlinked an identity of a provider from their account.', payload: ofPerson },
  },
});
