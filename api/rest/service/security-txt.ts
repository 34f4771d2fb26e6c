import { Type } from 'typebox';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { defineRoute } from '../../http/route.ts';

const path = '/.well-known/security.txt';

/** How long the answer is valid, in milliseconds; less than a year (RFC 9116, section 2.5.5). */
const validMs = 180 * 86_400_000;

const dayMs = 86_400_000;

/** RFC 9116. */
export const securityTxt = defineRoute({
  method: 'GET',
  url: path,
  operationId: 'getSecurityContact',
  tag: 'Service',
  summary: 'Contact for reports of vulnerabilities',
  description:
    'Where to report a vulnerability (RFC 9116): `integrations.email.supportemail`. Not found while that is not configured.',
  access: 'anonymous',
  limitClass: 'static',
  answers: { 200: Type.String() },
  produces: 'text/plain; charset=utf-8',
  errors: ['not_found'],
  handle: ({ services }) => {
    const config = services.config.current;
    const { supportemail } = config.integrations.email;
    if (supportemail === '')
      throw new AppError('not_found', 'No contact is configured; the operator sets integrations.email.supportemail.');
    const expiresAt = new Date(Math.floor((services.clock.now().getTime() + validMs) / dayMs) * dayMs);
    const url = publicApiUrl(config);
    const lines = [
      `Contact: mailto:${supportemail}`,
      `Expires: ${expiresAt.toISOString()}`,
      'Preferred-Languages: en',
      ...(url.startsWith('https://') ? [`Canonical: ${url}${path}`] : []),
    ];
    return { status: 200, document: Buffer.from(`${lines.join('\n')}\n`) };
  },
});
