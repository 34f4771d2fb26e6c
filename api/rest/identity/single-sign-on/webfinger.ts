import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { Type } from 'typebox';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { defineRoute } from '../../../http/route.ts';
import { singleSignOnUrl } from '../../../credentials/single-sign-on-required.ts';

/** Link relation of OpenID Connect Discovery, section 2. */
const issuerRelation = 'http://openid.net/specs/connect/1.0/issuer';

/** Characters that no resource has: NUL, and those that end a line. */
const ends = String.raw`\u0000\n\r\u2028\u2029`;

/**
 * RFC 7033. Looks nothing up, so the answer and the work are the same for people and organizations that are known here and for those that
 * are not.
 */
const resourcePattern = String.raw`^(acct:[^@${ends}]*@[^${ends}]*|org:[0-7][0-9A-HJKMNP-TV-Z]{25})$`;

export const webfinger = defineRoute({
  method: 'GET',
  url: '/.well-known/webfinger',
  operationId: 'findSignInProvider',
  tag: 'Single sign-on',
  summary: 'Where to sign in',
  description:
    'For `acct:<address>`, where people sign in; for `org:<id>`, also where the single sign-on of the organization begins. Says nothing about whether there is such a person or organization, or whether it has single sign-on.',
  access: 'anonymous',
  limitClass: 'static',
  query: Type.Object(
    {
      resource: Type.String({
        minLength: 1,
        maxLength: 300,
        [describedKeyword]: { pattern: resourcePattern },
        description: '`acct:<address>` or `org:<id>`.',
      }),
      rel: Type.Optional(Type.String({ maxLength: 300, description: 'Ignored: all links are returned.' })),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object({
      subject: Type.String({ description: 'The resource.' }),
      links: Type.Array(
        Type.Object({
          rel: Type.String({ description: 'Kind of the link.' }),
          href: Type.String({ description: 'URL of the link.' }),
        }),
      ),
    }),
  },
  errors: ['invalid_input'],
  handle: ({ query, services }) => {
    const resource = String(query['resource']);
    const [, scheme, rest = ''] = /^(acct|org):(.+)$/.exec(resource) ?? [];
    if (scheme === undefined || (scheme === 'org' ? !isId(rest) : !rest.includes('@')))
      throw new AppError('invalid_input', 'resource must be acct:<address> or org:<id>.', {
        details: { fields: [{ path: '/resource', message: 'must be acct:<address> or org:<id>' }] },
      });
    const api = publicApiUrl(services.config.current);
    const signOn = { rel: `${api}/rel/single-sign-on`, href: singleSignOnUrl(services, rest) };
    const links = [{ rel: issuerRelation, href: api }, ...(scheme === 'org' ? [signOn] : [])];
    return { status: 200, body: { subject: resource, links } };
  },
});
