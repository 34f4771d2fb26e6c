import { expect } from 'vitest';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { expectPath } from './expect-problem.ts';
import type { TestAnswer } from './test-client.ts';

/** The operation was refused: nothing of its data is there, and every error has this code and the request's id. */
export function expectGraphqlError(answer: TestAnswer, code: ErrorCode, about = ''): void {
  const { errors, data } = answer.body;
  expect(data ?? null, about).toBeNull();
  expect(errors, `${about} ${JSON.stringify(answer.body)}`).not.toHaveLength(0);
  for (const error of errors) {
    expect(error, about).toMatchObject({
      message: expect.stringMatching(/\S/),
      extensions: { code, request_id: answer.headers['x-request-id'] },
    });
    if (code === 'limit_exceeded') expectPath(error.extensions.errors, about);
  }
}
