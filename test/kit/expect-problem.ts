import { expect } from 'vitest';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { statusOf } from '#entities/kit/base/errors.ts';
import type { TestAnswer } from './test-client.ts';

/** The answer is a whole problem document with this code, and nothing else; of GraphQL, a response with this error alone. */
export function expectProblem(answer: TestAnswer, code: ErrorCode, about = ''): void {
  // A method that no route has gets the same answer everywhere.
  const isGraphql = /^\/graphql(\?|$)/.test(answer.url) && code !== 'method_not_allowed';
  if (isGraphql) return expectRefusal(answer, code, about);
  expect(
    { status: answer.status, type: answer.headers['content-type'], body: answer.body },
    `${about} ${JSON.stringify(answer.body)}`,
  ).toMatchObject({
    status: statusOf(code),
    type: 'application/problem+json; charset=utf-8',
    body: {
      type: `/docs/errors#${code}`,
      title: errorCatalogue[code].title,
      status: statusOf(code),
      code,
      detail: expect.stringMatching(/\S/),
      instance: `urn:request:${String(answer.headers['x-request-id'])}`,
      request_id: answer.headers['x-request-id'],
    },
  });
  if (code === 'limit_exceeded') expectPath(answer.body.errors, about);
}

/** Message of a response with an error, over REST or GraphQL. */
export function messageOf({ body }: TestAnswer): string {
  return body.detail ?? body.errors[0].message;
}

/** Problems of single fields of the input in a response, over REST or GraphQL. */
export function fieldProblems({ url, body }: TestAnswer): unknown {
  return url.startsWith('/graphql') ? body.errors[0].extensions.errors : body.errors;
}

function expectRefusal({ status, headers, body }: TestAnswer, code: ErrorCode, about: string): void {
  const requestId = headers['x-request-id'];
  expect({ status, type: headers['content-type'], body }, `${about} ${JSON.stringify(body)}`).toEqual({
    status: statusOf(code),
    type: expect.stringMatching(/^application\/(graphql-response\+)?json; charset=utf-8$/),
    body: {
      errors: [
        {
          message: expect.stringMatching(/\S/),
          extensions: {
            code,
            request_id: requestId,
            ...(body.errors?.[0]?.extensions?.errors ? { errors: expect.anything() } : {}),
          },
        },
      ],
    },
  });
  if (code === 'limit_exceeded') expectPath(body.errors[0].extensions.errors, about);
}

/** A limit always names what exceeds it. */
export function expectPath(problems: unknown, about = ''): void {
  expect(problems, about).toEqual([{ path: expect.stringMatching(/^\//), message: expect.stringMatching(/\S/) }]);
}
