import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type KoaContextWithOIDC } from 'oidc-provider';

/** A certified OpenID Connect provider that signs everybody in as one person, without asking. */
export interface CertifiedProvider {
  readonly url: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Claims about the person. */
  claims: { sub: string; email: string; email_verified: boolean; name: string };
  /** Acts as a browser from the URL of the request until it is sent back. @returns the URL to which it is sent */
  browse(location: string): Promise<URL>;
  close(): Promise<void>;
}

interface CertifiedProviderOptions {
  /** By default a free one. */
  readonly port?: number;
  readonly client?: CertifiedProvider['client'];
}

/** @param callbacks redirect URIs of the client */
export async function startCertifiedProvider(
  callbacks: readonly string[],
  { port = 0, client = { id: 'core-client', secret: 'secret-of-the-core-client' } }: CertifiedProviderOptions = {},
): Promise<CertifiedProvider> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started: CertifiedProvider = {
    url,
    client,
    claims: { sub: 'person-1', email: 'person@example.com', email_verified: true, name: 'A Person' },
    browse: (location) => browse(location, callbacks),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const provider = new Provider(url, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [...callbacks] }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['a-key-of-the-cookies'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: KoaContextWithOIDC, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ ...started.claims }) }),
    loadExistingGrant: async (context: KoaContextWithOIDC) => {
      const { oidc } = context;
      const grant = new provider.Grant({
        ...(oidc.client ? { clientId: oidc.client.clientId } : {}),
        ...(oidc.session?.accountId ? { accountId: oidc.session.accountId } : {}),
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) void answer(request, response);
    else void provider.interactionFinished(request, response, { login: { accountId: started.claims.sub } });
  });
  return started;
}

async function browse(location: string, callbacks: readonly string[]): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = location;
  for (let step = 0; step < 10; step++) {
    if (callbacks.some((callback) => url.startsWith(callback))) return new URL(url);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const next = response.headers.get('location');
    if (next === null) throw new Error(`the provider answers ${response.status}: ${await response.text()}`);
    url = new URL(next, url).href;
  }
  throw new Error('the provider does not send the browser back');
}
