import { expect } from 'vitest';
import { routesOf } from '#api/rest/routes.ts';
import type { Route } from '#api/http/route.ts';
import { registry } from '#entities/index.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { expectProblem } from '../expect-problem.ts';
import type { TestClient } from '../test-client.ts';

/** Calls every route for people who are signed in that is closed to a caller, with unknown ids, and expects the same refusal of each. */
export async function expectClosed(
  by: TestClient,
  isClosed: (route: Route) => boolean,
  code: ErrorCode = 'permission_denied',
): Promise<void> {
  const closed = routesOf(registry).filter((route) => route.access === 'required' && isClosed(route));
  expect(closed.length).toBeGreaterThan(15);
  for (const { method, url } of closed) {
    const request = { method, url: url.replaceAll(/:\w+/g, newId()), ...(method === 'GET' ? {} : { payload: {} }) };
    expectProblem(await by.mutate(request), code, `${method} ${url}`);
  }
}

/** Whether a route is for people themselves: neither for tokens of programs nor for those who act as somebody else. */
export const isForPeople = ({ acceptsTokens }: Route): boolean => !acceptsTokens;
