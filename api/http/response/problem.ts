import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { found, oneOf, schemaMessage, type SchemaProblem, required } from '#entities/kit/base/schema-problem.ts';
import { sizeText } from '#entities/kit/base/mebibyte.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { AppError, isAppError, type FieldProblem } from '#entities/kit/base/errors.ts';
import { filterPattern, unknownName } from './unknown-name.ts';

/** Media type of every REST error (RFC 9457). */
export const problemType = 'application/problem+json; charset=utf-8';

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'URL of the description of the problem type, relative to the API.' }),
    title: Type.String({ description: 'Summary of the problem type; the same for every occurrence.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    detail: Type.String({ description: 'Description of the problem and of the way out.' }),
    instance: Type.String({ description: 'Identifies this occurrence: the request id as a URN.' }),
    code: Type.Unsafe<ErrorCode>({
      title: 'ErrorCode',
      type: 'string',
      enum: Object.keys(errorCatalogue),
      description: 'Stable error code; /docs/errors explains all codes.',
    }),
    request_id: Type.String({
      description: 'Id of the request, which also stands in logs, events and workflows. Quote it in support requests.',
    }),
    sign_in_url: Type.Optional(
      Type.String({ description: 'URL at which the required sign-in begins, for `single_sign_on_required`.' }),
    ),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON pointer to the input field.' }),
          message: Type.String({ description: 'Problem of the field.' }),
          code: Type.Optional(
            Type.String({ description: 'Sort of the problem, for `definition_invalid` (docs/workflows.md).' }),
          ),
          start: Type.Optional(
            Type.Integer({
              description:
                'Where the problem begins in an expression, in UTF-16 code units from 0, for `definition_invalid`.',
            }),
          ),
          end: Type.Optional(Type.Integer({ description: 'Where it ends; exclusive.' })),
        }),
        { description: 'Problems of single input fields.' },
      ),
    ),
  },
  { title: 'Problem', description: 'Problem document: reason why a request was refused (RFC 9457).' },
);

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly sign_in_url?: string;
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
    ...(error.details.signInUrl === undefined ? {} : { sign_in_url: error.details.signInUrl }),
    ...(error.details.fields ? { errors: error.details.fields } : {}),
  };
}

interface ForeignError {
  readonly code?: string;
  readonly statusCode?: number;
  readonly message?: string;
  /** Part of the request that was checked. */
  readonly validationContext?: string;
  readonly validation?: readonly (SchemaProblem & {
    readonly params: Readonly<Record<string, unknown>>;
    /** The schema that was not met. */
    readonly parentSchema?: ParentSchema;
    /** The value with the problem. */
    readonly data?: unknown;
  })[];
}

interface ParentSchema {
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, ParentSchema>>;
  /** The constants of which the value is one. */
  readonly enum?: readonly string[];
  /** Marks a field that only the server sets; its description says so. */
  readonly readOnly?: boolean;
  /** Marks a secret. */
  readonly writeOnly?: boolean;
}

/** Facts about the request that a message can use. */
type SentRequest = Pick<FastifyRequest, 'headers' | 'routeOptions'>;

/** For files that were sent where none are taken, and for those that were sent without a form. */
function fileRemedy(type: string | undefined, receives: readonly string[]): string {
  if (type?.startsWith('multipart/'))
    return ' Files go to POST /v1/uploads first; a record takes the id of the upload.';
  const isForm = receives.length === 1 && receives[0] === 'multipart/form-data';
  return isForm ? ' With curl, it is -F uploadFile=@FILE, where uploadFile is one of objectstorage.keys.' : '';
}

