import { Client, axios, crypto, type Authorization } from 'acme-client';
import { AuthorityProblem, problemOf, refusalIn } from './authority-problem.ts';

/** Where the authority is, and what it wants to know of new accounts. */
export interface AuthoritySettings {
  /** URL of its directory (RFC 8555, section 7.1.1). */
  readonly directoryUrl: string;
  /** For authorities that only take customers whom they know (section 7.3.4). */
  readonly externalAccount?: { readonly keyId: string; readonly hmacKey: string } | undefined;
}

/** An account with the authority. */
interface AuthorityAccount {
  /** Private key in PEM. */
  readonly key: string;
  /** Address of the account; undefined before it is known. */
  readonly url: string;
}

/** A certificate chain and its private key, in PEM. */
interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The way in which this server proves that it has a name: a certificate on its own port (RFC 8737). */
const challengeType = 'tls-alpn-01';

/** Maximum time of one request, and maximum size of one answer. */
const limits = { timeoutMs: 30_000, answerBytes: 1_048_576 } as const;

/** Between two questions whether the authority has come to an end, in milliseconds; they double. */
const polls = { backoffAttempts: 12, backoffMin: 500, backoffMax: 15_000 } as const;

// The library has one client for HTTP for all, which waits for as long as the authority says, and drops what the refusal was.
axios.defaults.timeout = limits.timeoutMs;
axios.defaults.maxContentLength = limits.answerBytes;
(axios.defaults as unknown as { acmeSettings: { retryMaxAttempts: number } }).acmeSettings.retryMaxAttempts = 0;
axios.interceptors.response.use((answer) => {
  const refusal = refusalIn(answer);
  if (refusal) throw refusal;
  return answer;
});

/** A certificate authority (ACME, RFC 8555). */
export class CertificateAuthority {
  readonly #settings: AuthoritySettings;

  constructor(settings: AuthoritySettings) {
    this.#settings = settings;
  }

  get directoryUrl(): string {
    return this.#settings.directoryUrl;
  }

  /**
   * Opens an account, or finds the one of this key, and agrees to the terms of service.
   * @param key of an account that the authority may have forgotten
   * @throws AuthorityProblem
   */
  async openAccount(key?: string): Promise<AuthorityAccount> {
    return asked(async () => {
      const accountKey = key ?? (await crypto.createPrivateEcdsaKey('P-256')).toString();
      const client = this.#client({ key: accountKey });
      await client.createAccount({ termsOfServiceAgreed: true });
      return { key: accountKey, url: client.getAccountUrl() };
    });
  }

  /**
   * Obtains a certificate with a new key.
   * @param show makes the listener show this proof; resolves when all processes do
   * @throws AuthorityProblem
   */
  async order(
    account: AuthorityAccount,
    name: string,
    show: (keyAuthorization: string) => Promise<void>,
  ): Promise<IssuedCertificate> {
    return asked(async () => {
      const client = this.#client(account);
      const order = await client.createOrder({ identifiers: [{ type: 'dns', value: name }] });
      for (const authorization of await client.getAuthorizations(order)) await prove(client, authorization, show);
      const key = await crypto.createPrivateEcdsaKey('P-256');
      const [, request] = await crypto.createCsr({ altNames: [name] }, key);
      const cert = await client.getCertificate(await client.finalizeOrder(order, request));
      return { cert, key: key.toString() };
    });
  }

  /** The certificate with which a listener proves that it has a name (RFC 8737, section 3). */
  async proof(name: string, keyAuthorization: string): Promise<IssuedCertificate> {
    const [key, cert] = await crypto.createAlpnCertificate(
      { identifier: { type: 'dns', value: name } } as Authorization,
      keyAuthorization,
      await crypto.createPrivateEcdsaKey('P-256'),
    );
    return { cert: cert.toString(), key: key.toString() };
  }

  #client({ key, url }: Pick<AuthorityAccount, 'key'> & Partial<AuthorityAccount>): Client {
    const { directoryUrl, externalAccount } = this.#settings;
    return new Client({
      directoryUrl,
      accountKey: key,
      ...(url === undefined ? {} : { accountUrl: url }),
      ...(externalAccount
        ? { externalAccountBinding: { kid: externalAccount.keyId, hmacKey: externalAccount.hmacKey } }
        : {}),
      ...polls,
    });
  }
}

async function prove(
  client: Client,
  authorization: Authorization,
  show: (keyAuthorization: string) => Promise<void>,
): Promise<void> {
  if (authorization.status === 'valid') return;
  const challenge = authorization.challenges.find(({ type }) => (type as string) === challengeType);
  if (!challenge)
    throw new AuthorityProblem(
      `offers no ${challengeType}, the only proof that this server can give, but ${authorization.challenges.map(({ type }) => type).join(', ')}`,
    );
  await show(await client.getChallengeKeyAuthorization(challenge));
  await client.completeChallenge(challenge);
  await client.waitForValidStatus(challenge);
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw problemOf(error);
  }
}
