import { Type } from 'typebox';
import { schemaMessage, type SchemaProblem } from '#entities/kit/base/schema-problem.ts';
import { AppError, errorCatalogue, isAppError, type ErrorCode, type FieldProblem } from '#entities/kit/base/errors.ts';

/** Media type of every REST error (RFC 9457). */
export const problemType = 'application/problem+json; charset=utf-8';

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'Where the problem type is described, relative to the API.' }),
    title: Type.String({ description: 'What kind of problem this is; the same for every occurrence.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    detail: Type.String({ description: 'What happened here and what to do.' }),
    instance: Type.String({ description: 'This occurrence: the request id as a URN.' }),
    code: Type.String({ description: 'Stable code to branch on.' }),
    request_id: Type.String({ description: 'Quote it when asking for help; logs, events and workflows carry it.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({ path: Type.String({ description: 'JSON pointer into the input.' }), message: Type.String() }),
      ),
    ),
  },
  { $id: 'Problem', title: 'Problem' },
);

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly errors?: readonly FieldProblem[];
}

export function problemOf(error: AppError, requestId: string): Problem {
  return {
    type: `/docs/errors#${error.code}`,
    title: errorCatalogue[error.code].title,
    status: error.status,
    detail: error.message,
    instance: `urn:request:${requestId}`,
    code: error.code,
    request_id: requestId,
    ...(error.details.fields ? { errors: error.details.fields } : {}),
  };
}

interface ForeignError {
  readonly code?: string;
  readonly statusCode?: number;
  readonly message?: string;
  readonly validation?: readonly (SchemaProblem & {
    readonly params: Readonly<Record<string, unknown>>;
    /** The schema that was not met. */
    readonly parentSchema?: { readonly description?: string };
  })[];
  readonly validationContext?: string;
}

/** Refusals of Fastify's own while it reads a request, by their code. */
const foreignCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_body',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_body',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_MAX_PARAM_LENGTH: 'malformed_request',
};

/**
 * Any thrown value as one of ours. What nobody foresaw becomes `internal`: its text stays in the logs.
 */
export function asAppError(thrown: unknown): AppError {
  if (isAppError(thrown)) return thrown;
  const error = (thrown ?? {}) as ForeignError;
  if (error.validation) return validationError(error.validation, error.validationContext ?? 'body');
  // The client broke off while it sent the body; a handler's lost connections carry no status.
  const isBrokenOff = error.code === 'ECONNRESET' && error.statusCode === 400;
  const code = isBrokenOff ? 'malformed_request' : foreignCodes[error.code ?? ''];
  if (code) return new AppError(code, error.message ?? errorCatalogue[code].title, { cause: thrown });
  return new AppError('internal', 'Something went wrong on our side; quote the request id when you ask for help.', {
    cause: thrown,
  });
}

/** Most problems that one answer lists: its size must not grow with the mistakes. */
const maxFields = 20;

function validationError(problems: NonNullable<ForeignError['validation']>, context: string): AppError {
  const fields = problems
    // The members of a union each report once more; the union's own line is enough.
    .filter(({ keyword }) => keyword !== 'const' && keyword !== 'if')
    .slice(0, maxFields)
    .map((problem) => {
      const { instancePath, keyword, params, parentSchema } = problem;
      if (keyword === 'additionalProperties') {
        return { path: `${instancePath}/${String(params['additionalProperty'])}`, message: 'is not a known field' };
      }
      if (keyword === 'required')
        return { path: `${instancePath}/${String(params['missingProperty'])}`, message: 'is required' };
      return { path: instancePath || '/', message: schemaMessage(problem, parentSchema?.description) };
    });
  const summary = fields.map(({ path, message }) => `${path} ${message}`).join('; ');
  return new AppError(
    'invalid_input',
    `The ${context === 'querystring' ? 'query' : context} is not valid: ${summary}.`,
    { details: { fields } },
  );
}
