import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppError } from '#entities/kit/base/errors.ts';
import { defineRoute } from '#api/http/route.ts';
import { openWorld, type World } from '../kit/world.ts';

const since = new Date('2026-03-01T00:00:00Z');
const goneAt = new Date('2027-03-01T00:00:00Z');

const common = {
  method: 'GET',
  tag: 'Test',
  summary: 'A route that has a successor',
  description: 'Answers as ever.',
  access: 'anonymous',
  answers: { 200: Type.Object({}) },
  errors: ['not_found'],
} as const;

const routes = [
  defineRoute({
    ...common,
    url: '/test/old',
    deprecated: { since, goneAt, page: 'https://docs.example.com/new' },
    handle: () => ({ status: 200, body: {} }),
  }),
  defineRoute({
    ...common,
    url: '/test/old-and-gone',
    deprecated: { since },
    handle: () => {
      throw new AppError('not_found', 'There is no such thing.');
    },
  }),
];

let world: World;

beforeAll(async () => {
  world = await openWorld({ routes });
});
afterAll(() => world.close());

test('answers of a deprecated route say since when, until when and what instead, also refusals', async () => {
  const answer = await world.client().get('/test/old');
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    deprecation: '@1772323200',
    sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
    link: '<https://docs.example.com/new>; rel="deprecation"; type="text/html"',
  });
  const refused = await world.client().get('/test/old-and-gone');
  expect(refused.status).toBe(404);
  expect(refused.headers).toMatchObject({ deprecation: '@1772323200' });
  expect(refused.headers).not.toHaveProperty('sunset');
  expect((await world.client().get('/livez')).headers).not.toHaveProperty('deprecation');
});

test('the reference says which routes are deprecated', async () => {
  const document = (await world.client().get('/openapi.json')).body as {
    paths: Record<string, { get?: { deprecated?: boolean } }>;
  };
  expect(document.paths['/test/old']?.get?.deprecated).toBe(true);
  expect(document.paths['/livez']?.get).not.toHaveProperty('deprecated');
});
