import type { FieldUse } from '../kit/model/declared-field.ts';
import { text, textList, timestamp } from '../kit/model/fields.ts';

/** Fields of tokens with which programs call the API. Their secret is stored as a keyed hash only. */
export const secretTokenFields = (scopes: string) => ({
  name: text('Name that says what the token is used for.', {
    max: 160,
    exposed: 'read-write',
    lists: ['filter', 'order'],
  }),
  description: text('Further information about the token.', {
    max: 2_000,
    lines: true,
    optional: true,
    exposed: 'read-write',
  }),
  scopes: scopeList(scopes, { exposed: 'read', changedElsewhere: givenWithToken }),
  expiresAt: timestamp('When the token stops working; null for a token that works until it is deleted.', {
    optional: true,
    immutable: true,
    exposed: 'read',
    changedElsewhere: givenWithToken,
  }),
  lastUsedAt: timestamp('When the token was last used, to the minute; null if it never was.', {
    optional: true,
    exposed: 'read',
  }),
  hint: text('Last characters of the token, by which its owner recognizes it.', { max: 8, exposed: 'read' }),
  keyId: text('Id of the key in auth.token.apitokens.keys with which the secret was hashed.', { max: 100 }),
  secretHash: text('HMAC-SHA256 of the secret with that key, in base64url.', { max: 43, secret: true }),
  rotatedAt: timestamp('When the secret was last replaced; null if it never was.', { optional: true, exposed: 'read' }),
});

export const givenWithToken = 'it is given when the token is created; create another token';

/** At most as many scopes as three for each of a few hundred kinds. */
export const scopeList = (description: string, use: FieldUse<'filter'>) =>
  textList(description, { max: 100, maxItems: 1_000, ...use });
