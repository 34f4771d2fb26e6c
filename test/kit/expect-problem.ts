import { expect } from 'vitest';
import { errorCatalogue, statusOf, type ErrorCode } from '#entities/kit/base/errors.ts';
import type { TestAnswer } from './test-client.ts';

/** The answer is a whole problem document with this code, and nothing else. */
export function expectProblem(answer: TestAnswer, code: ErrorCode, about = ''): void {
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

/** A limit always names what exceeds it. */
export function expectPath(problems: unknown, about = ''): void {
  expect(problems, about).toEqual([{ path: expect.stringMatching(/^\//), message: expect.stringMatching(/\S/) }]);
}
