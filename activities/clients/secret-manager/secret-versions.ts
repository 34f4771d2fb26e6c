import type { SecretManagerServiceClient } from '@google-cloud/secret-manager';

interface SecretVersion {
  /** Starts at 1. */
  readonly version: number;
  readonly text: string;
}

/** Where the secret manager is, for tests; otherwise the service of the cloud. */
export interface SecretManagerEndpoint {
  readonly apiEndpoint: string;
  readonly port: number;
  readonly protocol: 'http' | 'https';
}

/** Why the secret manager gave no secret, for operators. */
class SecretManagerError extends Error {
  /** False when the name or the rights are wrong. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean, cause: unknown) {
    super(message, { cause });
    this.isTemporary = isTemporary;
  }
}

const timeoutMs = 5_000;

/** Status codes of gRPC that waiting does not change. */
const status = { invalid: 3, notFound: 5, denied: 7, failedPrecondition: 9, unauthenticated: 16 } as const;
const lasting: readonly unknown[] = Object.values(status);

/**
 * Reads the newest versions of a secret of Google Cloud Secret Manager, with the credentials of the environment (application default
 * credentials). The library is loaded only where a secret is configured.
 */
export class SecretVersions {
  readonly #name: string;
  readonly #endpoint: SecretManagerEndpoint | undefined;
  #client: Promise<SecretManagerServiceClient> | undefined;

  /** @param name `projects/…/secrets/…`, or a name in the project of the credentials */
  constructor(name: string, endpoint?: SecretManagerEndpoint) {
    this.#name = name;
    this.#endpoint = endpoint;
  }

  /**
   * The newest version and the one before, if it is still enabled; the newest one last. Needs the right to access versions only.
   * @throws SecretManagerError
   */
  async newest(): Promise<readonly SecretVersion[]> {
    this.#client ??= newClient(this.#endpoint);
    const client = await this.#client;
    try {
      const secret = this.#name.includes('/')
        ? this.#name
        : `projects/${await client.getProjectId()}/secrets/${this.#name}`;
      const newest = await access(client, `${secret}/versions/latest`);
      const before = await access(client, `${secret}/versions/${newest.version - 1}`).catch((error: unknown) => {
        // Never existed, was destroyed, or is disabled.
        const { code } = error as { readonly code?: unknown };
        if (code === status.notFound || code === status.failedPrecondition || code === status.invalid) return undefined;
        throw error;
      });
      return before ? [before, newest] : [newest];
    } catch (error) {
      const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
      const [line = ''] = String(message).split('\n');
      throw new SecretManagerError(line.slice(0, 200), !lasting.includes(code), error);
    }
  }

  async close(): Promise<void> {
    await (await this.#client)?.close();
  }
}

async function newClient(endpoint: SecretManagerEndpoint | undefined): Promise<SecretManagerServiceClient> {
  const { SecretManagerServiceClient: Client } = await import('@google-cloud/secret-manager');
  // REST: the few requests need no connection that is kept open.
  return new Client({ ...endpoint, fallback: true });
}

async function access(client: SecretManagerServiceClient, name: string): Promise<SecretVersion> {
  const [{ name: found, payload }] = await client.accessSecretVersion({ name }, { timeout: timeoutMs, retry: null });
  return {
    version: Number(/\/versions\/(\d+)$/.exec(found ?? '')?.[1]),
    text: Buffer.from(payload?.data ?? '').toString('utf8'),
  };
}