/** Messages for errors of Fastify whose own text says neither what was sent nor what to do. */
const foreignMessages: Readonly<Record<string, (request: SentRequest) => string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions }) =>
    `The request body is larger than ${sizeText(routeOptions.bodyLimit ?? 0)}, the limit of this route. Send it in parts.`,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ({ headers, routeOptions }) => {
    const type = headers['content-type'];
    // A boundary says nothing.
    const sent = type ? `is ${shortened(type.replace(/; *boundary=.*/, ''))}` : 'is missing';
    const { receives = ['application/json'] } = routeOptions.config;
    const accepted = receives.map((each) => `"Content-Type: ${each}"`);
    return `The content type of the body ${sent}; send the header ${accepted.join(' or ')}.${fileRemedy(type, receives)}`;
  },
};

/** Error codes for errors of Fastify itself. */
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
 * Converts any thrown value to an AppError. Unexpected errors become `internal`; their text is only logged.
 * @param request that was refused, for what the message says about it
 */
export function asAppError(thrown: unknown, request?: SentRequest): AppError {
  if (isAppError(thrown)) return thrown;
  const error = (thrown ?? {}) as ForeignError;
  if (error.validation) {
    const isQuery = error.validationContext === 'querystring';
    return validationError(error.validation, isQuery, isQuery ? parametersOf(request) : []);
  }
  // The client closed the connection while it sent the body; other lost connections have no status.
  const isBrokenOff = error.code === 'ECONNRESET' && error.statusCode === 400;
  const code = isBrokenOff ? 'malformed_request' : foreignCodes[error.code ?? ''];
  if (code) {
    const message = request && foreignMessages[error.code ?? '']?.(request);
    return new AppError(code, message ?? shortened(error.message ?? errorCatalogue[code].title, 256), {
      cause: thrown,
    });
  }
  return new AppError(
    'internal',
    'An unexpected error occurred on the server; quote the request id in support requests.',
    {
      cause: thrown,
    },
  );
}

const repeated =
  'was sent several times; send it once, and several values as name[in]=a&name[in]=b where there is such a filter';

/** Maximum number of field problems in a response. */
const maxFields = 20;

type Validation = NonNullable<ForeignError['validation']>;

function parametersOf(request: SentRequest | undefined): readonly string[] {
  const { properties = {} } = (request?.routeOptions.schema?.querystring ?? {}) as ParentSchema;
  return Object.keys(properties);
}

/** @param parameters names of those that the query can have */
function validationError(problems: Validation, isQuery: boolean, parameters: readonly string[]): AppError {
  // A parameter that was sent several times is read as a list, and only that is reported.
  const lists = problems.filter(({ keyword, data }) => isQuery && keyword === 'type' && Array.isArray(data));
  const fields = problems
    .filter(
      (problem) => lists.includes(problem) || lists.every(({ instancePath }) => instancePath !== problem.instancePath),
    )
    // Each member of a union of constants reports a problem of its own; the one of the union is enough.
    .filter(({ keyword }) => keyword !== 'const' && keyword !== 'if')
    .filter((problem) => !isOfUnionWithNull(problem, problems))
    // The expectation in place of null is more useful than the refusal of null.
    .filter(
      ({ keyword, instancePath, data }) => keyword !== 'type' || data !== null || !isOfEnum(instancePath, problems),
    )
    .slice(0, maxFields)
    .map((problem): FieldProblem => {
      const { instancePath, keyword, params, parentSchema = {}, data } = problem;
      if (keyword === 'additionalProperties') {
        const name = String(params['additionalProperty']);
        const message = unknownName(name, acceptedNames(parentSchema), Object.keys(data as object));
        return { path: `${instancePath}/${shortened(name)}`, message };
      }
      if (keyword === 'required') {
        const name = String(params['missingProperty']);
        return { path: `${instancePath}/${name}`, message: required(parentSchema.properties?.[name]?.enum) };
      }
      const { description = '', format, readOnly, writeOnly: isSecret = false } = parentSchema;
      if (lists.includes(problem)) return { path: instancePath, message: repeated };
      if (instancePath === '' && keyword === 'type') return { path: '/', message: wholeBody(data) };
      const choice = keyword.endsWith('Properties') && params['limit'] === 1 ? acceptedNames(parentSchema) : [];
      if (choice.length > 0) return { path: instancePath || '/', message: oneOfFields(choice, keyword) };
      const constants = keyword === 'anyOf' ? constantsAt(instancePath, problems) : [];
      if (constants.length > 0) return { path: instancePath || '/', message: oneOf(constants) + found(data) };
      // The whole input is not repeated.
      const value = instancePath === '' ? undefined : data;
      const message = readOnly
        ? asPredicate(description)
        : schemaMessage(problem, { description, value, format, isSecret });
      const [, filtered = ''] = filterPattern.exec(instancePath.slice(1)) ?? [];
      const isNull = `${filtered}[is_null]`;
      if (data === 'null' && parameters.includes(isNull))
        return {
          path: instancePath,
          message: `cannot be compared with null; ${isNull}=true finds records without a value`,
        };
      const hint = isQuery ? lostPlusHint(problem) || listHint(problem, parameters) : '';
      return { path: instancePath || '/', message: message + hint };
    });
  return inputError(fields);
}

