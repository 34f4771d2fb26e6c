import { createHash, createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The cloud platform as a machine sees it whose credentials have no private key: the metadata server names the service account and gives
 * access tokens, and the IAM Credentials API signs (https://cloud.google.com/iam/docs/reference/credentials/rest, `signBlob`).
 */
export interface FakeCloudPlatform {
  readonly url: string;
  /** Environment in which the client library finds it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Paths of the requests so far. */
  readonly seen: readonly string[];
  /** Status of the next answers of `signBlob`; 0: none is given until the platform closes. */
  answerSignBlob(status: number): void;
  /** Whether the account has signed a URL as it is (V4 signing process). */
  hasSigned(url: URL): boolean;
  close(): Promise<void>;
}

const email = 'core@project.test';

const metadata: Readonly<Record<string, string>> = {
  '/computeMetadata/v1/instance/service-accounts/default/email': email,
  '/computeMetadata/v1/universe/universe-domain': 'googleapis.com',
  '/computeMetadata/v1/project/project-id': 'project',
};

export async function startFakeCloudPlatform(): Promise<FakeCloudPlatform> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const seen: string[] = [];
  let signStatus = 200;
  const respond = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    seen.push(pathname);
    answer.setHeader('metadata-flavor', 'Google');
    const json = (value: object) => answer.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    const text = metadata[pathname];
    if (text !== undefined) {
      answer.setHeader('content-type', 'text/plain').end(text);
    } else if (pathname.endsWith('/service-accounts/default/token')) {
      json({ access_token: 'of the account', expires_in: 3_600, token_type: 'Bearer' });
    } else if (decodeURIComponent(pathname) === `/v1/projects/-/serviceAccounts/${email}:signBlob`) {
      const { payload } = JSON.parse(await bodyOf(request)) as { readonly payload: string };
      const isAllowed = request.headers.authorization === 'Bearer of the account';
      answer.statusCode = isAllowed ? signStatus : 401;
      if (signStatus === 0) return;
      json({ signedBlob: createSign('sha256').update(Buffer.from(payload, 'base64')).sign(privateKey, 'base64') });
    } else {
      answer.writeHead(404).end();
    }
  };
  const server = createServer((request, answer) => void respond(request, answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    environment: { GCE_METADATA_HOST: host, METADATA_SERVER_DETECTION: 'assume-present' },
    seen,
    answerSignBlob: (status) => {
      signStatus = status;
    },
    hasSigned: (url) =>
      isSignedUrl(url, (text, signature) => createVerify('sha256').update(text).verify(publicKey, signature)),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await request.toArray()).toString();
}

/** Whether the signature of a URL is that of its method GET, path, parameters and host. */
export function isSignedUrl(url: URL, verify: (text: string, signature: Buffer) => boolean): boolean {
  const parameters = [...url.searchParams].filter(([name]) => name !== 'X-Goog-Signature');
  const query = parameters
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
  const canonical = ['GET', url.pathname, query, `host:${url.hostname}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const { searchParams } = url;
  const date = searchParams.get('X-Goog-Date') ?? '';
  const scope = (searchParams.get('X-Goog-Credential') ?? '').split('/').slice(1).join('/');
  const digest = createHash('sha256').update(canonical).digest('hex');
  const signature = Buffer.from(searchParams.get('X-Goog-Signature') ?? '', 'hex');
  return verify(['GOOG4-RSA-SHA256', date, scope, digest].join('\n'), signature);
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
