import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deprecationHeaders } from '#api/http/deprecation.ts';
import { defineRoute } from '#api/http/route.ts';
import { openWorld, type World } from '../../kit/world.ts';

const route = (url: string, operationId: string, more: object = {}) =>
  defineRoute({
    method: 'GET',
    url,
    operationId,
    tag: 'Service',
    summary: `Test ${operationId}`,
    description: 'For a test.',
    access: 'required',
    answers: { 200: Type.Object({}) },
    errors: [],
    handle: () => ({ status: 200, body: {} }),
    ...more,
  });

const deprecated = { since: '2026-05-01', sunset: '2027-05-01', successor: '/v1/new' } as const;

let world: World;

beforeAll(async () => {
  world = await openWorld({
    routes: [
      route('/v1/old', 'getOld', { deprecated, access: 'anonymous' }),
      route('/v1/old-and-closed', 'getOldAndClosed', { deprecated: { since: '2026-05-01' } }),
      route('/v1/new', 'getNew', { access: 'anonymous' }),
    ],
  });
});
afterAll(() => world.close());

describe('a deprecated route', () => {
  test('says since when, until when, and what takes its place (RFC 9745, RFC 8594)', async () => {
    const { status, headers } = await world.client().get('/v1/old');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      deprecation: '@1777593600',
      sunset: 'Sat, 01 May 2027 00:00:00 GMT',
      link: '</docs#getOld>; rel="deprecation"; type="text/html", </v1/new>; rel="successor-version"',
    });
  });

  test('says it in refusals as well, without a time that is not decided', async () => {
    const { status, headers } = await world.client().get('/v1/old-and-closed');
    expect(status).toBe(401);
    expect(headers['deprecation']).toBe('@1777593600');
    expect(headers['sunset']).toBeUndefined();
    expect((await world.client().get('/v1/new')).headers['deprecation']).toBeUndefined();
  });

  test('is deprecated in the description and in the reference', async () => {
    const { body } = await world.client().get('/openapi.json');
    expect(body.paths['/v1/old'].get).toMatchObject({ deprecated: true, 'x-sunset': '2027-05-01' });
    expect(Object.keys(body.paths['/v1/old'].get.responses['200'].headers)).toEqual(
      expect.arrayContaining(['Deprecation', 'Sunset', 'Link']),
    );
    expect(body.paths['/v1/new'].get.deprecated).toBeUndefined();
    // The reference shows the description.
    expect(body.paths['/v1/old'].get.description).toBe(
      'For a test.\n\n**Deprecated.** It may be missing from 2027-05-01 on.',
    );
    expect(body.paths['/v1/old-and-closed'].get).toMatchObject({ deprecated: true, description: 'For a test.' });
  });
});

test.each([
  ['a time of the day', { since: '2026-05-01T10:00:00Z' }],
  ['a day that does not exist', { since: '2026-02-30' }],
  ['a sunset before the deprecation', { since: '2026-05-01', sunset: '2026-04-30' }],
])('a route is not deprecated with %s', (_name, mistaken) => {
  expect(() => deprecationHeaders(mistaken, 'getOld')).toThrow(TypeError);
});