/** For constants of a query with commas between them: the filter that takes several. @param parameters names of those that the query can have */
function listHint({ keyword, instancePath, params, data }: Validation[number], parameters: readonly string[]): string {
  const filter = `${instancePath.slice(1)}[in]`;
  const constants = params['allowedValues'] as readonly unknown[] | undefined;
  const isList =
    keyword === 'enum' &&
    String(data)
      .split(',')
      .every((part) => constants?.includes(part));
  return isList && parameters.includes(filter) ? `. Several values: ${filter}=${String(data)}` : '';
}

/** For a value of a query that is a timestamp but for a space, which a plus sign in a query stands for. */
function lostPlusHint({ params, data: value }: Validation[number]): string {
  if (params['format'] !== 'date-time' || typeof value !== 'string') return '';
  const meant = value.replace(/ (?=\d{2}:\d{2}$)/, '+');
  return meant !== value && parseInstant(meant)
    ? `. A "+" in a URL stands for a space: write it as %2B, or write the timestamp in UTC: ${parseInstant(meant)?.toISOString()}`
    : '';
}

/** A value that is wrong for a union with null: what is wrong with it otherwise says enough. */
function isOfUnionWithNull({ keyword, instancePath, params, data }: Validation[number], problems: Validation): boolean {
  const isNull = (type: unknown) => type === 'null';
  if (keyword !== 'anyOf') return keyword === 'type' && isNull(params['type']) && data !== null;
  const members = problems.filter((other) => other.instancePath === instancePath && other.keyword !== 'anyOf');
  return members.length > 1 && members.some((member) => isNull(member.params['type']));
}

function isOfEnum(path: string, problems: Validation): boolean {
  return problems.some(({ instancePath, keyword }) => instancePath === path && keyword === 'enum');
}

/** Values that a union of constants accepts. */
function constantsAt(path: string, problems: Validation): string[] {
  return problems
    .filter(({ instancePath, keyword }) => instancePath === path && keyword === 'const')
    .map(({ params }) => String(params['allowedValue']));
}

function acceptedNames({ properties = {} }: ParentSchema): string[] {
  return Object.keys(properties).filter((name) => !properties[name]?.readOnly);
}

function wholeBody(body: unknown): string {
  return body === undefined || body === null
    ? 'the request has no body; send a JSON object'
    : `the body must be a JSON object${found(body)}`;
}

/** For an object that takes one of several fields. */
function oneOfFields(names: readonly string[], keyword: string): string {
  return keyword === 'minProperties' ? `send ${names.join(' or ')}` : `send only one of ${names.join(' and ')}`;
}

/** A description such as `Is read-only.` as the end of a sentence. */
function asPredicate(description: string): string {
  return description.slice(0, 1).toLowerCase() + description.slice(1).replace(/\.$/, '');
}
