import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgedToken, type Forgery } from '../kit/identity/access-tokens.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { expectGraphqlError } from '../kit/graphql-error.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-32: a token that is ours, but made for something else, somewhere else or another time, is refused.

let world: World;
let person: Person;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
});
afterAll(() => world.close());

async function answerTo(forgery: Forgery) {
  const client = world.client();
  client.bearer = await forgedToken(world, person, forgery);
  return client.graphql('{ self { id } }');
}

const hour = 3_600;
const now = Math.floor(Date.now() / 1_000);

describe('T-32: a misused token is refused', () => {
  test.each<[string, Forgery]>([
    ['a token of no type', { header: { typ: undefined } }],
    ['a plain JWT', { header: { typ: 'JWT' } }],
    ['a refresh token', { header: { typ: 'rt+jwt' } }],
    ['a token of an assessment', { header: { typ: 'assessment+jwt' } }],
    ['another audience', { claims: { aud: 'https://other.test' } }],
    ['several other audiences', { claims: { aud: ['https://other.test', 'https://api.test.evil'] } }],
    ['no audience', { claims: { aud: undefined } }],
    ['another issuer', { claims: { iss: 'https://staging.api.test' } }],
    ['an issuer that only begins alike', { claims: { iss: 'https://api.test.evil' } }],
    ['no issuer', { claims: { iss: undefined } }],
    ['an expired token', { claims: { exp: now - 1 } }],
    ['one that never expires', { claims: { exp: undefined } }],
    ['one that is not valid yet', { claims: { nbf: now + hour } }],
    ['one without a beginning', { claims: { nbf: undefined } }],
    ['one issued at no time', { claims: { iat: undefined } }],
    ['no subject', { claims: { sub: undefined } }],
    ['a subject that is no id', { claims: { sub: 'admin' } }],
    ['no token id', { claims: { jti: undefined } }],
    ['no session', { claims: { sid: undefined } }],
    ['an organization that is no id', { claims: { org: '*' } }],
    ['no organization, not even none', { claims: { org: undefined } }],
    ['claims of another shape', { claims: { sub: ['x'], jti: { a: 1 } } }],
    ['an extension we do not know', { header: { crit: ['b64'], b64: true } }],
  ])('%s', async (_name, forgery) => {
    expectProblem(await answerTo(forgery), 'unauthenticated');
  });

  test('every refusal has the same message', async () => {
    const answers = await Promise.all([
      answerTo({ header: { typ: 'JWT' } }),
      answerTo({ claims: { exp: now - 1 } }),
      answerTo({ claims: { aud: 'x' } }),
      answerTo({ claims: { sub: '01HZZZZZZZZZZZZZZZZZZZZZZZ' } }),
    ]);
    expect(new Set(answers.map(({ body }) => body.detail)).size).toBe(1);
  });

  test('a token for an organization without a membership acts in no organization', async () => {
    const other = await buildPerson(world);
    const client = world.client();
    client.bearer = await forgedToken(world, person, { claims: { org: other.organization.id } });
    const answer = await client.graphql('{ self { id } organizations { edges { node { id } } } }');
    expect(answer.data.organizations.edges).toEqual([{ node: { id: person.organization.id } }]);
    const settings = await client.graphql('{ organizationSettings { edges { node { id } } } }');
    expectGraphqlError(settings, 'no_current_organization');
  });
});

test('T-32: a token works until the second in which it expires', async () => {
  const client = world.client();
  client.bearer = await forgedToken(world, person, {
    claims: { exp: Math.floor(world.clock.now().getTime() / 1_000) + 60 },
  });
  world.clock.advance(58_000);
  expect((await client.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
  world.clock.advance(2_000);
  expectProblem(await client.graphql('{ self { id } }'), 'unauthenticated');
});
