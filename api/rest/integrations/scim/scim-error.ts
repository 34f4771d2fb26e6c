import type { ErrorAnswer } from '../../../http/request-context.ts';
import { Type } from 'typebox';
import { AppError, type ErrorCode } from '#entities/kit/base/errors.ts';

/** Sorts of errors (RFC 7644, section 3.12). */
type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidVers'
  | 'sensitive';

/** An error with a sort of its own. */
export class ScimError extends AppError {
  readonly scimType: ScimType;

  constructor(scimType: ScimType, message: string, code: ErrorCode = 'invalid_input') {
    super(code, message);
    this.scimType = scimType;
  }
}

const typeOfCode: Readonly<Partial<Record<ErrorCode, ScimType>>> = {
  invalid_input: 'invalidValue',
  malformed_body: 'invalidSyntax',
  malformed_request: 'invalidSyntax',
  already_exists: 'uniqueness',
};

export const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** The document of an error (RFC 7644, section 3.12). */
export function errorDocument(error: AppError): object {
  const scimType = error instanceof ScimError ? error.scimType : typeOfCode[error.code];
  const fields = error.details.fields?.map(({ path, message }) => `${path} ${message}`).join('; ');
  return {
    schemas: [errorSchema],
    status: String(error.status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: fields ? `${error.message} (${fields})` : error.message,
  };
}

export const scimType = 'application/scim+json';

/** Schema of the document of an error, for the description of the API. */
export const ScimErrorSchema = Type.Object(
  {
    schemas: Type.Array(Type.String(), { description: 'The id of the schema of errors.' }),
    status: Type.String({ description: 'Status of the response.' }),
    scimType: Type.Optional(Type.String({ description: 'Sort of the error (RFC 7644, section 3.12).' })),
    detail: Type.String({ description: 'Description of the error, for people.' }),
  },
  { title: 'ScimError', description: 'Error of SCIM.' },
);

/** Path below which all addresses are SCIM. */
export const scimPath = '/v1/integrations/scim/';

export function scimErrorAnswer(error: AppError): ErrorAnswer {
  // Fastify sends bytes unchanged.
  return { type: scimType, body: Buffer.from(JSON.stringify(errorDocument(error))) };
}

/** Errors of addresses that SCIM does not have. */
export function scimErrorForm(path: string): ((error: AppError) => ErrorAnswer) | undefined {
  return path.startsWith(scimPath) ? scimErrorAnswer : undefined;
}
