import { accessCookie } from '../../auth/cookie-attributes.ts';
import type { Access } from '../request-context.ts';

type Requirement = Readonly<Partial<Record<'accessToken' | 'apiToken' | 'session' | 'csrfCookie' | 'csrfHeader', []>>>;

/** Names of cookies and of a header. */
interface CredentialNames {
  readonly accessCookie: string;
  readonly csrfCookie: string;
  readonly csrfHeader: string;
}

/** As long as the configuration says nothing else. */
export const defaultNames: CredentialNames = {
  accessCookie,
  csrfCookie: 'csrf_token',
  csrfHeader: 'X-Csrf-Token',
};

/** The credentials of the API. */
export function securitySchemes({ accessCookie, csrfCookie, csrfHeader }: CredentialNames) {
  return {
    accessToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The `access_token` of a sign-in. It is valid in one organization; `POST /v1/switch` gives one for another.',
    },
    apiToken: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An API token (`POST /v1/api-tokens`) or a personal access token (`POST /v1/personal-access-tokens`).',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: accessCookie,
      description: 'The cookie that browsers get at a sign-in.',
    },
    csrfCookie: {
      type: 'apiKey',
      in: 'cookie',
      name: csrfCookie,
      description: 'Any GET sets this cookie. Its value is sent again in the header `csrfHeader`.',
    },
    csrfHeader: {
      type: 'apiKey',
      in: 'header',
      name: csrfHeader,
      description:
        'The value of the cookie `csrfCookie`, with every POST, PUT, PATCH and DELETE of a client that has no header Authorization.',
    },
  } as const;
}

interface Protected {
  readonly method: string;
  readonly access: Access;
  readonly acceptsTokens?: true;
  readonly verifiesSignature?: true;
}

/** The sets of credentials of which a request needs one; none for a route that reads none. */
export function securityOf(route: Protected) {
  const { method, access, acceptsTokens, verifiesSignature } = route;
  if (verifiesSignature || (access === 'anonymous' && method === 'GET')) return [];
  const csrf: Requirement = method === 'GET' ? {} : { csrfCookie: [], csrfHeader: [] };
  const nobody: readonly Requirement[] = access === 'required' ? [] : [csrf];
  // Where nobody is looked up, any bearer token shows that the request is not one of a foreign page.
  if (access === 'anonymous') return [...nobody, { accessToken: [] }];
  const tokens: readonly Requirement[] = [
    { accessToken: [] },
    ...(acceptsTokens ? [{ apiToken: [] } as Requirement] : []),
  ];
  return [...nobody, ...tokens, { session: [], ...csrf }];
}
