import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SecretManagerEndpoint } from '#activities/clients/secret-manager/secret-versions.ts';

/** Google Cloud Secret Manager over REST: `accessSecretVersion` alone. */
export interface SecretManager {
  readonly endpoint: SecretManagerEndpoint;
  /** Credentials of a service account, as in the file that `GOOGLE_APPLICATION_CREDENTIALS` names. */
  readonly credentials: string;
  /** Paths of the requests. */
  readonly asked: readonly string[];
  /** The versions of the only secret, `projects/p/secrets/jwt`, from 1; null: disabled. */
  versions: (string | null)[];
  isDown: boolean;
  close(): Promise<void>;
}

export async function startSecretManager(versions: (string | null)[]): Promise<SecretManager> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://fake').pathname;
    asked.push(path);
    const refuse = (httpStatus: number, state: string) =>
      response
        .writeHead(httpStatus, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { code: httpStatus, message: `${state} of the fake`, status: state } }));
    if (manager.isDown) return refuse(503, 'UNAVAILABLE');
    if (!request.headers.authorization?.startsWith('Bearer ')) return refuse(401, 'UNAUTHENTICATED');
    const [, secret, wanted] = /^\/v1\/projects\/p\/secrets\/(\w+)\/versions\/(\w+):access$/.exec(path) ?? [];
    const version = wanted === 'latest' ? manager.versions.length : Number(wanted);
    const text = manager.versions[version - 1];
    if (secret !== 'jwt' || text === undefined) return refuse(404, 'NOT_FOUND');
    if (text === null) return refuse(400, 'FAILED_PRECONDITION');
    return response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        name: `projects/1234/secrets/jwt/versions/${version}`,
        payload: { data: Buffer.from(text).toString('base64') },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const manager: SecretManager = {
    endpoint: { apiEndpoint: '127.0.0.1', port, protocol: 'http' },
    credentials: JSON.stringify({
      type: 'service_account',
      project_id: 'p',
      private_key_id: 'k',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: 'core@p.iam.gserviceaccount.com',
      client_id: '1',
    }),
    asked,
    versions,
    isDown: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return manager;
}
