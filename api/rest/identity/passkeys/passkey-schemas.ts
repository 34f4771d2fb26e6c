import { Type } from 'typebox';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';

/** Bytes in base64url, without padding. @param maxLength in characters */
function BytesSchema(maxLength: number, description: string) {
  return Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$', examples: ['AQIDBAUGBwg'], description });
}

const credentialFields = {
  id: BytesSchema(1_364, 'Id of the credential, in base64url.'),
  rawId: BytesSchema(1_364, 'The same as id.'),
  type: Type.Enum(['public-key'], { description: 'Type of the credential.' }),
  authenticatorAttachment: Type.Optional(
    Type.Enum(['platform', 'cross-platform'], { description: 'How the authenticator is attached.' }),
  ),
  clientExtensionResults: Type.Optional(
    Type.Unknown({ description: 'Results of extensions, whichever the browser has; they are not used.' }),
  ),
};

const ClientDataSchema = BytesSchema(8_192, 'Data that the browser has signed, in base64url.');
const AuthenticatorDataSchema = BytesSchema(8_192, 'Data of the authenticator, in base64url.');

/** The result of `navigator.credentials.create`, as its method `toJSON` returns it, with a name for the passkey. */
export const RegistrationSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Name by which its owner knows the passkey.',
        [describedKeyword]: { format: 'name' },
      }),
    ),
    ...credentialFields,
    response: Type.Object(
      {
        clientDataJSON: ClientDataSchema,
        attestationObject: BytesSchema(65_536, 'Public key and attestation statement, in base64url.'),
        authenticatorData: Type.Optional(AuthenticatorDataSchema),
        transports: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
            maxItems: 10,
            description: 'Ways in which browsers reach the authenticator.',
          }),
        ),
        publicKey: Type.Optional(BytesSchema(8_192, 'Public key, in base64url; it is not used.')),
        publicKeyAlgorithm: Type.Optional(
          Type.Integer({ minimum: -65_535, maximum: 65_535, description: 'COSE algorithm; it is not used.' }),
        ),
      },
      { additionalProperties: false, description: 'Response of the authenticator.' },
    ),
  },
  { additionalProperties: false },
);

/** The result of `navigator.credentials.get`, as its method `toJSON` returns it. */
export const AssertionSchema = Type.Object(
  {
    ...credentialFields,
    response: Type.Object(
      {
        clientDataJSON: ClientDataSchema,
        authenticatorData: AuthenticatorDataSchema,
        signature: BytesSchema(2_048, 'Signature, in base64url.'),
        userHandle: Type.Optional(BytesSchema(128, 'Id of the user that the authenticator has stored, in base64url.')),
      },
      { additionalProperties: false, description: 'Response of the authenticator.' },
    ),
  },
  { additionalProperties: false },
);

/** Options for the browser. */
export const OptionsSchema = Type.Object(
  {
    publicKey: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Options for the browser, as the JSON methods of PublicKeyCredential read them.',
    }),
  },
  { title: 'PasskeyOptions' },
);
